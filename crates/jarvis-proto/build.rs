//! Makes Rust of the protocols, without `protoc`: parsing by protox, code by tonic.

use std::path::PathBuf;

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let protos = ["file_based_qa", "math"];
    for proto in protos {
        let file = format!("proto/{proto}.proto");
        let descriptors = protox::compile([&file], ["proto"])?;
        // Neither file has a package, so each gets a folder of its own: the generated file is `_.rs` for both.
        let folder = out.join(proto);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("descriptors.bin"), descriptors.encode_to_vec())?;
        tonic_prost_build::configure().out_dir(&folder).bytes(".QueryRequest.file_data").compile_fds(descriptors)?;
    }
    Ok(())
}
