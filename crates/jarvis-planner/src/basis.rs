//! What the offline planner plans by: what it is fitted to, and a sentence model where there is one.

use std::sync::Arc;

use jarvis_plan::Tool;

use crate::fitted::Fitted;
use crate::retrieval::ToolIndex;
use crate::sentences::Encoder;
use crate::weights::Weights;

/// What the offline planner plans by. Clones share it.
#[derive(Debug, Clone)]
pub struct Basis {
    /// Weights, and what gold plans taught.
    pub fitted: Arc<Fitted>,
    /// Reads requests and tools as sentences; they are compared word by word unless set.
    pub encoder: Option<Arc<dyn Encoder>>,
}

impl Default for Basis {
    /// What is compiled in, without a sentence model.
    fn default() -> Basis {
        Arc::clone(Fitted::built_in()).into()
    }
}

impl From<Arc<Fitted>> for Basis {
    fn from(fitted: Arc<Fitted>) -> Basis {
        Basis { fitted, encoder: None }
    }
}

impl Basis {
    /// Reads a list of tools. Blocks for as long as the sentence model needs.
    pub fn index(&self, tools: &[Tool]) -> ToolIndex {
        let index = ToolIndex::with(tools, &self.fitted.learned);
        match &self.encoder {
            Some(encoder) => index.encoded(Arc::clone(encoder)),
            None => index,
        }
    }

    /// What each piece of evidence counts over this list.
    pub fn weights(&self, index: &ToolIndex) -> &Weights {
        if index.reads_sentences() { &self.fitted.with_sentences } else { &self.fitted.weights }
    }
}
