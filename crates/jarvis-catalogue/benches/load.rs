//! How long it takes to read a catalogue file of the original's size, and to make the built-in catalogue.
//!
//! Takes the file named by `JARVIS_BENCH_MODELS`, or makes one with 673 models and 4 kB of card each.

use std::path::PathBuf;

use divan::Bencher;
use jarvis_catalogue::Catalogue;

fn main() {
    divan::main();
}

/// The file to read, and the folder that holds it when it was made here.
fn file() -> (PathBuf, Option<tempfile::TempDir>) {
    if let Some(path) = std::env::var_os("JARVIS_BENCH_MODELS") {
        return (path.into(), None);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("models.jsonl");
    let card = "one sentence of a model card that says little; ".repeat(85);
    let lines: String = (0..673)
        .map(|at| {
            format!(
                "{{\"downloads\":{at},\"id\":\"owner/model{at}\",\"likes\":{at},\"pipeline_tag\":\"translation\",\
                 \"task\":\"translation\",\"meta\":{{\"tags\":[\"a\",\"b\"]}},\"description\":\"{card}\"}}\n"
            )
        })
        .collect();
    std::fs::write(&path, lines).expect("a file");
    (path, Some(folder))
}

#[divan::bench]
fn with_file(bencher: Bencher<'_, '_>) {
    let (path, _folder) = file();
    bencher.bench(|| Catalogue::with_file(&path).map(|catalogue| catalogue.len()));
}

#[divan::bench]
fn builtin() -> usize {
    Catalogue::builtin().len()
}

#[divan::bench]
fn vocabulary() -> usize {
    jarvis_catalogue::tools(|_| true).tools().len()
}
