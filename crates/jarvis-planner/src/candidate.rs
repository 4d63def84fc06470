//! The ways to serve a clause: one or several calls, with a score.

use crate::lexicon::{self, ConceptId, Nature};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) tool: usize,
    /// The concept it was found by; `None` when its own words were enough.
    pub(crate) concept: Option<ConceptId>,
    /// The words of the clause that asked for it, as places in [`Clause::tokens`].
    pub(crate) words: Vec<usize>,
    /// The first word of another request inside the same clause, where this one's own words end.
    pub(crate) until: Option<usize>,
    /// A concept made before, whose output the clause means by its noun ("read the summary aloud").
    pub(crate) refers: Option<ConceptId>,
    pub(crate) score: f32,
    /// True when the clause names what it works on.
    pub(crate) own: bool,
}

impl Step {
    /// A step that no words of a clause chose.
    pub(crate) fn of_tool(tool: usize) -> Step {
        Step { tool, concept: None, words: Vec::new(), until: None, refers: None, score: 0.0, own: false }
    }

    /// A second drawing, a second change: what is asked for is not the same.
    pub(crate) fn may_repeat(&self) -> bool {
        matches!(self.nature(), Some(Nature::Edit | Nature::Create))
    }

    /// What the tool makes of its input, as far as the lexicon knows.
    pub(crate) fn nature(&self) -> Option<Nature> {
        self.concept.map(|id| lexicon::concept(id).nature)
    }
}

/// One way to serve a clause.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    /// The tools, in the order they run; not empty.
    pub(crate) steps: Vec<Step>,
    pub(crate) score: f32,
}

/// The candidate for which its clause alone says most.
pub(crate) fn likeliest(found: &[Candidate]) -> Option<&Candidate> {
    found.iter().max_by(|a, b| a.score.total_cmp(&b.score))
}
