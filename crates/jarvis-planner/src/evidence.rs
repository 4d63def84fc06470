//! Evidence: what plans from before, and gold plans, say of the tools of a list for one request.
//!
//! A tool is the likelier the more of the plans whose requests are most alike took it, each counted by how alike it is: k nearest
//! neighbours, several labels at once (as Zhang and Zhou, 2007, whose priors the words of the tools stand for here). Each clause is
//! compared by itself, since a request from before may have asked for one of these things among others.

use std::cell::OnceCell;

use jarvis_plan::{Arg, Note, Tool};
use rustc_hash::FxHashMap;

use crate::bags::telling;
use crate::experience::{Experience, Past, Similar};
use crate::learned::{Taken, Taught};
use crate::retrieval::ToolIndex;
use crate::sentences::Sentences;
use crate::weights::Weights;
use crate::words::Token;

/// What is known of a list of tools.
pub(crate) struct Evidence<'a> {
    taught: &'a Taught,
    experience: &'a Experience,
    sentences: Option<&'a Sentences>,
    failure: OnceCell<String>,
    /// Where a tool is in the list; empty without experience.
    places: FxHashMap<&'a str, usize>,
    tools: usize,
    /// What stands against the plans alike. The fewer tools of the list some plan took, the more: the others are not the worse for it.
    doubt: f32,
}

/// What plans alike say.
#[derive(Debug, Default)]
pub(crate) struct Votes {
    /// For each tool, the share of the plans that took it, 0 to 1; empty where no plan is alike.
    pub(crate) tools: Vec<f32>,
    /// For pairs of tools, the share of the plans in which the second used the first.
    pub(crate) links: FxHashMap<(usize, usize), f32>,
}

/// So many plans count for a clause.
const NEAREST: usize = 15;

/// What a plan counts for: nearly all where the request is the same, little where it shares a word.
fn weight(likeness: f32) -> f32 {
    likeness * likeness / (1.05 - likeness)
}

