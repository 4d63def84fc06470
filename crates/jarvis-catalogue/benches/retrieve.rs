//! How long it takes to find the five best of a catalogue of ToolBench's size: 16,464 vectors of 1,536 components, and as
//! many descriptions.

use divan::Bencher;
use jarvis_catalogue::{Bm25Index, VectorIndex};

const ROWS: usize = 16_464;
const DIMENSION: usize = 1_536;

fn main() {
    divan::main();
}

/// The same numbers in −0.5..0.5 each time.
fn numbers(seed: u64) -> impl Iterator<Item = f32> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        #[allow(clippy::cast_precision_loss, reason = "24 bits fit")]
        let number = (state >> 40) as f32 / (1 << 24) as f32;
        number - 0.5
    })
}

/// Vectors around `centre`, so that they are as much alike as the number says.
fn vectors(alike: f32) -> (Vec<Vec<f32>>, Vec<f32>) {
    let centre: Vec<f32> = numbers(7).take(DIMENSION).collect();
    let mut all = numbers(88_172_645_463_325_252);
    let mut next = || -> Vec<f32> { centre.iter().zip(all.by_ref()).map(|(c, own)| c * alike + own).collect() };
    ((0..ROWS).map(|_| next()).collect(), next())
}

/// Vectors of random texts, and vectors with a cosine of 0.8 to each other, as those of real texts often have.
#[divan::bench(args = [0.0, 2.0])]
fn vectors_top_5(bencher: Bencher<'_, '_>, alike: f32) {
    let (rows, query) = vectors(alike);
    let index = VectorIndex::build(&rows).expect("finite vectors");
    drop(rows);
    bencher.bench(|| index.top_k(&query, 5));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn vectors_build(bencher: Bencher<'_, '_>) {
    let (rows, _) = vectors(0.0);
    bencher.bench(|| VectorIndex::build(&rows).map(|index| index.len()));
}

/// Descriptions of forty words, some frequent and some rare.
fn texts() -> Vec<String> {
    let mut state = numbers(99);
    let mut word = move || {
        let rare = state.next().unwrap_or_default() + 0.5;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..3000")]
        let number = (rare * rare * rare * 3000.0) as u32;
        format!("word{number}")
    };
    (0..ROWS).map(|_| (0..40).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
}

#[divan::bench]
fn words_top_5(bencher: Bencher<'_, '_>) {
    let index = Bm25Index::build(&texts());
    bencher.bench(|| index.top_k("word0 of word2 and word30 with word700 by word2999", 5));
}
