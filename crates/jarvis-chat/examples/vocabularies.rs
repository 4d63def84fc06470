//! Writes `data/*.bpe.gz`, the vocabularies of `src/tokens/vocabulary.rs`, from those that tiktoken-rs carries as text:
//! `cargo run -p jarvis-chat --example vocabularies`. A test compares the two.

#![allow(clippy::print_stdout, reason = "a program for developers")]

use std::error::Error;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for (name, vocabulary) in [
        ("p50k_base", tiktoken_rs::p50k_base_singleton()),
        ("cl100k_base", tiktoken_rs::cl100k_base_singleton()),
        ("o200k_base", tiktoken_rs::o200k_base_singleton()),
    ] {
        let special: Vec<Vec<u8>> = vocabulary.special_tokens().iter().map(|token| token.as_bytes().to_vec()).collect();
        let mut bytes = Vec::new();
        let mut last = 0;
        for rank in 0..250_000 {
            // A rank without a token is a token without bytes.
            let token = vocabulary.decode_bytes(&[rank]).unwrap_or_default();
            let token = if special.contains(&token) { Vec::new() } else { token };
            bytes.push(u8::try_from(token.len())?);
            bytes.extend(&token);
            if !token.is_empty() {
                last = bytes.len();
            }
        }
        bytes.truncate(last);
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&bytes)?;
        let packed = packed.finish()?;
        println!("{name}: {} bytes, {} compressed", bytes.len(), packed.len());
        std::fs::write(folder.join(format!("{name}.bpe.gz")), packed)?;
    }
    Ok(())
}
