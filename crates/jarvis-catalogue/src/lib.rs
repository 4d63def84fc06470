//! Task types, tools and models: load, filter, rank, probe.
//!
//! [`task_types`] is the one registry of what can be planned; planners, prompts and workers all derive from it. A
//! [`Catalogue`] says which models serve a task; a [`Prober`] says which of them can be reached now; [`openapi`] reads
//! what an API offers. [`VectorIndex`] and [`Bm25Index`] find the texts of a list that fit a text. Nothing here performs a
//! task.

mod builtin;
mod catalogue;
mod host;
mod http;
mod load;
mod mode;
mod model;
pub mod openapi;
mod output;
mod probe;
mod rank;
mod refresh;
mod retrieve;
mod tasks;

pub use catalogue::{CANDIDATES_PER_TASK, Catalogue, Wanted};
pub use host::Host;
pub use http::{CallError, JsonClient};
pub use load::{LoadError, Loaded, read_models};
pub use mode::{Deployment, InferenceMode, Probed, UnknownWord, local_models, where_probed};
pub use model::{Available, Listed, Model, ModelMeta, cut_description, metas};
pub use output::{DATA, Output, TABLE, TaskOutput};
pub use probe::{HubCheck, NativeCheck, ProbeConfig, Prober, Probing, Unavailable};
pub use rank::{Ranked, rank};
pub use refresh::{RefreshConfig, RefreshError, RefreshProgress, Refreshed, refresh};
pub use retrieve::{Bm25Index, Hit, MAX_DIMENSION, VectorError, VectorIndex};
pub use tasks::{ArgSpec, Family, TaskType, find, task_types, tools, vocabulary};
