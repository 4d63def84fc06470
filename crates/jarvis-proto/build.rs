//! Makes Rust of the protocols, without `protoc`: parsing by protox, code by tonic, their JSON by pbjson.

use std::error::Error;
use std::path::{Path, PathBuf};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for proto in ["file_based_qa", "math"] {
        // Neither file has a package, so each gets a folder of its own: the generated file is `_.rs` for both.
        let (folder, descriptors) = compile(&out, proto)?;
        tonic_prost_build::configure().out_dir(&folder).bytes(".QueryRequest.file_data").compile_fds(descriptors)?;
    }
    a2a(&out)
}

/// Parses a protocol and keeps its descriptors in a folder of its own.
fn compile(out: &Path, proto: &str) -> Result<(PathBuf, prost_types::FileDescriptorSet), Box<dyn Error>> {
    let descriptors = protox::compile([format!("proto/{proto}.proto")], ["proto"])?;
    let folder = out.join(proto);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("descriptors.bin"), descriptors.encode_to_vec())?;
    Ok((folder, descriptors))
}

/// The Agent2Agent protocol: its messages go over gRPC, and as JSON over HTTP.
fn a2a(out: &Path) -> Result<(), Box<dyn Error>> {
    /// What is sent even where it is empty, since clients look for it.
    const WHOLE: &str = ".lf.a2a.v1.ListTasksResponse";
    let (folder, descriptors) = compile(out, "a2a")?;
    let known = [
        (".google.protobuf.Empty", "crate::any::Empty"),
        (".google.protobuf.Struct", "crate::any::Struct"),
        (".google.protobuf.Value", "crate::any::Value"),
        (".google.protobuf.Timestamp", "crate::time::Timestamp"),
    ];
    let mut bytes = Vec::new();
    descriptors.encode(&mut bytes)?;
    let mut code = tonic_prost_build::configure().out_dir(&folder).compile_well_known_types(true);
    for (name, path) in known {
        code = code.extern_path(name, path);
    }
    code.compile_fds(descriptors)?;
    let json = |folder: &Path, is_whole: bool| -> Result<(), Box<dyn Error>> {
        std::fs::create_dir_all(folder)?;
        let mut json = pbjson_build::Builder::new();
        json.register_descriptors(&bytes)?.out_dir(folder).ignore_unknown_fields();
        for (name, path) in known {
            json.extern_path(name, path);
        }
        match is_whole {
            true => json.emit_fields().build(&[WHOLE])?,
            false => json.exclude([WHOLE]).build(&[".lf.a2a.v1"])?,
        }
        Ok(())
    };
    json(&folder, false)?;
    json(&folder.join("whole"), true)
}
