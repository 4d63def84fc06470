//! Retrieval: a list of tools, read once: how well words fit each tool's name, description and parameters ([`fields`]),
//! which tools serve the concepts of the lexicon, which bridge two kinds, and the tool graph.

mod fields;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use jarvis_plan::{Kind, Tool};

use crate::data;
use crate::fitted::Fitted;
use crate::graph::ToolGraph;
use crate::learned::{Learned, Taught};
use crate::lexicon::{self, Concept, ConceptId};
use crate::own::{Own, is_own};
use crate::sentences::{Encoder, Sentences};
use crate::set::tools::SetTools;
use crate::words::{self, Token};

use fields::Fields;
pub(crate) use fields::{Bag, Evidence, opposed};

/// A list of tools, read once so that requests are answered fast.
pub struct ToolIndex {
    pub(crate) tools: Vec<Tool>,
    names: Vec<Vec<Vec<String>>>,
    weights: HashMap<String, f32>,
    pub(crate) fields: Fields,
    pub(crate) graph: ToolGraph,
    /// Whether any tool says what it gives.
    typed: bool,
    affinity: Vec<Vec<Affinity>>,
    bridges: Vec<((Kind, Kind), usize)>,
    fetchers: Vec<(Kind, usize)>,
    /// The tools that somebody brought, which [`crate::own`] plans.
    pub(crate) own: Vec<Own>,
    /// The same list as a set of functions, read when it is first asked for.
    set: OnceLock<SetTools>,
    /// Gold plans that take none but these tools.
    pub(crate) taught: Taught,
    /// The tools as sentences, where there is a model that reads them, or why it could not.
    pub(crate) sentences: Option<Result<Sentences, String>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Affinity {
    pub(crate) tool: usize,
    /// By its words alone, 0 to 1.
    pub(crate) words: f32,
    /// By its words, what it takes and what it gives, 0 to 1.
    pub(crate) fit: f32,
}

impl ToolIndex {
    /// Reads a list, with what the planner knows from the start.
    pub fn new(tools: &[Tool]) -> ToolIndex {
        ToolIndex::with(tools, &Fitted::built_in().learned)
    }

    /// Reads a list, with this in place of what the planner knows from the start, as far as it is about these tools.
    pub fn with(tools: &[Tool], learned: &Learned) -> ToolIndex {
        let (said, tools) = (tools, &crate::own::needing(tools)[..]);
        let names: Vec<Vec<Vec<String>>> = tools
            .iter()
            .map(|tool| {
                std::iter::once(&tool.name)
                    .chain(&tool.aliases)
                    .map(|name| words::stems(&words::spell_out(name)))
                    .collect()
            })
            .collect();
        let weights = weights(&names);
        let descriptions: Vec<Vec<String>> = tools.iter().map(|tool| words::stems(&tool.description)).collect();
        let affinity: Vec<Vec<Affinity>> = lexicon::concepts()
            .iter()
            .map(|concept| {
                let phrases: Vec<Vec<String>> = concept.tools.iter().map(|phrase| words::stems(phrase)).collect();
                let mut served: Vec<Affinity> = Vec::new();
                for (at, ((tool, names), description)) in tools.iter().zip(&names).zip(&descriptions).enumerate() {
                    if is_own(tool) {
                        continue;
                    }
                    let words = phrases.iter().map(|phrase| phrase_fit(phrase, names, description)).fold(0.0, f32::max);
                    if words > 0.0 {
                        served.push(Affinity { tool: at, words, fit: words * signature_fit(concept, tool) });
                    }
                }
                served.sort_by(|a, b| b.fit.total_cmp(&a.fit).then(a.tool.cmp(&b.tool)));
                served
            })
            .collect();
        let bridges = bridges(tools, &affinity);
        ToolIndex {
            tools: tools.to_vec(),
            names,
            weights,
            fields: Fields::new(tools),
            graph: ToolGraph::default(),
            typed: tools.iter().any(|tool| !tool.outputs.is_empty()),
            affinity,
            bridges,
            fetchers: fetchers(tools),
            own: tools
                .iter()
                .enumerate()
                .filter(|(_, tool)| is_own(tool))
                .map(|(at, tool)| Own::new(at, tool, said.get(at).is_some_and(|said| said != tool)))
                .collect(),
            set: OnceLock::new(),
            taught: Taught::new(learned, tools),
            sentences: None,
        }
    }

