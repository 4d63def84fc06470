//! What gold plans taught: which words of requests speak of which words of tools' names, and which words of names follow which.
//!
//! Words are learned by IBM Model 1 (Brown and others, 1993): the words of a request are taken to be said by the words of the
//! names of its gold tools, and expectation maximisation finds which by which. What is kept is how much likelier a word of a
//! request is beside a word of a name. Tools are known by the words of their names, so that what was learned on one list holds
//! for others.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::{IndexMap, IndexSet};
use jarvis_plan::Tool;
use rustc_hash::FxHashMap;

use crate::data;
use crate::words::{self, Token};

/// A request and the tools of its gold plan, to learn from.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// What was asked.
    pub request: String,
    /// Names in the order of the plan.
    pub tools: Vec<String>,
    /// Pairs of names: the second follows on the first.
    pub links: Vec<(String, String)>,
}

/// What lessons taught.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// By the stem of a word of a request: stems of names, and how many times likelier the word is beside them.
    said: BTreeMap<String, BTreeMap<String, f32>>,
    /// Stems of two names, and how much likelier the second tool follows the first, in nats.
    follows: BTreeMap<String, BTreeMap<String, f32>>,
    /// The stems of each name that a lesson took, with blanks between.
    known: BTreeSet<String>,
}

/// Rounds of expectation maximisation; the words hardly move after these.
const ROUNDS: usize = 10;
/// What stands for every word that no name says.
const NULL: &str = "";
/// How often, by expectation, a pair of words must have been seen.
const SEEN: f64 = 2.0;
/// How much likelier a word must be beside another to be kept.
const LIKELIER: f64 = 2.0;

pub(crate) fn name_stems(name: &str) -> Vec<String> {
    words::distinct(words::stems(&words::spell_out(name)).into_iter().filter(|stem| !data::STOP_WORDS.has(stem)))
}

fn request_stems(request: &str) -> Vec<String> {
    let telling =
        |token: &Token| !data::STOP_WORDS.has(&token.lower) && !token.lower.chars().any(|c| c.is_ascii_digit());
    words::distinct(words::tokens(request).into_iter().filter(telling).map(|token| token.stem))
}

impl Learned {
    /// Learns from lessons; takes seconds for a few thousand.
    pub fn of(lessons: &[Lesson]) -> Learned {
        let read: Vec<(Vec<String>, Vec<String>)> = lessons
            .iter()
            .map(|lesson| {
                let names = words::distinct(lesson.tools.iter().flat_map(|name| name_stems(name)));
                (request_stems(&lesson.request), names)
            })
            .collect();
        let (mut words, mut names): (IndexMap<&str, f64>, IndexSet<&str>) = Default::default();
        let (null, _) = names.insert_full(NULL);
        let read: Vec<(Vec<usize>, Vec<usize>)> = read
            .iter()
            .map(|(request, tools)| {
                let mut number = |word| {
                    let entry = words.entry(word);
                    let place = entry.index();
                    *entry.or_default() += 1.0;
                    place
                };
                let said = request.iter().map(|word| number(word.as_str())).collect();
                (said, tools.iter().map(|name| names.insert_full(name).0).chain([null]).collect())
            })
            .collect();
        let total: f64 = words.values().sum();
        let alone: Vec<f64> = words.values().map(|count| count / f64::max(total, 1.0)).collect();
        let alone = |word: usize| alone.get(word).copied().unwrap_or_default();
        // t(word | name), uniform at first; and how often each pair is expected to have been meant.
        let mut table: FxHashMap<(usize, usize), f64> = FxHashMap::default();
        let mut seen: FxHashMap<(usize, usize), f64> = FxHashMap::default();
        for _ in 0..ROUNDS {
            let mut round: FxHashMap<(usize, usize), f64> = FxHashMap::default();
            let mut all: FxHashMap<usize, f64> = FxHashMap::default();
            for (request, tools) in &read {
                for word in request {
                    let t = |name: usize| match table.is_empty() {
                        true => 1.0,
                        false => table.get(&(name, *word)).copied().unwrap_or_default(),
                    };
                    let sum: f64 = tools.iter().map(|name| t(*name)).sum::<f64>() + alone(*word);
                    for name in tools {
                        let share = t(*name) / f64::max(sum, f64::MIN_POSITIVE);
                        *round.entry((*name, *word)).or_default() += share;
                        *all.entry(*name).or_default() += share;
                    }
                }
            }
            table =
                round.iter().map(|(pair, count)| (*pair, count / all.get(&pair.0).copied().unwrap_or(1.0))).collect();
            seen = round;
        }
        let mut said: BTreeMap<String, BTreeMap<String, f32>> = BTreeMap::new();
        for ((name, word), likely) in &table {
            let ratio = likely / f64::max(alone(*word), f64::MIN_POSITIVE);
            let often = seen.get(&(*name, *word)).copied().unwrap_or_default();
            if *name != null
                && ratio >= LIKELIER
                && often >= SEEN
                && let (Some((word, _)), Some(name)) = (words.get_index(*word), names.get_index(*name))
            {
                said.entry((*word).to_owned()).or_default().insert((*name).to_owned(), rounded(ratio));
            }
        }
        let mut learned = Learned { said, ..Learned::default() };
        for name in lessons.iter().flat_map(|lesson| &lesson.tools) {
            learned.known.insert(name_stems(name).join(" "));
        }
        learned.follow(lessons);
        learned
    }

