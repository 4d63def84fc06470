//! Fields: how well the words of a clause fit each tool, over its name, description and parameters, in the manner of
//! BM25F: rare words count more, a word of the name more than one of the description, and a word of the same sense nearly
//! as much as the word itself.

use std::collections::{BTreeMap, HashMap};

use jarvis_plan::Tool;

use crate::data;
use crate::thesaurus::{self, Part, SenseId};
use crate::weights::Weights;
use crate::words::grammar::{is_attribute, is_outcome, strip_polite};
use crate::words::{self, Token, distinct};

/// What a word for a kind of resource counts beside another: most tools speak of some.
const KIND: f32 = 0.3;
/// What such a word counts beside the others of the name.
const TIED: f32 = 0.4;

/// A word that is compared: a stem, two neighbouring Chinese characters, or a Chinese word of the thesaurus.
#[derive(Debug, Clone, PartialEq)]
struct Term {
    key: String,
    senses: Vec<SenseId>,
}

/// The senses of a word where it stands: a bare verb after the verb of a name is a noun, as in `borrow_book`.
fn senses_at(tokens: &[Token], at: usize, verb_first: bool) -> Vec<SenseId> {
    let Some(token) = tokens.get(at) else { return Vec::new() };
    let senses = thesaurus::of_token(token);
    let formed = ["ing", "ion", "ment", "ery", "al", "er", "or"].iter().any(|end| token.lower.ends_with(end));
    let noun = verb_first && at > 0 && !formed;
    let acts = |id: &SenseId| thesaurus::is_a(*id, Part::Action);
    senses.iter().copied().filter(|id| !(noun && acts(id))).collect()
}

/// The terms of a text, small words left out.
fn terms(tokens: &[Token], verb_first: bool) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    let mut put = |key: String, senses: &[SenseId]| match terms.iter_mut().find(|term| term.key == key) {
        Some(term) => term.senses.extend(senses),
        None => terms.push(Term { key, senses: senses.to_vec() }),
    };
    for (at, token) in tokens.iter().enumerate() {
        if !token.is_han() {
            if !data::STOP_WORDS.has(&token.lower) {
                put(token.stem.clone(), &senses_at(tokens, at, verb_first));
            }
        } else if let Some(next) = tokens.get(at + 1).filter(|next| next.is_han() && next.start == token.end) {
            put(format!("{}{}", token.stem, next.stem), &[]);
        }
    }
    for (sense, from, to) in thesaurus::of_tokens(tokens) {
        let word = tokens.get(from..to).unwrap_or_default();
        if word.first().is_some_and(Token::is_han) {
            put(word.iter().map(|token| token.lower.as_str()).collect(), &[sense]);
        }
    }
    terms
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Bag {
    terms: Vec<Term>,
    stems: Vec<String>,
    senses: Vec<SenseId>,
    does: Vec<SenseId>,
    earlier_stems: Vec<String>,
    earlier_senses: Vec<SenseId>,
}

fn plain(tokens: &[Token], earlier: &Bag) -> Vec<Token> {
    let named = |token: &Token| earlier.was_named(&token.stem) || earlier.stems.contains(&token.stem);
    let plain =
        |(at, token): &(usize, &Token)| !((is_attribute(tokens, *at) || is_outcome(tokens, *at)) && named(token));
    tokens.iter().enumerate().filter(plain).map(|(_, token)| token.clone()).collect()
}

