//! Experience: requests that were served well, with their plans, found again by the words of a new request ([`crate::bags`]).
//!
//! Where plans are kept, and which of them are good, is not said here.

use std::sync::Arc;

use jarvis_plan::DraftTask;
use rustc_hash::FxHashSet;

use crate::bags::{Bags, telling};
use crate::words::{self, Token};

/// A request and the plan that served it well.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// What it is called where it is kept, such as the id of a run.
    pub id: String,
    /// What was asked.
    pub request: String,
    /// What was done, in its order; an id is one's place in the list.
    pub tasks: Vec<DraftTask>,
}

/// A plan from before, and how alike its request is to a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar<'a> {
    /// 0 for nothing in common, 1 for the same words.
    pub likeness: f32,
    pub past: &'a Past,
}

/// Plans from before, read once so that they are found fast. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Experience {
    known: Arc<Known>,
}

#[derive(Debug, Default)]
struct Known {
    pasts: Vec<Past>,
    requests: Bags,
    tools: FxHashSet<String>,
}

/// So much of a request is compared.
const MOST: usize = 4096;

impl Experience {
    /// The plans, the oldest first.
    pub fn new(pasts: Vec<Past>) -> Experience {
        let requests = Bags::new(pasts.iter().map(|past| telling(&read(&past.request))));
        let tools = pasts.iter().flat_map(|past| &past.tasks).map(|task| task.task.clone()).collect();
        Experience { known: Arc::new(Known { pasts, requests, tools }) }
    }

    pub fn is_empty(&self) -> bool {
        self.known.pasts.is_empty()
    }

    pub fn len(&self) -> usize {
        self.known.pasts.len()
    }

    /// Whether some plan took the tool.
    pub(crate) fn took(&self, tool: &str) -> bool {
        self.known.tools.contains(tool)
    }

    /// The plans, the oldest first.
    pub fn pasts(&self) -> &[Past] {
        &self.known.pasts
    }

    /// The `most` plans whose requests are most alike, best first, of those that `fits` lets pass; of equals the later one. Plans
    /// that share no word with the request are none of them.
    pub fn similar(&self, request: &str, most: usize, fits: impl Fn(&Past) -> bool) -> Vec<Similar<'_>> {
        self.similar_to(&telling(&read(request)), most, fits)
    }

    /// The same for the words of a part of a request.
    pub(crate) fn similar_to(&self, words: &[String], most: usize, fits: impl Fn(&Past) -> bool) -> Vec<Similar<'_>> {
        let Known { pasts, requests, .. } = &*self.known;
        let past = |(at, likeness): (usize, f32)| Some(Similar { likeness, past: pasts.get(at)? });
        let found = requests.alike(words).into_iter();
        found.filter_map(past).filter(|similar| fits(similar.past)).take(most).collect()
    }
}

fn read(request: &str) -> Vec<Token> {
    words::tokens(words::head(request, MOST))
}

#[cfg(test)]
mod tests {
    use jarvis_plan::DraftTask;

    use super::{Experience, Past};

    fn known(requests: &[&str]) -> Experience {
        let past = |(at, request): (usize, &&str)| Past {
            id: at.to_string(),
            request: (*request).to_owned(),
            tasks: vec![DraftTask::new(0, "t")],
        };
        Experience::new(requests.iter().enumerate().map(past).collect())
    }

    #[test]
    fn the_most_alike_are_found_first() {
        let known = known(&[
            "Book a flight to Rome",
            "What is the weather in Rome?",
            "查一下明天的天气",
            "Book a flight to Oslo",
            "book the FLIGHTS to Rome",
        ]);
        let check = |request: &str, most: usize, expected: &[&str]| {
            let found: Vec<&str> =
                known.similar(request, most, |_| true).iter().map(|similar| similar.past.id.as_str()).collect();
            assert_eq!(found, expected, "{request}");
        };
        check("a flight to Rome, book it", 3, &["4", "0", "3"]);
        check("the weather", 5, &["1"]);
        check("天气", 5, &["2"]);
        check("zebra", 5, &[]);
        check("", 5, &[]);
        let one = known.similar("book a flight to rome", 1, |past| past.id != "4");
        assert!(one.first().is_some_and(|one| one.past.id == "0" && one.likeness > 0.99), "{one:?}");
    }

    #[test]
    fn nothing_is_known_at_first() {
        assert!(Experience::default().is_empty());
        assert_eq!(Experience::default().similar("book", 3, |_| true), []);
    }
}
