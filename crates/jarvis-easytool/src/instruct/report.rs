//! What writing instructions took and saved.

use std::sync::Arc;

use jarvis_chat::Tokens;
use serde::Serialize;

use super::document::ToolDocument;
use super::{Instructions, text::cut};

const COUNTED_AS: &str = "gpt-3.5-turbo";

/// The longest text that the tokenizer counts exactly, in bytes.
const PIECE: usize = 512 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fallback {
    pub stage: &'static str,
    pub tool: String,
    /// The API; empty where the tool's own description is meant.
    pub api: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct InstructReport {
    pub documents: usize,
    pub apis_in: usize,
    pub apis_out: usize,
    pub bytes_before: usize,
    pub bytes_after: usize,
    pub tokens_before: usize,
    pub tokens_after: usize,
    /// How many tokens fewer, in percent; below 0 when there are more.
    pub saved_percent: f64,
    pub tokenizer: &'static str,
    pub calls: u64,
    /// Replies that were refused, and asked for again or given up.
    pub refused: u64,
    pub resumed: u64,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// What the documents stand in for, because no reply was usable.
    pub fallbacks: Vec<Fallback>,
    pub executed: u64,
    /// Examples that were to be executed, but nothing can be said of them: the service was not to be had, or they would
    /// change something.
    pub untested: u64,
    /// Examples that were left out, because executing them gave an error.
    pub dropped: Vec<String>,
}

impl InstructReport {
    pub(super) async fn measure(&mut self, documents: &[ToolDocument], instructions: &Instructions, text: String) {
        self.documents = documents.len();
        self.apis_in = documents.iter().map(|document| document.apis.len()).sum();
        self.apis_out = match instructions {
            Instructions::Endpoints(endpoints) => endpoints.len(),
            Instructions::Tools(tools) => tools.iter().map(|tool| tool.tool_guidelines.len()).sum(),
        };
        self.bytes_before = documents.iter().map(|document| document.source.len()).sum();
        self.bytes_after = text.len();
        self.tokenizer = Tokens::of(COUNTED_AS).name();
        let sources: Vec<Arc<str>> = documents.iter().map(|document| Arc::clone(&document.source)).collect();
        let counted = tokio::task::spawn_blocking(move || {
            (sources.iter().map(|source| count_tokens(source)).sum::<usize>(), count_tokens(&text))
        });
        if let Ok((before, after)) = counted.await {
            (self.tokens_before, self.tokens_after) = (before, after);
        }
        if self.tokens_before > 0 {
            let share = self.tokens_after as f64 / self.tokens_before as f64;
            self.saved_percent = (1000.0 * (1.0 - share)).round() / 10.0;
        }
    }

    pub(super) fn add(&mut self, other: InstructReport) {
        self.calls += other.calls;
        self.refused += other.refused;
        self.resumed += other.resumed;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.executed += other.executed;
        self.untested += other.untested;
        self.dropped.extend(other.dropped);
        self.fallbacks.extend(other.fallbacks);
    }

    pub(super) fn fell_back(&mut self, stage: &'static str, tool: &str, api: &str, reason: &str) {
        let reason = cut(reason, 300);
        self.fallbacks.push(Fallback { stage, tool: tool.to_owned(), api: api.to_owned(), reason });
    }
}

/// The tokens of a text of any length by `cl100k_base`. About 0.2 ms for a thousand tokens: not for the runtime's threads.
pub fn count_tokens(text: &str) -> usize {
    let tokens = Tokens::of(COUNTED_AS);
    let mut rest = text;
    let mut count = 0;
    while rest.len() > PIECE {
        let end = rest.floor_char_boundary(PIECE);
        // A token seldom crosses a line's end.
        let end = rest.split_at(end).0.rfind('\n').map_or(end, |at| at + 1);
        let (head, tail) = rest.split_at(end);
        count += tokens.count(head);
        rest = tail;
    }
    count + tokens.count(rest)
}
