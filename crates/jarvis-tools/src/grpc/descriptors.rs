//! Descriptors out of files.

use std::path::Path;

use prost_reflect::DescriptorPool;

use super::{GrpcError, MAX_MESSAGE};

/// Reads descriptors: a `.proto` file, whose imports are looked for in its folder, or a set of descriptors with all that it
/// needs (`protoc --include_imports --descriptor_set_out`). It reads files: not for the runtime's own threads.
///
/// # Errors
/// When a file cannot be read, is too large or is neither.
pub fn load(path: &Path) -> Result<DescriptorPool, GrpcError> {
    let read = |source| GrpcError::Read { path: path.to_owned(), source };
    let wrong = |reason: String| {
        let reason = jarvis_net::text::shorten(&reason, 400);
        GrpcError::Descriptors { path: path.to_owned(), reason }
    };
    if std::fs::metadata(path).map_err(read)?.len() > MAX_MESSAGE as u64 {
        return Err(GrpcError::TooLarge { path: path.to_owned() });
    }
    if path.extension().is_none_or(|extension| extension != "proto") {
        let bytes = std::fs::read(path).map_err(read)?;
        return DescriptorPool::decode(bytes.as_slice()).map_err(|error| wrong(error.to_string()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default();
    let mut compiler = protox::Compiler::new([folder]).map_err(|error| wrong(error.to_string()))?;
    // Comments become descriptions in the schema.
    compiler.include_imports(true).include_source_info(true);
    compiler.open_file(name).map_err(|error| wrong(error.to_string()))?;
    DescriptorPool::from_file_descriptor_set(compiler.file_descriptor_set()).map_err(|error| wrong(error.to_string()))
}
