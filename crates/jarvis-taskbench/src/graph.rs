//! Tool graphs: which tool can follow which. They are built from a tool list, sampled, drawn and described.
//!
//! Nothing here writes files but [`write()`], which never overwrites what the graph was made from.

mod build;
mod draw;
mod rng;
mod sample;
mod stats;

pub use build::{BuildError, BuildOptions, build, to_json, write};
pub use draw::{Drawing, MERMAID_LINKS, draw, draw_sample};
pub use rng::SeededRng;
pub use sample::{Method, SampleError, SampledGraph, SampledLink, Sampler, random_method, random_size};
pub use stats::{Degrees, GraphStats, TypeUse, stats};
