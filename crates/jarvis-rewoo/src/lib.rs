//! ReWOO: plan every tool call first, gather the evidence in parallel, then answer.
//!
//! Source: Xu et al., "ReWOO: Decoupling Reasoning from Observations for Efficient Augmented Language Models", 2023,
//! <https://arxiv.org/abs/2305.18323>. The planner names the result of each step (`#E1`) and uses the names in later steps,
//! so the model is asked twice however many tools are called: [`blueprint`] reads the plan, the engine runs it, and the
//! solver sees plan and evidence together. The prompts are our own. `README.md` has the paper's terms beside ours.

#![allow(clippy::expect_used, reason = "an invariant is told where it is relied on")]

pub mod blueprint;
mod evidence;
mod offer;
mod pipeline;
mod prompts;
mod solve;

pub use offer::{LLM, Offer};
pub use pipeline::{NAME, Rewoo};
pub use prompts::{Prompt, Prompts};

#[cfg(test)]
mod tests;