impl Bag {
    /// The words of a clause after others. Words that only tell which earlier thing is meant are left out, and what was
    /// spoken of earlier is kept in mind.
    pub(crate) fn of(tokens: &[Token], earlier: &Bag) -> Bag {
        let (tokens, order) = (plain(tokens, earlier), plain(strip_polite(tokens), earlier));
        let (tokens, order) = (tokens.as_slice(), order.as_slice());
        let mut bag = Bag { terms: terms(tokens, false), ..Bag::default() };
        bag.stems = distinct(bag.terms.iter().map(|term| term.key.clone()));
        bag.senses = distinct(bag.terms.iter().flat_map(|term| term.senses.iter().copied()));
        let mut at = usize::MAX;
        for (sense, from, _) in thesaurus::of_tokens(order) {
            if from > at {
                break;
            }
            if thesaurus::is_a(sense, Part::Action) {
                bag.does.push(sense);
                at = from;
            }
        }
        bag.earlier_stems = distinct(earlier.earlier_stems.iter().chain(&earlier.stems).cloned());
        let things = |id: &SenseId| thesaurus::is_a(*id, Part::Thing);
        let named = earlier.senses.iter().filter(|id| things(id));
        bag.earlier_senses = distinct(earlier.earlier_senses.iter().chain(named).copied());
        bag
    }

    /// True when an earlier clause spoke that word.
    pub(crate) fn was_named(&self, stem: &str) -> bool {
        self.earlier_stems.iter().any(|earlier| earlier == stem)
    }
}

/// Actions that undo others.
const OPPOSED: &[(&str, &str)] = &[
    ("cancel", "book, create, buy, send, organise, enrol, submit, deliver, record, share, print, play"),
    ("sell", "buy"),
    ("log out", "log in"),
];

