//! Puts what browsers fetch into the binary, compressed: the page that `web/` builds, and the descriptions of the API.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// What `web/` builds.
const PAGE: &str = "../../web/dist";
/// What the tests of this crate write. Named, since people edit there, and editors leave files.
const API: [&str; 2] = ["api/openapi.json", "api/openapi.models.json"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets it")?);
    let mut paths: Vec<PathBuf> = API.map(PathBuf::from).into();
    for entry in fs::read_dir(PAGE).map_err(|error| format!("{PAGE}: {error}"))? {
        paths.push(entry?.path());
    }
    for watched in API.iter().chain([&PAGE]) {
        println!("cargo::rerun-if-changed={watched}");
    }
    // The order of a folder is its file system's.
    paths.sort();
    let mut table = "[\n".to_owned();
    for path in &paths {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("the names of the page are plain")?;
        let content = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let content = if name.ends_with(".json") { compact(&content) } else { content };
        let packed = out.join(format!("{name}.gz"));
        pack(&content, &packed)?;
        let tag: String = Sha256::digest(&content).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        writeln!(table, "    File {{ name: {name:?}, packed: include_bytes!({packed:?}), tag: \"\\\"{tag}\\\"\" }},")?;
    }
    table.push(']');
    fs::write(out.join("files.rs"), table)?;
    Ok(())
}

fn pack(content: &[u8], to: &Path) -> Result<(), Box<dyn Error>> {
    let mut packed = GzEncoder::new(fs::File::create(to)?, Compression::best());
    packed.write_all(content)?;
    packed.finish()?;
    Ok(())
}

/// JSON without what it is laid out with: line ends and the spaces that lead lines.
fn compact(json: &[u8]) -> Vec<u8> {
    json.split(|&byte| byte == b'\n').flat_map(|line| line.trim_ascii_start()).copied().collect()
}