    /// The list with vectors of what its tools say of themselves. Blocks for as long as the model needs. Where there are no vectors to be
    /// had, plans are made without them and say so.
    pub fn encoded(self, encoder: Arc<dyn Encoder>) -> ToolIndex {
        let sentences = Some(Sentences::new(encoder, &self.tools));
        ToolIndex { sentences, ..self }
    }

    /// Whether the tools are known as sentences.
    pub fn reads_sentences(&self) -> bool {
        matches!(self.sentences, Some(Ok(_)))
    }

    pub(crate) fn is_own(&self, tool: usize) -> bool {
        self.own.iter().any(|own| own.tool == tool)
    }

    pub(crate) fn tool(&self, at: usize) -> Option<&Tool> {
        self.tools.get(at)
    }

    pub(crate) fn serving(&self, concept: ConceptId) -> &[Affinity] {
        self.affinity.get(concept).map_or(&[], Vec::as_slice)
    }

    /// A tool that fetches a resource of that kind from an address, where the list has one.
    pub(crate) fn fetcher(&self, kind: Kind) -> Option<usize> {
        self.fetchers.iter().find(|(of, _)| *of == kind).map(|(_, tool)| *tool)
    }

    /// True when some tool of the list serves the concept well enough for its phrases to count.
    pub(crate) fn serves(&self, concept: ConceptId) -> bool {
        self.serving(concept).first().is_some_and(|best| best.fit >= 0.3)
    }

    /// A tool that turns one kind into another without changing what is said: speech to its words, words to speech.
    pub(crate) fn bridge(&self, from: Kind, to: Kind) -> Option<usize> {
        self.bridges.iter().find(|(pair, _)| *pair == (from, to)).map(|(_, tool)| *tool)
    }

    /// Adds the links that the catalogue declares between its tools.
    pub fn with_graph<'n>(mut self, links: impl IntoIterator<Item = (&'n str, &'n str)>) -> ToolIndex {
        self.graph = ToolGraph::new(&self.tools, links);
        self
    }

    pub(crate) fn set(&self) -> &SetTools {
        self.set.get_or_init(|| SetTools::new(&self.tools))
    }

    /// True for a list of functions: it says neither what flows between its tools nor in which order they follow.
    pub fn is_set(&self) -> bool {
        !self.tools.is_empty() && !self.typed && self.graph.is_empty() && self.own.is_empty()
    }

    /// The same with this in place of what it was made with.
    pub fn with_learned(mut self, learned: &Learned) -> ToolIndex {
        self.taught = Taught::new(learned, &self.tools);
        self
    }

    /// True when the graph says in which order tools follow on one another, rather than what flows between them.
    pub(crate) fn is_ordered(&self) -> bool {
        !self.typed && !self.graph.is_empty()
    }

    /// True when the clause speaks most of some tool's name.
    pub(crate) fn names_a_tool(&self, tokens: &[Token]) -> bool {
        self.names.iter().any(|names| self.name_share(names, tokens) >= 0.6)
    }

    /// True when some tool's name starts with this word, as `send_email` does with "send".
    pub(crate) fn opens_a_name(&self, token: &Token) -> bool {
        !data::PALE_STEMS.has(&token.stem)
            && !data::KIND_STEMS.has(&token.stem)
            && self
                .names
                .iter()
                .filter_map(|names| names.first())
                .filter(|name| name.len() > 1)
                .any(|name| name.first() == Some(&token.stem))
    }

    /// True when the tool's name says only which kinds it takes and gives, as `text-to-image` does.
    pub(crate) fn is_bare(&self, tool: usize) -> bool {
        let name = self.names.get(tool).and_then(|names| names.first());
        name.is_some_and(|name| name.iter().all(|word| data::KIND_STEMS.has(word) || data::STOP_WORDS.has(word)))
    }