pub(crate) fn opposed(one: &[SenseId], two: &[SenseId]) -> bool {
    let does = |senses: &[SenseId], name: &str| senses.iter().any(|id| thesaurus::sense(*id).name == name);
    OPPOSED.iter().any(|(undo, undone)| {
        let any = |senses: &[SenseId]| undone.split(", ").any(|action| does(senses, action));
        (does(one, undo) && any(two)) || (does(two, undo) && any(one))
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Evidence {
    /// The weighted share of the name that the clause speaks, 0 to 1.
    pub(crate) name: f32,
    /// The weighted share of the clause that the tool's fields explain, 0 to 1.
    pub(crate) text: f32,
    /// 1 when both say what is done and agree, -1 when they do not, 0 when one does not say.
    pub(crate) action: f32,
    /// True when the tool does what the clause undoes, or the other way round.
    pub(crate) opposed: bool,
    /// True when a word that they share says more than a kind of resource or that something is made, changed or looked for.
    pub(crate) telling: bool,
}

struct NameWord {
    stem: String,
    senses: Vec<SenseId>,
    weight: f32,
    /// Its place among the words of all names.
    place: usize,
}

pub(crate) struct Fields {
    names: Vec<Vec<NameWord>>,
    /// The words of all names, each once.
    name_words: Vec<(String, Vec<SenseId>)>,
    /// What each tool does, by its name or by how its description begins.
    does: Vec<Vec<SenseId>>,
    by_stem: HashMap<String, (f32, Vec<(usize, bool)>)>,
    by_sense: Vec<Vec<(usize, bool)>>,
}

impl Fields {
    pub(crate) fn new(tools: &[Tool]) -> Fields {
        let mut by_stem: HashMap<String, (f32, Vec<(usize, bool)>)> = HashMap::new();
        let mut by_sense: Vec<Vec<(usize, bool)>> = vec![Vec::new(); thesaurus::count()];
        let mut names: Vec<Vec<NameWord>> = Vec::new();
        let mut does: Vec<Vec<SenseId>> = Vec::new();
        for (at, tool) in tools.iter().enumerate() {
            let mut add = |text: &str, named: bool| {
                for term in terms(&words::tokens(text), false) {
                    for sense in &term.senses {
                        if let Some(list) = by_sense.get_mut(*sense) {
                            put(list, at, named);
                        }
                    }
                    put(&mut by_stem.entry(term.key).or_default().1, at, named);
                }
            };
            let name = words::spell_out(&tool.name);
            add(&name, true);
            for alias in &tool.aliases {
                add(&words::spell_out(alias), true);
            }
            add(&tool.description, false);
            for param in &tool.params {
                add(&words::spell_out(&param.name), false);
            }
            let tokens = words::tokens(&name);
            does.push(actions(&tokens, &words::tokens(&tool.description)));
            let verb_first = tokens.first().is_some_and(thesaurus::is_verb);
            let tied = tokens.iter().position(|token| data::NAME_TIES.has(&token.lower)).unwrap_or(tokens.len());
            let tied: Vec<&str> = tokens.iter().skip(tied).map(|token| token.stem.as_str()).collect();
            names.push(
                terms(&tokens, verb_first)
                    .into_iter()
                    .map(|term| NameWord {
                        weight: if tied.contains(&term.key.as_str()) { TIED } else { 1.0 },
                        senses: term.senses,
                        stem: term.key,
                        place: 0,
                    })
                    .collect(),
            );
        }
        for (rarity, holders) in by_stem.values_mut() {
            *rarity = words::rarity(tools.len(), holders.len());
        }
        for word in names.iter_mut().flatten() {
            let scale = match () {
                () if data::KIND_STEMS.has(&word.stem) => 0.6,
                () if data::PALE_STEMS.has(&word.stem) => 0.4,
                () => 1.0,
            };
            word.weight *= scale * by_stem.get(&word.stem).map_or(0.0, |(rarity, _)| *rarity);
        }
        let mut places: HashMap<(String, Vec<SenseId>), usize> = HashMap::new();
        let mut name_words: Vec<(String, Vec<SenseId>)> = Vec::new();
        for word in names.iter_mut().flatten() {
            let key = (word.stem.clone(), word.senses.clone());
            word.place = *places.entry(key.clone()).or_insert_with(|| {
                name_words.push(key);
                name_words.len() - 1
            });
        }
        Fields { names, name_words, does, by_stem, by_sense }
    }

    /// True when two tools do the same to the same things, as far as their names tell: `check_balance` and
    /// `account_balance_query`.
    pub(crate) fn alike(&self, one: usize, two: usize) -> bool {
        let (Some(one_does), Some(two_does)) = (self.does.get(one), self.does.get(two)) else { return false };
        let (Some(one), Some(two)) = (self.names.get(one), self.names.get(two)) else { return false };
        let same =
            |a: &NameWord, b: &NameWord| a.stem == b.stem || a.senses.iter().any(|sense| b.senses.contains(sense));
        let acts = |word: &NameWord| word.senses.iter().any(|id| thesaurus::is_a(*id, Part::Action));
        let within = |a: &[NameWord], b: &[NameWord]| a.iter().all(|word| b.iter().any(|other| same(word, other)));
        let things = |a: &[NameWord], b: &[NameWord]| {
            a.iter().filter(|word| !acts(word)).any(|word| b.iter().any(|other| same(word, other)))
        };
        !one_does.is_empty()
            && one_does.iter().any(|sense| two_does.contains(sense))
            && (within(one, two)
                && two.iter().filter(|word| acts(word)).all(|word| one.iter().any(|other| same(word, other)))
                || within(two, one)
                    && one.iter().filter(|word| acts(word)).all(|word| two.iter().any(|other| same(word, other))))
            && things(one, two)
    }

    /// True for a tool that changes nothing, as far as its name tells: it looks something up, checks it, or opens the door
    /// to what does.
    pub(crate) fn looks_up(&self, tool: usize) -> bool {
        let Some(does) = self.does.get(tool) else { return false };
        does.iter().map(|id| thesaurus::sense(*id)).any(|sense| matches!(sense.name, "search" | "check" | "log in"))
    }

    pub(crate) fn share_a_thing(&self, one: usize, two: usize) -> bool {
        let (Some(one), Some(two)) = (self.names.get(one), self.names.get(two)) else { return false };
        let thing =
            |word: &&NameWord| word.senses.is_empty() || word.senses.iter().any(|id| thesaurus::is_a(*id, Part::Thing));
        one.iter().filter(thing).any(|word| {
            two.iter()
                .filter(thing)
                .any(|other| word.stem == other.stem || word.senses.iter().any(|sense| other.senses.contains(sense)))
        })
    }

    pub(crate) fn evidence(&self, bag: &Bag, weights: &Weights) -> Vec<Evidence> {
        let mut found = vec![Evidence::default(); self.names.len()];
        let shares = |senses: &[SenseId], among: &[SenseId]| senses.iter().any(|sense| among.contains(sense));
        // Many names share a word.
        let spoken_of = |(stem, senses): &(String, Vec<SenseId>)| match () {
            () if bag.stems.contains(stem) => 1.0,
            () if shares(senses, &bag.senses) => weights.sense,
            () if bag.earlier_stems.contains(stem) => weights.context,
            () if shares(senses, &bag.earlier_senses) => weights.context * weights.sense,
            () => 0.0,
        };
        let name_shares: Vec<f32> = self.name_words.iter().map(spoken_of).collect();
        for ((entry, name), does) in found.iter_mut().zip(&self.names).zip(&self.does) {
            let (mut spoken, mut whole) = (0.0, 0.0);
            for word in name {
                whole += word.weight;
                spoken += word.weight * name_shares.get(word.place).copied().unwrap_or_default();
            }
            if whole > 0.0 {
                entry.name = spoken / whole;
            }
            if !bag.does.is_empty() && !does.is_empty() {
                entry.action = if shares(does, &bag.does) { 1.0 } else { -1.0 };
                entry.opposed = entry.action < 0.0 && opposed(&bag.does, does);
            }
        }
        let mut explained = vec![0.0_f32; found.len()];
        let mut whole = weights.smooth;
        let field = |named: bool| if named { 1.0 } else { weights.description };
        for term in &bag.terms {
            let own = self.by_stem.get(&term.key);
            let mut best: BTreeMap<usize, f32> = BTreeMap::new();
            let common = data::EVERYDAY_STEMS.has(&term.key) || data::RESOURCE_STEMS.has(&term.key);
            let plain = common || data::KIND_STEMS.has(&term.key) || data::PALE_STEMS.has(&term.key);
            let pale = plain || term.senses.iter().any(|id| thesaurus::sense(*id).is_pale);
            for (tool, named) in own.map_or(&[][..], |(_, holders)| holders) {
                best.insert(*tool, field(*named));
                if let Some(entry) = found.get_mut(*tool).filter(|_| !pale) {
                    entry.telling = true;
                }
            }
            let shared = |sense: &SenseId| self.by_sense.get(*sense).map(|holders| (*sense, holders));
            for (sense, (tool, named)) in term
                .senses
                .iter()
                .filter_map(shared)
                .flat_map(|(sense, holders)| holders.iter().map(move |held| (sense, held)))
            {
                if let Some(entry) = found.get_mut(*tool).filter(|_| !common && !thesaurus::sense(sense).is_pale) {
                    entry.telling = true;
                }
                let entry = best.entry(*tool).or_default();
                *entry = entry.max(field(*named) * weights.sense);
            }
            if best.is_empty() {
                whole += weights.unknown;
                continue;
            }
            let scale = if data::KIND_STEMS.has(&term.key) { KIND } else { 1.0 };
            let rarity = scale * own.map_or_else(|| words::rarity(self.names.len(), best.len()), |(rarity, _)| *rarity);
            whole += rarity;
            for (tool, weight) in best {
                if let Some(entry) = explained.get_mut(tool) {
                    *entry += rarity * weight;
                }
            }
        }
        for (entry, explained) in found.iter_mut().zip(explained) {
            entry.text = explained / whole;
        }
        found
    }
}

fn put(list: &mut Vec<(usize, bool)>, tool: usize, named: bool) {
    match list.last_mut() {
        Some((last, held)) if *last == tool => *held |= named,
        _ => list.push((tool, named)),
    }
}

/// The actions that a name speaks of, or else the first word of the description.
fn actions(name: &[Token], description: &[Token]) -> Vec<SenseId> {
    let of = |tokens: &[Token]| -> Vec<SenseId> {
        terms(tokens, tokens.first().is_some_and(thesaurus::is_verb))
            .into_iter()
            .flat_map(|term| term.senses)
            .filter(|id| thesaurus::is_a(*id, Part::Action))
            .collect()
    };
    let named = of(name);
    if named.is_empty() { of(description.get(..1).unwrap_or_default()) } else { named }
}