impl<'a> Evidence<'a> {
    pub(crate) fn new(index: &'a ToolIndex, experience: &'a Experience, weights: &Weights) -> Evidence<'a> {
        let known = index.tools.iter().enumerate().filter(|_| !experience.is_empty());
        let places = known.map(|(at, tool)| (tool.name.as_str(), at)).collect();
        let took = |(at, tool): &(usize, &Tool)| index.taught.took(*at) || experience.took(&tool.name);
        let known =
            index.tools.iter().enumerate().filter(took).count() as f32 / f32::max(index.tools.len() as f32, 1.0);
        let failed = index.sentences.as_ref().and_then(|read| read.as_ref().err());
        Evidence {
            taught: &index.taught,
            experience,
            sentences: index.sentences.as_ref().and_then(|read| read.as_ref().ok()),
            failure: failed.map(|why| OnceCell::from(why.clone())).unwrap_or_default(),
            places,
            tools: index.tools.len(),
            doubt: weights.past_doubt / f32::max(known, 0.001),
        }
    }

    /// For each part of a request, how near it is as a sentence to each tool; empty without a model, and where it fails, which is told at
    /// the end ([`Evidence::unread`]).
    pub(crate) fn near<'t>(&self, parts: impl Iterator<Item = &'t str>) -> Vec<Vec<f32>> {
        let Some(sentences) = self.sentences.filter(|_| self.failure.get().is_none()) else { return Vec::new() };
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        sentences.near(&parts).unwrap_or_else(|why| {
            self.failure.get_or_init(|| why);
            Vec::new()
        })
    }

    /// Tells that sentences were not compared, where the model failed.
    pub(crate) fn unread(&self) -> Option<Note> {
        self.failure.get().map(|why| format!("planned by words alone, without the sentence model: {why}").into())
    }

    /// What the plans say whose requests are most like these words.
    pub(crate) fn votes(&self, tokens: &[Token], text: &str) -> Votes {
        let near = self.nearest(tokens, text);
        let whole = self.doubt + near.iter().map(|(weight, _)| weight).sum::<f32>();
        let mut votes = Votes::default();
        if !near.is_empty() {
            votes.tools = vec![0.0; self.tools];
        }
        for (weight, taken) in near {
            for tool in taken.tools {
                if let Some(share) = votes.tools.get_mut(tool) {
                    *share += weight / whole;
                }
            }
            for link in taken.links {
                *votes.links.entry(link).or_default() += weight / whole;
            }
        }
        votes
    }

    /// The plans from before that count for a part of a request, best first.
    pub(crate) fn similar(&self, tokens: &[Token], text: &str) -> Vec<Similar<'a>> {
        let (words, fits) = (telling(tokens), |past: &Past| self.fits(past));
        if self.failure.get().is_none() {
            match self.experience.nearest_to(&words, text, NEAREST, fits) {
                Ok(found) => return found,
                Err(why) => _ = self.failure.set(why),
            }
        }
        self.experience.alike(&words, NEAREST, fits)
    }

    /// The plans that are most alike, each with its weight.
    fn nearest(&self, tokens: &[Token], text: &str) -> Vec<(f32, Taken)> {
        if self.taught.requests.is_empty() && self.experience.is_empty() {
            return Vec::new();
        }
        let words = telling(tokens);
        let taught = self.taught.requests.alike(&words).into_iter().take(NEAREST);
        let taught = taught.filter_map(|(at, likeness)| Some((likeness, self.taught.plans.get(at)?.clone())));
        let before = self.similar(tokens, text).into_iter();
        let before = before.map(|similar| (similar.likeness, self.taken(similar.past)));
        let mut near: Vec<(f32, Taken)> = before.chain(taught).collect();
        near.sort_by(|(one, _), (two, _)| two.total_cmp(one));
        near.truncate(NEAREST);
        near.into_iter().map(|(likeness, taken)| (weight(likeness), taken)).collect()
    }

    fn fits(&self, past: &Past) -> bool {
        !past.tasks.is_empty() && past.tasks.iter().all(|task| self.places.contains_key(task.task.as_str()))
    }

    fn taken(&self, past: &Past) -> Taken {
        let place = |at: usize| past.tasks.get(at).and_then(|task| self.places.get(task.task.as_str())).copied();
        let mut taken = Taken::default();
        for (at, task) in past.tasks.iter().enumerate() {
            let Some(own) = place(at) else { continue };
            if !taken.tools.contains(&own) {
                taken.tools.push(own);
            }
            let used = task.args.values().flat_map(Arg::references).filter_map(|of| of.0);
            for before in used.chain(task.dep.iter().copied()) {
                let link = usize::try_from(before).ok().and_then(place).map(|before| (before, own));
                if let Some(link) = link.filter(|link| link.0 != link.1 && !taken.links.contains(link)) {
                    taken.links.push(link);
                }
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{DraftTask, Tool};

    use super::Evidence;
    use crate::experience::{Experience, Past};
    use crate::retrieval::ToolIndex;
    use crate::weights::Weights;
    use crate::words::tokens;

    #[test]
    fn one_plan_counts_by_how_alike_its_request_is() {
        let names = ["book_flight", "book_hotel", "get_weather", "send_message"];
        let index = ToolIndex::new(&names.map(|name| Tool::typed(name, "", &[], &[])));
        let mut tasks = vec![DraftTask::new(0, "get_weather"), DraftTask::new(1, "book_flight")];
        tasks[1].dep.push(0);
        let past = |id: &str, request: &str, tasks: Vec<DraftTask>| Past {
            id: id.to_owned(),
            request: request.to_owned(),
            tasks,
        };
        let experience = Experience::new(vec![
            past("a", "get me to the sunniest island", tasks),
            past("b", "get me a parrot", vec![DraftTask::new(0, "buy_pet")]),
        ]);
        let weights = Weights::default();
        let evidence = Evidence::new(&index, &experience, &weights);
        let share = |text: &str| evidence.votes(&tokens(text), text).tools.get(2).copied().unwrap_or_default();
        let (same, near, far) =
            (share("get me to the sunniest island"), share("the sunniest island of all"), share("get me a sunny hat"));
        assert!(same > 0.8 && same > near && near > far, "{same} {near} {far}");
        let votes = evidence.votes(&tokens("the sunniest island"), "the sunniest island");
        assert!(votes.links.contains_key(&(2, 0)) && votes.links.len() == 1, "{votes:?}");
        // A plan with a tool that is not at hand has no vote.
        assert!(evidence.votes(&tokens("a parrot"), "a parrot").tools.is_empty());
    }
}
