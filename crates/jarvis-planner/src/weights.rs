//! What each piece of evidence counts.

use crate::set::choose::SetWeights;

/// What each piece of evidence counts. One configuration serves every catalogue; the figures were found by
/// coordinate search on development requests, with everyday requests as a bound (`docs/offline-planner.md`).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
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
    /// The same for lists of functions.
    pub set: SetWeights,
    pub beam: usize,
    pub choices: usize,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            name: 0.7,
            text: 0.8,
            action: 0.121,
            phrase: 1.0,
            rival: 0.12,
            spoken: 0.3,
            inputs: 1.0,
            sense: 0.6,
            context: 0.4,
            description: 0.8,
            unknown: 0.4,
            smooth: 1.5,
            cost: 0.5,
            link: 0.04,
            gap: 0.353,
            repeat: 0.3,
            alike: 0.3,
            bridge: 0.5,
            lookup: 0.15,
            unasked: 0.3,
            bridge_cost: 0.952,
            edge_cost: 0.6,
            tail_cost: 0.81,
            telling: 0.235,
            guess: 0.2,
            near: 0.25,
            near_to: 0.7,
            past: 1.0,
            past_to: 0.4,
            past_doubt: 0.2,
            past_whole: 0.6,
            past_link: 0.6,
            set: SetWeights::default(),
            beam: 32,
            choices: 10,
        }
    }
}
