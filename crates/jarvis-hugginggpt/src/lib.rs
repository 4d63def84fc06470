//! The four stages: plan, choose, execute, answer.

pub mod prompts;
