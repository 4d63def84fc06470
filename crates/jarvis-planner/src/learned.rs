//! What gold plans taught: requests as bags of their words, with the tools and links of their plans. [`crate::evidence`] compares new
//! requests with them, as it does with plans from before ([`crate::experience`]); these come with the planner or from a file.

use std::collections::BTreeSet;

use jarvis_plan::Tool;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bags::{Bags, telling};
use crate::words;

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

/// What lessons taught. Neither their texts nor the order of their words can be had from it.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    plans: Vec<Bag>,
}

/// A request with its plan.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Bag {
    /// Stems in the order of the alphabet, with blanks between.
    words: String,
    /// Names, each once.
    tools: Vec<String>,
    /// Pairs of places in `tools`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    links: Vec<(usize, usize)>,
}

impl Learned {
    /// Learns from lessons. Those without words or tools teach nothing, and a word that one request alone holds tells nothing of others.
    pub fn of(lessons: &[Lesson]) -> Learned {
        let telling = |lesson: &Lesson| -> BTreeSet<String> {
            let words = telling(&words::tokens(&lesson.request)).into_iter();
            words.filter(|word| !word.chars().any(|letter| letter.is_ascii_digit())).collect()
        };
        let requests: Vec<BTreeSet<String>> = lessons.iter().map(telling).collect();
        let mut holders: FxHashMap<&str, usize> = FxHashMap::default();
        for word in requests.iter().flatten() {
            *holders.entry(word).or_default() += 1;
        }
        let bag = |(lesson, request): (&Lesson, &BTreeSet<String>)| {
            let shared =
                request.iter().map(String::as_str).filter(|word| holders.get(word).is_some_and(|count| *count > 1));
            let words: Vec<&str> = shared.collect();
            let tools = words::distinct(lesson.tools.iter().cloned());
            let place = |name: &String| tools.iter().position(|tool| tool == name);
            let links = lesson.links.iter().filter_map(|(one, two)| Some((place(one)?, place(two)?))).collect();
            Bag { words: words.join(" "), tools, links }
        };
        let plans = lessons.iter().zip(&requests).map(bag);
        Learned { plans: plans.filter(|bag| !bag.words.is_empty() && !bag.tools.is_empty()).collect() }
    }

    /// How many plans are known.
    pub fn len(&self) -> usize {
        self.plans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.plans.is_empty()
    }
}

/// What was learned, for the tools of one list.
#[derive(Debug, Default)]
pub(crate) struct Taught {
    pub(crate) requests: Bags,
    /// The plan of each request, by places in the list.
    pub(crate) plans: Vec<Taken>,
    took: FxHashSet<usize>,
}

/// The tools that a plan took, each once, and which of them used which, by places in a list.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Taken {
    pub(crate) tools: Vec<usize>,
    pub(crate) links: Vec<(usize, usize)>,
}

impl Taught {
    /// The plans all of whose tools are in the list.
    pub(crate) fn new(learned: &Learned, tools: &[Tool]) -> Taught {
        let places: FxHashMap<&str, usize> =
            tools.iter().enumerate().map(|(at, tool)| (tool.name.as_str(), at)).collect();
        let taken = |bag: &Bag| {
            let tools: Option<Vec<usize>> = bag.tools.iter().map(|name| places.get(name.as_str()).copied()).collect();
            let tools = tools?;
            let pair = |(one, two): &(usize, usize)| Some((*tools.get(*one)?, *tools.get(*two)?));
            let links = bag.links.iter().filter_map(pair).collect();
            Some((bag.words.split(' ').map(str::to_owned).collect::<Vec<String>>(), Taken { tools, links }))
        };
        let (requests, plans): (Vec<Vec<String>>, Vec<Taken>) = learned.plans.iter().filter_map(taken).unzip();
        let took = plans.iter().flat_map(|plan| plan.tools.iter().copied()).collect();
        Taught { requests: Bags::new(requests), plans, took }
    }

    /// Whether some plan took the tool at a place of the list.
    pub(crate) fn took(&self, tool: usize) -> bool {
        self.took.contains(&tool)
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::Tool;

    use super::{Learned, Lesson, Taken, Taught};

    #[test]
    fn plans_are_known_for_lists_that_hold_their_tools() {
        let lesson = |request: &str, tools: &[&str], links: &[(&str, &str)]| Lesson {
            request: request.to_owned(),
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            links: links.iter().map(|(one, two)| ((*one).to_owned(), (*two).to_owned())).collect(),
        };
        let learned = Learned::of(&[
            lesson(
                "Wake me at 7, and tell me of the rain",
                &["alarm", "weather"],
                &[("alarm", "weather"), ("alarm", "x")],
            ),
            lesson("wake me, it rains", &["alarm", "alarm"], &[]),
            lesson("", &["alarm"], &[]),
            lesson("wake", &[], &[]),
        ]);
        assert_eq!(learned.len(), 2);
        let text = serde_json::to_string(&learned).unwrap();
        assert!(
            text.starts_with(r#"{"plans":[{"words":"rain wake","tools":["alarm","weather"],"links":[[0,1]]}"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Learned>(&text).unwrap(), learned);
        let tools = ["weather", "alarm"].map(|name| Tool::typed(name, "", &[], &[]));
        let taught = Taught::new(&learned, &tools);
        let both = Taken { tools: vec![1, 0], links: vec![(1, 0)] };
        assert_eq!(taught.plans, [both, Taken { tools: vec![1], links: Vec::new() }]);
        assert_eq!(Taught::new(&learned, &tools[1..]).plans.len(), 1);
    }
}
