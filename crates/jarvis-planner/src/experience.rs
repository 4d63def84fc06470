//! Experience: requests that were served well, with their plans, found again by the words of a new request.
//!
//! Two requests are as alike as their words: the cosine of their stems, weighed by how rare each is among the requests that are
//! known. Where plans are kept, and which of them are good, is not said here.

use std::sync::Arc;

use jarvis_plan::DraftTask;
use rustc_hash::FxHashMap;

use crate::data;
use crate::words;

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
    /// For each stem, how much it tells, and the requests that hold it with the share of their length that it makes up.
    words: FxHashMap<String, (f32, Vec<(usize, f32)>)>,
}

/// So much of a request is compared.
const MOST: usize = 4096;

impl Experience {
    /// The plans, the oldest first.
    pub fn new(pasts: Vec<Past>) -> Experience {
        let mut words: FxHashMap<String, (f32, Vec<(usize, f32)>)> = FxHashMap::default();
        for (at, past) in pasts.iter().enumerate() {
            for stem in telling(&past.request) {
                words.entry(stem).or_default().1.push((at, 0.0));
            }
        }
        let mut lengths = vec![0.0_f32; pasts.len()];
        for (rarity, holders) in words.values_mut() {
            *rarity = words::rarity(pasts.len(), holders.len());
            for (at, _) in holders {
                if let Some(length) = lengths.get_mut(*at) {
                    *length += *rarity * *rarity;
                }
            }
        }
        for (rarity, holders) in words.values_mut() {
            for (at, share) in holders {
                *share = *rarity / lengths.get(*at).map_or(1.0, |length| length.sqrt());
            }
        }
        Experience { known: Arc::new(Known { pasts, words }) }
    }

    pub fn is_empty(&self) -> bool {
        self.known.pasts.is_empty()
    }

    pub fn len(&self) -> usize {
        self.known.pasts.len()
    }

    /// The plans, the oldest first.
    pub fn pasts(&self) -> &[Past] {
        &self.known.pasts
    }

    /// The `most` plans whose requests are most alike, best first, of those that `fits` lets pass; of equals the later one. Plans
    /// that share no word with the request are none of them.
    pub fn similar(&self, request: &str, most: usize, fits: impl Fn(&Past) -> bool) -> Vec<Similar<'_>> {
        let Known { pasts, words } = &*self.known;
        let mut likeness: FxHashMap<usize, f32> = FxHashMap::default();
        let mut length = 0.0;
        for stem in telling(request) {
            let (rarity, holders) = match words.get(&stem) {
                Some((rarity, holders)) => (*rarity, holders.as_slice()),
                None => (words::rarity(pasts.len(), 0), &[][..]),
            };
            length += rarity * rarity;
            for (at, share) in holders {
                *likeness.entry(*at).or_default() += rarity * share;
            }
        }
        let length = f32::max(length.sqrt(), f32::EPSILON);
        let mut found: Vec<(usize, f32)> =
            likeness.into_iter().map(|(at, sum)| (at, (sum / length).min(1.0))).collect();
        found.sort_by(|one, two| two.1.total_cmp(&one.1).then(two.0.cmp(&one.0)));
        let past = |(at, likeness): (usize, f32)| Some(Similar { likeness, past: pasts.get(at)? });
        found.into_iter().filter_map(past).filter(|similar| fits(similar.past)).take(most).collect()
    }
}

/// The words of a request by which it is known, each once.
fn telling(request: &str) -> Vec<String> {
    let tokens = words::tokens(words::head(request, MOST));
    words::distinct(tokens.into_iter().filter(|token| !data::STOP_WORDS.has(&token.lower)).map(|token| token.stem))
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
