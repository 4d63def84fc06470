//! Inputs and outputs of the reference, as `tests/models/make_audio.py` stores them.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::{ModelFiles, Resources, Sound};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name)
}

pub(super) fn files(name: &str) -> ModelFiles {
    ModelFiles::new(name, folder(name))
}

pub(super) fn resources() -> Resources {
    Resources::new(1, 1 << 30).unwrap()
}

pub(super) fn expected<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_str(&std::fs::read_to_string(folder(name).join("expected.json")).unwrap()).unwrap()
}

/// The sound that the script makes.
pub(super) fn sound(count: i64, seed: u32) -> Sound {
    let mut state = seed;
    let samples = (0..count).map(|nth| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let block = nth / 4_000;
        let noise = i64::from(state >> 20) - 2_048;
        let triangle = (nth * (400 + 150 * (block * 7 % 11)) % 65_536 - 32_768).abs() - 16_384;
        ((noise + triangle) * (block * 5 % 4)).div_euclid(4) as f32 / 32_768.0
    });
    Sound { rate: 16_000, samples: samples.collect() }
}

/// The largest difference between values.
pub(super) fn difference(found: &[f32], wanted: &[f32]) -> f32 {
    assert_eq!(found.len(), wanted.len());
    found.iter().zip(wanted).map(|(found, wanted)| (found - wanted).abs()).fold(0.0, f32::max)
}
