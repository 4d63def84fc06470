//! The lexicon: words of requests in three languages to concepts, and concepts to the words tools are described with.
//! It never names a tool of one list; which tool serves a concept is found by [`crate::retrieval`].

mod typos;

use std::sync::LazyLock;

use jarvis_plan::Kind;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as Unknown, StrDeserializer};

use crate::data;
use crate::words::grammar::opens_question;
use crate::words::{self, Token};

pub(crate) use typos::corrected;

/// What an action makes of its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Nature {
    /// A picture that shows one aspect of a picture: edges, depth, boxes.
    Map,
    /// Labels or scores that tell something about the input.
    Label,
    /// The same content in another form: a summary, a translation, speech.
    Make,
    /// The same thing changed as the clause says.
    Edit,
    /// Something new from the clause's own words.
    Create,
    /// An answer to the clause as a question.
    Ask,
}

#[derive(Debug)]
pub(crate) struct Concept {
    pub(crate) name: &'static str,
    pub(crate) nature: Nature,
    pub(crate) takes: Vec<Kind>,
    pub(crate) gives: Kind,
    /// Phrases in names, aliases and descriptions of tools that serve it.
    pub(crate) tools: Vec<&'static str>,
    /// Phrases of requests. `*` stands for up to a few words; `~` before a phrase marks a weak hint.
    pub(crate) says: Vec<&'static str>,
}

static CONCEPTS: LazyLock<Vec<Concept>> = LazyLock::new(|| {
    let mut concepts: Vec<Concept> = Vec::new();
    for (name, row) in data::rows(include_str!("../data/lexicon.tsv")) {
        let mut words = row.split(' ');
        if let Some((_, part)) = name.split_once('.') {
            let concept = concepts.last_mut().expect("a concept's first row comes first");
            if part == "tools" { concept.tools.extend(words) } else { concept.says.extend(words) }
        } else {
            let word: StrDeserializer<'_, Unknown> = words.next().expect("a row has words").into_deserializer();
            let nature = Nature::deserialize(word).expect("the first word is what it makes");
            let (gives, takes): (Vec<&str>, Vec<&str>) = words.partition(|kind| kind.starts_with('>'));
            let kind = |word: &str| word.trim_start_matches('>').parse::<Kind>().expect("a kind");
            let takes = takes.into_iter().map(kind).collect();
            let gives = gives.first().map(|word| kind(word)).expect("one kind is given");
            concepts.push(Concept { name, nature, takes, gives, tools: Vec::new(), says: Vec::new() });
        }
    }
    concepts
});

pub(crate) type ConceptId = usize;

pub(crate) fn concepts() -> &'static [Concept] {
    &CONCEPTS
}

pub(crate) fn concept(id: ConceptId) -> &'static Concept {
    CONCEPTS.get(id).expect("an id is a place in the lexicon")
}

pub(crate) fn find(name: &str) -> Option<ConceptId> {
    CONCEPTS.iter().position(|concept| concept.name == name)
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hit {
    /// The concepts it may stand for; the inputs at hand decide.
    pub(crate) concepts: Vec<ConceptId>,
    /// The matched words, as places in the token list; words under a `*` are not among them.
    pub(crate) at: Vec<usize>,
    /// False for weak hints.
    pub(crate) strong: bool,
    /// True when the phrase itself is a question, such as "what is in".
    pub(crate) asks: bool,
}

impl Hit {
    pub(crate) fn first(&self) -> usize {
        self.at.first().copied().expect("a hit has a word")
    }

    pub(crate) fn last(&self) -> usize {
        self.at.last().copied().expect("a hit has a word")
    }
}

#[derive(Debug)]
struct Phrase {
    concept: ConceptId,
    /// Stems; `None` stands for a gap.
    parts: Vec<Option<String>>,
    strong: bool,
    asks: bool,
}

struct Phrases {
    all: Vec<Phrase>,
    by_first: FxHashMap<String, Vec<usize>>,
}

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| {
    let mut phrases = Phrases { all: Vec::new(), by_first: FxHashMap::default() };
    for (concept, row) in concepts().iter().enumerate() {
        for written in &row.says {
            let strong = !written.starts_with('~');
            let mut parts = Vec::new();
            for (at, piece) in written.trim_start_matches('~').split('*').enumerate() {
                if at > 0 {
                    parts.push(None);
                }
                parts.extend(words::tokens(piece).into_iter().filter(|t| !t.is_determiner()).map(|t| Some(t.stem)));
            }
            let Some(Some(first)) = parts.first().cloned() else { continue };
            let asks = opens_question(&first) || written.contains('什') || written.contains('哪');
            phrases.by_first.entry(first).or_default().push(phrases.all.len());
            phrases.all.push(Phrase { concept, parts, strong, asks });
        }
    }
    phrases
});