    /// True when the tool's name says a direction among other things, as `depth-text-to-image` does.
    pub(crate) fn is_directed(&self, tool: usize) -> bool {
        let name = self.names.get(tool).and_then(|names| names.first());
        name.is_some_and(|name| name.iter().filter(|word| data::KIND_STEMS.has(word)).count() > 1)
    }

    /// The share of the name that is spoken; an alias counts when it is spoken in full.
    fn name_share(&self, names: &[Vec<String>], tokens: &[Token]) -> f32 {
        let Some((name, aliases)) = names.split_first() else { return 0.0 };
        let alias = aliases.iter().map(|alias| self.coverage(alias, tokens)).filter(|share| *share > 0.99);
        alias.fold(self.coverage(name, tokens), f32::max)
    }

    fn coverage(&self, name: &[String], tokens: &[Token]) -> f32 {
        let is_spoken = |word: &String| tokens.iter().any(|token| token.stem == *word);
        // Most names are not, and no look-up is needed to tell.
        if !name.iter().any(is_spoken) {
            return 0.0;
        }
        let (mut spoken, mut whole, mut telling) = (0.0, 0.0, false);
        for word in name {
            let weight = self.weights.get(word).copied().unwrap_or_default();
            whole += weight;
            if is_spoken(word) {
                spoken += weight;
                telling |= !data::KIND_STEMS.has(word) && !data::PALE_STEMS.has(word);
            }
        }
        if whole <= 0.0 || !telling { 0.0 } else { spoken / whole }
    }
}

/// Concepts that carry content from one kind to another.
const BRIDGES: &[&str] = &["caption", "transcription", "speaking", "drawing", "filming", "sound from video"];

fn bridges(tools: &[Tool], affinity: &[Vec<Affinity>]) -> Vec<((Kind, Kind), usize)> {
    let mut bridges: Vec<((Kind, Kind), usize)> = Vec::new();
    for name in BRIDGES {
        let Some(id) = lexicon::find(name) else { continue };
        let concept = lexicon::concept(id);
        let Some(from) = concept.takes.first() else { continue };
        let best = affinity.get(id).into_iter().flatten().find(|served| {
            tools.get(served.tool).is_some_and(|tool| {
                served.fit >= 0.5
                    && tool.outputs.contains(&concept.gives)
                    && tool.params.iter().filter(|param| param.required).all(|param| param.kind == *from)
                    && tool.params.iter().any(|param| param.kind == *from)
            })
        });
        if let Some(best) = best {
            bridges.push(((*from, concept.gives), best.tool));
        }
    }
    bridges
}

/// The tools that need an address and nothing else, by what they give.
fn fetchers(tools: &[Tool]) -> Vec<(Kind, usize)> {
    let address = |param: &jarvis_plan::Param| is_address(&param.name);
    let fetches = |tool: &Tool| {
        let mut needed = tool.params.iter().filter(|param| param.required);
        needed.next().is_some_and(address) && needed.next().is_none()
    };
    let given = |(at, tool): (usize, &Tool)| Some((*tool.outputs.first()?, at));
    tools.iter().enumerate().filter(|(_, tool)| !is_own(tool) && fetches(tool)).filter_map(given).collect()
}

pub(crate) fn is_address(param: &str) -> bool {
    words::stems(&words::spell_out(param)).iter().any(|word| matches!(word.as_str(), "url" | "uri" | "link" | "websit"))
}

/// How telling each word of a name is: rare words more, words for kinds and pale verbs less, small words nothing.
fn weights(names: &[Vec<Vec<String>>]) -> HashMap<String, f32> {
    let mut holders: HashMap<&str, usize> = HashMap::new();
    for names in names {
        let mut seen: Vec<&str> = Vec::new();
        for word in names.iter().flatten() {
            if !seen.contains(&word.as_str()) {
                seen.push(word);
                *holders.entry(word).or_default() += 1;
            }
        }
    }
    let count = names.len() as f32;
    holders
        .into_iter()
        .map(|(word, holders)| {
            let rarity = (1.0 + count / holders as f32).ln();
            let scale = if data::STOP_WORDS.has(word) {
                0.0
            } else if data::KIND_STEMS.has(word) {
                0.3
            } else if data::PALE_STEMS.has(word) {
                0.25
            } else {
                1.0
            };
            (word.to_owned(), rarity * scale)
        })
        .collect()
}

