//! What each piece of evidence counts.

use crate::fitted::Fitted;
use crate::set::choose::SetWeights;

/// What each piece of evidence counts. One set of numbers serves every list of tools; `jarvis planner fit` finds them.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub name: f32,
    /// The share of the clause that the tool's fields explain.
    pub text: f32,
    /// Agreement or disagreement on what is done.
    pub action: f32,
    /// A phrase of the lexicon that the tool serves.
    pub phrase: f32,
    /// What another tool whose own words fit takes from such a phrase.
    pub rival: f32,
    /// What words alone must say for a tool, whatever its inputs.
    pub spoken: f32,
    /// Inputs at hand, or not.
    pub inputs: f32,
    /// A word of the same sense beside the word itself.
    pub sense: f32,
    /// A word of an earlier clause beside one of the clause's own.
    pub context: f32,
    /// A word of a description or parameter beside one of the name.
    pub description: f32,
    /// A word that no tool knows, in the unit of word weights: it says that something else is meant.
    pub unknown: f32,
    /// What keeps a clause of one rare word from counting as explained in full.
    pub smooth: f32,
    /// What a step must be worth.
    pub cost: f32,
    /// A link of the tool graph between two steps in a row, per nat.
    pub link: f32,
    /// A missing link, per nat.
    pub gap: f32,
    /// Doing again what has been done.
    pub repeat: f32,
    /// Doing with another tool what has been done.
    pub alike: f32,
    /// The whole request's evidence for a tool that no clause names.
    pub bridge: f32,
    /// That such a tool looks up what its neighbour works on.
    pub lookup: f32,
    /// That such a tool may change something.
    pub unasked: f32,
    /// What such a tool costs between two that are named.
    pub bridge_cost: f32,
    /// What it costs before the first.
    pub edge_cost: f32,
    /// What it costs after the last.
    pub tail_cost: f32,
    /// A clause that tells how things are, beside one that orders.
    pub telling: f32,
    /// How far below its price a plan may be that is the only one.
    pub guess: f32,
    /// How near the meaning of a clause is to that of a tool, beside the nearest tool.
    pub near: f32,
    /// So much of the nearest tool's is taken from each.
    pub near_to: f32,
    /// How near a clause is to the tool as sentences, beside the nearest tool, where there is a sentence model.
    pub sentence: f32,
    /// So much of the nearest tool's is taken from each.
    pub sentence_to: f32,
    /// The share of the plans alike that took the tool, for a clause.
    pub past: f32,
    /// So much of the likeliest tool's is taken from each.
    pub past_to: f32,
    /// The same share for the whole request, for a tool that no clause names.
    pub past_whole: f32,
    /// The share of the plans alike in which a tool used the one before it.
    pub past_link: f32,
    /// What stands against the plans alike where each tool was in some plan, in the unit of their weight.
    pub past_doubt: f32,
    /// What the meaning of requests counts for beside their words where plans are looked for, with a sentence model, 0 to 1.
    pub past_sentence: f32,
    /// The same for lists of functions.
    pub set: SetWeights,
    pub beam: usize,
    pub choices: usize,
}

impl Default for Weights {
    /// Those that are compiled in.
    fn default() -> Weights {
        Fitted::built_in().weights.clone()
    }
}
