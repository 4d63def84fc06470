//! Local models through the crate's public face, on tiny random models whose files are kept beside (`../models`), against what the
//! Python libraries make of the same inputs. The scripts beside them say how they were made.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

use std::path::{Path, PathBuf};

#[cfg(feature = "experts")]
mod audio;
#[cfg(feature = "experts")]
mod audio_installed;
#[cfg(feature = "llm")]
mod llm;
#[cfg(feature = "experts")]
mod ocr;
#[cfg(feature = "experts")]
mod text;
#[cfg(feature = "experts")]
mod text_faults;
#[cfg(feature = "experts")]
mod text_long;
#[cfg(feature = "experts")]
mod text_real;
#[cfg(all(feature = "experts", feature = "llm"))]
mod text_states;
#[cfg(feature = "experts")]
mod vision;

/// A folder of real weights below `JARVIS_TEST_MODELS` (`cargo xtask test` installs most; else see `../models/make_real.py`); without
/// it a test on them prints a note and passes. Such tests have `installed` in their names.
fn installed(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("JARVIS_TEST_MODELS").map(|root| Path::new(&root).join(name));
    let found = folder.filter(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: no folder {name} in JARVIS_TEST_MODELS");
    }
    found
}

/// Whether products of 8-bit numbers are summed exactly here. Processors without instructions for it sum two of them in 16 bits, which
/// overflow: what quantised weights give there is another answer, in onnxruntime too.
#[cfg(feature = "experts")]
pub(crate) fn sums_8_bit_products() -> bool {
    #[cfg(target_arch = "x86_64")]
    let exact = std::arch::is_x86_feature_detected!("avx512vnni");
    #[cfg(not(target_arch = "x86_64"))]
    let exact = true;
    if !exact {
        println!("skipped: this processor does not sum products of 8-bit numbers exactly");
    }
    exact
}