/// How much a gap may stand for: a Chinese character counts 1, another word 3.
const GAP: usize = 24;

/// The phrases in `tokens` that `wanted` concepts are asked for by, longest first where they overlap, in the order of
/// the text.
pub(crate) fn hits(tokens: &[Token], wanted: impl Fn(ConceptId) -> bool) -> Vec<Hit> {
    let mut found: Vec<(Hit, usize)> = Vec::new();
    for (start, token) in tokens.iter().enumerate() {
        for phrase in PHRASES.by_first.get(&token.stem).into_iter().flatten().filter_map(|at| PHRASES.all.get(*at)) {
            if !wanted(phrase.concept) {
                continue;
            }
            if let Some(at) = match_from(tokens, start, &phrase.parts) {
                let length = at.len();
                let hit = Hit { concepts: vec![phrase.concept], at, strong: phrase.strong, asks: phrase.asks };
                found.push((hit, length));
            }
        }
    }
    found.sort_by_key(|(hit, length)| (usize::MAX - length, !hit.strong, hit.first(), hit.concepts.first().copied()));
    let mut kept: Vec<Hit> = Vec::new();
    for (hit, _) in found {
        if let Some(same) = kept.iter_mut().find(|kept| kept.at == hit.at && kept.strong == hit.strong) {
            for concept in hit.concepts {
                if !same.concepts.contains(&concept) {
                    same.concepts.push(concept);
                }
            }
        } else if !kept.iter().any(|kept| kept.at.iter().any(|at| hit.at.contains(at))) {
            kept.push(hit);
        }
    }
    kept.sort_by_key(Hit::first);
    kept
}

fn match_from(tokens: &[Token], start: usize, parts: &[Option<String>]) -> Option<Vec<usize>> {
    let mut at = start;
    let mut matched = Vec::with_capacity(parts.len());
    let mut gap = 0;
    for part in parts {
        let Some(stem) = part else {
            gap = GAP;
            continue;
        };
        let mut left = if matched.is_empty() { 0 } else { gap };
        loop {
            let token = tokens.get(at)?;
            at += 1;
            if token.stem == *stem {
                matched.push(at - 1);
                break;
            }
            if matched.is_empty() {
                return None;
            }
            if token.is_determiner() {
                continue;
            }
            left = left.checked_sub(if token.is_han() { 1 } else { 3 })?;
        }
        gap = 0;
    }
    Some(matched)
}

#[cfg(test)]
mod tests {
    use super::{concept, concepts, hits};
    use crate::data;
    use crate::words::tokens;

    fn check(text: &str, expected: &str) {
        let tokens = tokens(text);
        let found: Vec<String> = hits(&tokens, |_| true)
            .iter()
            .map(|hit| hit.concepts.iter().map(|id| concept(*id).name).collect::<Vec<_>>().join("/"))
            .collect();
        assert_eq!(found.join(", "), expected, "{text}");
    }

    #[test]
    fn each_concept_is_whole() {
        let rows: Vec<&str> = data::rows(include_str!("../data/lexicon.tsv")).map(|(name, _)| name).collect();
        let expected: Vec<String> = concepts()
            .iter()
            .flat_map(|concept| ["", ".tools", ".en", ".ru", ".zh"].map(|part| format!("{}{part}", concept.name)))
            .collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn phrases_of_three_languages() {
        check("find the edges", "edges");
        check("soft edges", "soft edges");
        check("make it black and white", "picture editing, picture editing");
        check("read the long text aloud", "speaking");
        check("read the summary aloud", "speaking, summary");
        check("что изображено на картинке", "caption");
        check("сделай краткое содержание", "picture editing, summary");
        check("прочитай этот текст вслух", "speaking");
        check("变成黑白", "picture editing, picture editing");
        check("把这段话翻译成英文", "translation");
        check("生成一张图片", "drawing");
        check("extract text", "reading a picture/transcription");
        check("an unrelated sentence", "");
    }
}