    /// Which words of names follow which: pointwise mutual information over the links, with a prior of one link by chance.
    fn follow(&mut self, lessons: &[Lesson]) {
        let mut pairs: BTreeMap<(String, String), f64> = BTreeMap::new();
        let (mut firsts, mut seconds): (BTreeMap<String, f64>, BTreeMap<String, f64>) = Default::default();
        let mut links = 0.0;
        for (one, two) in lessons.iter().flat_map(|lesson| &lesson.links) {
            let (ones, twos): (BTreeSet<String>, BTreeSet<String>) =
                (name_stems(one).into_iter().collect(), name_stems(two).into_iter().collect());
            links += 1.0;
            for one in &ones {
                *firsts.entry(one.clone()).or_default() += 1.0;
                for two in &twos {
                    *pairs.entry((one.clone(), two.clone())).or_default() += 1.0;
                }
            }
            for two in twos {
                *seconds.entry(two).or_default() += 1.0;
            }
        }
        for one in firsts.keys() {
            for two in seconds.keys() {
                let count = |of: &BTreeMap<String, f64>, key: &String| of.get(key).copied().unwrap_or_default();
                let chance = count(&firsts, one) * count(&seconds, two) / links;
                let often = pairs.get(&(one.clone(), two.clone())).copied().unwrap_or_default();
                let nats = rounded(((often + 2.0) / (chance + 2.0)).ln());
                if nats.abs() > 0.2 {
                    self.follows.entry(one.clone()).or_default().insert(two.clone(), nats);
                }
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.said.is_empty() && self.follows.is_empty()
    }

    /// How many pairs of words of requests and names, and of words of names that follow one another, are known.
    pub fn size(&self) -> (usize, usize) {
        (self.said.values().map(BTreeMap::len).sum(), self.follows.values().map(BTreeMap::len).sum())
    }
}

/// Three digits are enough, and a file of them is half as long.
fn rounded(number: f64) -> f32 {
    ((number * 100.0).round() / 100.0) as f32
}

/// What was learned, for the tools of one list.
#[derive(Debug, Default)]
pub(crate) struct Taught {
    /// By the stem of a word of a request, for each tool that it may speak of how many times likelier it is.
    said: FxHashMap<String, Vec<(usize, f32)>>,
    /// For each tool, the words of its name as numbers.
    names: Vec<Vec<u32>>,
    follows: FxHashMap<(u32, u32), f32>,
    /// The share of the tools that lessons knew: what was learned of others is no guide to these.
    known: f32,
}

impl Taught {
    pub(crate) fn new(learned: &Learned, tools: &[Tool]) -> Taught {
        let stems: Vec<Vec<String>> = tools.iter().map(|tool| name_stems(&tool.name)).collect();
        let known = stems.iter().filter(|stems| learned.known.contains(&stems.join(" "))).count();
        let known = known as f32 / f32::max(tools.len() as f32, 1.0);
        if known < LEAST_KNOWN {
            return Taught::default();
        }
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut holders: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        let mut names = Vec::new();
        for (at, stems) in stems.iter().enumerate() {
            let mut name = Vec::new();
            for stem in stems {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                name.push(*numbers.entry(stem).or_insert(next));
                holders.entry(stem).or_default().push(at);
            }
            names.push(name);
        }
        let mut taught = Taught { names, known, ..Taught::default() };
        for (word, beside) in &learned.said {
            let mut ratios: BTreeMap<usize, f32> = BTreeMap::new();
            for (stem, ratio) in beside {
                for tool in holders.get(stem.as_str()).into_iter().flatten() {
                    *ratios.entry(*tool).or_default() += ratio;
                }
            }
            let nats = ratios.into_iter().filter_map(|(tool, ratio)| {
                let length = taught.names.get(tool).map_or(1.0, |name| f32::max(name.len() as f32, 1.0));
                Some((tool, (CHANCE + (1.0 - CHANCE) * ratio / length).ln())).filter(|(_, nats)| *nats > 0.0)
            });
            let nats: Vec<(usize, f32)> = nats.collect();
            if !nats.is_empty() {
                taught.said.insert(word.clone(), nats);
            }
        }
        for (one, seconds) in &learned.follows {
            for (two, nats) in seconds {
                if let (Some(one), Some(two)) = (numbers.get(one.as_str()), numbers.get(two.as_str())) {
                    taught.follows.insert((*one, *two), *nats);
                }
            }
        }
        taught
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What words say for each tool, in nats a word, beside the tool for which they say most.
    pub(crate) fn said<'s>(&self, stems: impl Iterator<Item = &'s String>, to: f32) -> Vec<f32> {
        let mut said = vec![0.0_f32; self.names.len()];
        let mut words = SMOOTH;
        for stem in stems {
            words += 1.0;
            for (tool, nats) in self.said.get(stem).into_iter().flatten() {
                if let Some(sum) = said.get_mut(*tool) {
                    *sum += nats;
                }
            }
        }
        let most = said.iter().copied().fold(0.0, f32::max);
        let share = self.known * self.known / words;
        said.into_iter().map(|said| share * (said - to * most)).collect()
    }

    /// How much likelier a tool follows another, in nats.
    pub(crate) fn follows(&self, one: usize, two: usize) -> f32 {
        let (Some(one), Some(two)) = (self.names.get(one), self.names.get(two)) else { return 0.0 };
        let pairs = one.iter().flat_map(|first| two.iter().map(move |second| (*first, *second)));
        let sum: f32 = pairs.filter_map(|pair| self.follows.get(&pair)).sum();
        self.known * sum / f32::max((one.len() * two.len()) as f32, 1.0)
    }
}

/// What share of a list's tools must be known.
const LEAST_KNOWN: f32 = 0.75;
/// How probable it is that a word has nothing to do with the tool.
const CHANCE: f32 = 0.3;
/// Words that say nothing, which each clause is taken to have besides its own.
const SMOOTH: f32 = 2.0;

#[cfg(test)]
mod tests {
    use jarvis_plan::Tool;

    use super::{Learned, Lesson, Taught};

    fn lesson(request: &str, tools: &[&str]) -> Lesson {
        let links = tools.windows(2).map(|two| (two[0].to_owned(), two[1].to_owned())).collect();
        Lesson { request: request.to_owned(), tools: tools.iter().map(|tool| (*tool).to_owned()).collect(), links }
    }

    #[test]
    fn words_that_nothing_else_explains_are_learned() {
        let lessons: Vec<Lesson> = (0..6)
            .flat_map(|_| {
                [
                    lesson("wake me at seven", &["set_alarm"]),
                    lesson("wake me, and tell me about the rain", &["set_alarm", "get_weather"]),
                    lesson("will the rain stop", &["get_weather"]),
                    lesson("order two pizzas with mushrooms", &["buy_food", "send_money"]),
                    lesson("which train leaves from platform nine", &["find_train"]),
                    lesson("transfer fifty dollars onto savings", &["send_money"]),
                ]
            })
            .collect();
        let learned = Learned::of(&lessons);
        let tools = ["set_alarm", "get_weather"].map(|name| Tool::typed(name, "", &[], &[]));
        let taught = Taught::new(&learned, &tools);
        let said = taught.said(["wake".to_owned()].iter(), 1.0);
        assert!(said[0] > said[1] && said[0] == 0.0, "{said:?}");
        assert!(taught.follows(0, 1) > taught.follows(1, 0));
        let other = Taught::new(&learned, &[Tool::typed("buy_stock", "", &[], &[])]);
        assert!(other.is_empty() && other.said(["wake".to_owned()].iter(), 1.0).is_empty());
    }
}
