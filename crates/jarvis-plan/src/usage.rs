//! Usage: how many model calls a run made, by stage, and the tokens they took.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Model calls by stage and tokens in all. Retries of one call by the client count once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Calls made, by stage, in the order first made.
    pub calls: IndexMap<String, u32>,
    /// Tokens sent, as the endpoints reported them.
    pub prompt_tokens: u64,
    /// Tokens received, as the endpoints reported them.
    pub completion_tokens: u64,
}

impl Usage {
    /// Adds one call.
    pub fn add_call(&mut self, stage: &str, prompt_tokens: u64, completion_tokens: u64) {
        match self.calls.get_mut(stage) {
            Some(calls) => *calls += 1,
            None => {
                self.calls.insert(stage.to_owned(), 1);
            }
        }
        self.prompt_tokens += prompt_tokens;
        self.completion_tokens += completion_tokens;
    }

    /// Calls in all.
    pub fn total_calls(&self) -> u32 {
        self.calls.values().sum()
    }
}