/// How plainly a tool says a phrase: in full as its name, in part, or in its description.
fn phrase_fit(phrase: &[String], names: &[Vec<String>], description: &[String]) -> f32 {
    if phrase.is_empty() {
        return 0.0;
    }
    let mut best: f32 = 0.0;
    for (at, name) in names.iter().enumerate() {
        if let Some(share) = contains(name, phrase) {
            let fit = match (at == 0, share >= 1.0) {
                (true, true) => 1.0,
                (false, true) => 0.95,
                (true, false) => 0.6 + 0.35 * share,
                (false, false) => 0.55 + 0.3 * share,
            };
            best = best.max(fit);
        }
    }
    if best == 0.0 && phrase.len() > 1 && contains(description, phrase).is_some() {
        best = 0.5;
    }
    best
}

/// The share of `whole` that `part` makes up when its words stand there side by side.
fn contains(whole: &[String], part: &[String]) -> Option<f32> {
    whole.windows(part.len()).any(|window| window == part).then(|| part.len() as f32 / whole.len() as f32)
}

/// How well what a tool takes and gives suits a concept, 0 to 1. What a tool does not say counts neither way.
fn signature_fit(concept: &Concept, tool: &Tool) -> f32 {
    let mut fit = 1.0;
    let gives = |kind: Kind| tool.gives(kind) || (kind == Kind::Text && tool.gives(Kind::Json));
    if !tool.outputs.is_empty() && !gives(concept.gives) {
        fit *= 0.35;
    }
    if tool.params.is_empty() {
        return fit;
    }
    let takes_it = |kind: Kind| tool.params.iter().any(|param| param.kind == kind);
    if concept.takes.iter().any(|kind| kind.is_media()) && !concept.takes.iter().any(|kind| takes_it(*kind)) {
        fit *= 0.4;
    }
    let asks_text = matches!(concept.nature, lexicon::Nature::Ask | lexicon::Nature::Edit);
    let surplus = tool.params.iter().any(|param| {
        param.required && !concept.takes.contains(&param.kind) && !(asks_text && param.kind == Kind::Text)
    });
    if surplus { fit * 0.6 } else { fit }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Kind, Tool};

    use super::{Bag, ToolIndex};
    use crate::lexicon;
    use crate::weights::Weights;
    use crate::words::tokens;

    fn index() -> ToolIndex {
        ToolIndex::new(&[
            Tool::typed("canny-control", "Draws the edges of a picture.", &[Kind::Image], &[Kind::Image]),
            Tool::typed(
                "canny-text-to-image",
                "Makes a picture along edges.",
                &[Kind::Image, Kind::Text],
                &[Kind::Image],
            ),
            Tool::typed("text-to-image", "Makes a picture from words.", &[Kind::Text], &[Kind::Image]),
            Tool::typed("book_flight", "Books a flight.", &[], &[]),
        ])
    }

    #[test]
    fn a_concept_finds_the_tool_with_its_signature() {
        let index = index();
        for (concept, tool) in [("edges", "canny-control"), ("drawing", "text-to-image")] {
            let best = index.serving(lexicon::find(concept).unwrap()).first().copied().unwrap();
            assert_eq!(index.tool(best.tool).unwrap().name, tool);
        }
        assert!(!index.serves(lexicon::find("translation").unwrap()));
    }

    #[test]
    fn a_name_is_spoken() {
        let index = index();
        for (text, expected) in [("Book me a flight", true), ("an image from text", false), ("hello", false)] {
            assert_eq!(index.names_a_tool(&tokens(text)), expected, "{text}");
        }
        let words = tokens("book a flight");
        let evidence = index.fields.evidence(&Bag::of(&words, &Bag::default()), &Weights::default());
        assert!(evidence[3].name > 0.9 && evidence[3].text > evidence[0].text);
    }
}
