//! What it costs to store a picture of 200 kB: forced to the disk, beside one that is not.
//!
//! cargo bench -p jarvis-store --bench media

use std::cell::Cell;

use jarvis_plan::Kind;
use jarvis_store::Media;

fn main() {
    divan::main();
}

const SIZE: usize = 200_000;

/// A medium that was not there before.
fn picture(number: u64) -> Vec<u8> {
    let mut bytes = vec![7; SIZE];
    bytes.splice(..8, number.to_le_bytes());
    bytes
}

fn with(bencher: divan::Bencher<'_, '_>, store: impl Fn(&Media, &[u8], u64)) {
    let folder = tempfile::tempdir().expect("a folder");
    let media = Media::open(folder.path()).expect("a public root");
    let number = Cell::new(0);
    let next = || {
        number.set(number.get() + 1);
        (picture(number.get()), number.get())
    };
    bencher.with_inputs(next).bench_local_values(|(bytes, number)| store(&media, &bytes, number));
}

#[divan::bench]
fn new(bencher: divan::Bencher<'_, '_>) {
    with(bencher, |media, bytes, _| drop(media.create(Kind::Image, "png", bytes).expect("stored")));
}

#[divan::bench]
fn known(bencher: divan::Bencher<'_, '_>) {
    with(bencher, |media, _, _| drop(media.create(Kind::Image, "png", &[7; SIZE]).expect("stored")));
}

/// What a power cut may lose.
#[divan::bench]
fn not_forced_to_the_disk(bencher: divan::Bencher<'_, '_>) {
    with(bencher, |media, bytes, number| {
        std::fs::write(media.root().join(format!("images/{number}.png")), bytes).expect("written");
    });
}
