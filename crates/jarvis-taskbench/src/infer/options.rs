//! What can be set for a run of inference.

use std::collections::HashSet;
use std::time::Duration;

use crate::data::DependencyType;
use crate::words::words;

words! {
    /// What a link of a plan means where links are listed.
    pub enum Links as "meaning of links" {
        /// The order of the calls: a step that uses no result follows the step before it, as in TaskBench's gold plans.
        Order = "order",
        /// The second step needs what the first gives; independent steps have no link.
        Data = "data",
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// 0 to 2.
    pub temperature: f32,
    /// 0 to 1.
    pub top_p: f32,
    /// −2 to 2.
    pub frequency_penalty: f32,
    /// −2 to 2.
    pub presence_penalty: f32,
    pub max_tokens: u32,
}

impl Default for Sampling {
    /// The original's: 0.2, 0.1, 0, 1.05, 2000.
    fn default() -> Sampling {
        Sampling { temperature: 0.2, top_p: 0.1, frequency_penalty: 0.0, presence_penalty: 1.05, max_tokens: 2000 }
    }
}

#[derive(Debug, Clone)]
pub struct InferOptions {
    /// Who plans, for the log: a model and where it is, never a key.
    pub planner: String,
    pub dependency: DependencyType,
    pub links: Links,
    pub demos: usize,
    /// Their ids, in order of priority; empty for those known for the domain.
    pub demo_ids: Vec<String>,
    /// Whether the requests of the examples are asked as well.
    pub include_demos: bool,
    /// Whether a reply that is no usable plan goes through a second call.
    pub reformat: bool,
    /// Whether the reply's JSON Schema is sent, with the tools' names as an enum.
    pub structured: bool,
    pub sampling: Sampling,
    /// The most requests in flight, at least 1.
    pub workers: usize,
    /// Only the first so many requests, after `ids`.
    pub limit: Option<usize>,
    /// Only the requests with these ids, as one would type them.
    pub ids: Option<HashSet<String>>,
    /// Whether the first request goes alone, its prompts and replies whole in the log.
    pub log_first_detail: bool,
    pub plan_timeout: Duration,
    pub reformat_timeout: Duration,
}

impl Default for InferOptions {
    fn default() -> InferOptions {
        InferOptions {
            planner: String::new(),
            dependency: DependencyType::Resource,
            links: Links::Order,
            demos: 0,
            demo_ids: Vec::new(),
            include_demos: false,
            reformat: false,
            structured: false,
            sampling: Sampling::default(),
            workers: 1,
            limit: None,
            ids: None,
            log_first_detail: false,
            plan_timeout: Duration::from_secs(300),
            reformat_timeout: Duration::from_secs(120),
        }
    }
}

/// The folder of predictions that the original's `--tag` makes of the options: a suffix for each feature in use.
/// `reformat_by` is `self` or a model's name.
pub fn prediction_dir(tag: bool, demos: usize, reformat: bool, reformat_by: &str) -> String {
    let mut dir = "predictions".to_owned();
    if tag && demos > 0 {
        dir.push_str(&format!("_use_demos_{demos}"));
    }
    if tag && reformat {
        dir.push_str(&format!("_reformat_by_{}", crate::data::file_stem(reformat_by)));
    }
    dir
}
