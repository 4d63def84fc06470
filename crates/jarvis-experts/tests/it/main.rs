//! Local models through the crate's public face, on tiny random models whose files are kept beside (`../models`), against what the
//! Python libraries make of the same inputs. The scripts beside them say how they were made.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

#[cfg(feature = "experts")]
mod audio;
#[cfg(feature = "experts")]
mod audio_real;
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
#[cfg(feature = "experts")]
mod vision;
