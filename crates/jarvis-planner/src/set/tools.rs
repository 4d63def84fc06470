//! What the tools of a list say of themselves, read once.

use std::collections::HashMap;
use std::sync::LazyLock;

use jarvis_plan::{Param, Script, Tool, is_han};
use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::data;
use crate::meaning::{self, Vector};
use crate::thesaurus::{self, Part, SenseId};
use crate::words::{self, Token};

use super::split;

/// A word that is compared: of a request, or of what tools say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    /// A stem, or a pair of Chinese characters or Korean syllables.
    pub(crate) key: String,
    pub(crate) senses: Vec<SenseId>,
    pub(crate) vector: Option<Vector>,
    /// The same in Latin letters, as names of tools have it: "погод" is `pogod`, "油价" is `youjia`; `None` for what is in such letters.
    pub(crate) latin: Option<String>,
}

impl Word {
    fn new(key: String, senses: Vec<SenseId>, vector: Option<Vector>) -> Word {
        // "Flüge" and "Flug" differ by a mark that comes and goes.
        let marked = !key.is_ascii() && key.chars().all(|letter| Script::of(letter) == Script::Latin);
        let key = if marked { in_latin(&key) } else { key };
        let latin = (!key.is_ascii()).then(|| in_latin(&key));
        Word { key, senses, vector, latin }
    }
}

/// A word in Latin letters, without blanks.
fn in_latin(word: &str) -> String {
    any_ascii::any_ascii(word).chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

/// What the runs of Chinese in a text are in Latin letters, two to four characters at a time: names of tools are such words.
fn latin_runs(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let runs = letters.split(|letter| !is_han(*letter));
    let words = runs.flat_map(|run| (2..=LONGEST_HAN).flat_map(|count| run.windows(count)));
    words.map(|word| in_latin(&word.iter().collect::<String>())).collect()
}

/// So many characters a Chinese word of a name has.
const LONGEST_HAN: usize = 4;

/// The words of tokens that say something, each with the place of the token where it begins.
pub(crate) fn words_of(tokens: &[Token]) -> Vec<(usize, Word)> {
    let mut found: Vec<(usize, Word)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.is_han() {
            if let Some(next) = tokens.get(at + 1).filter(|next| next.is_han() && next.start == token.end) {
                let key = format!("{}{}", token.stem, next.stem);
                found.push((at, Word::new(key, Vec::new(), None)));
            }
            continue;
        }
        if data::STOP_WORDS.has(&token.lower) || data::FUNCTION_WORDS.has(&token.lower) {
            continue;
        }
        // What Japanese writes by single letters ties words together.
        if Script::of(token.lower.chars().next().unwrap_or_default()) == Script::Kana
            && token.lower.chars().count() == 1
        {
            continue;
        }
        // What Korean ties to a word's end changes ("항공편을", "항공편도"): the pairs of its first half stay.
        let letters: Vec<char> = token.lower.chars().collect();
        if letters.len() > 1 && letters.iter().all(|letter| Script::of(*letter) == Script::Hangul) {
            let pairs = letters.windows(2).take(letters.len() / 2);
            found.extend(pairs.map(|pair| (at, Word::new(pair.iter().collect(), Vec::new(), None))));
            continue;
        }
        let senses = thesaurus::of_token(token).to_vec();
        let vector = meaning::of(&token.lower).or_else(|| of_senses(&senses));
        found.push((at, Word::new(token.stem.clone(), senses, vector)));
    }
    for (sense, from, to) in thesaurus::of_tokens(tokens) {
        let word = tokens.get(from..to).unwrap_or_default();
        if word.first().is_some_and(Token::is_han) {
            let key: String = word.iter().map(|token| token.lower.as_str()).collect();
            match found.iter_mut().find(|(_, word)| word.key == key) {
                Some((_, word)) => word.senses.push(sense),
                None => found.push((from, Word::new(key, vec![sense], of_senses(&[sense])))),
            }
        }
    }
    for (_, word) in &mut found {
        if word.vector.is_none() {
            word.vector = of_senses(&word.senses);
        }
    }
    found
}

/// A word of another language means what the name of its sense does.
fn of_senses(senses: &[SenseId]) -> Option<Vector> {
    let names: Vec<Vector> = senses
        .iter()
        .flat_map(|sense| thesaurus::sense(*sense).name.split(' '))
        .filter(|name| !data::STOP_WORDS.has(name))
        .filter_map(meaning::of)
        .collect();
    meaning::together(names.iter().map(|vector| (1.0, vector)))
}

/// What one tool says of itself. Words are places in [`SetTools::words`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    /// Words of the name, with how much each tells.
    pub(crate) name: Vec<(usize, f32)>,
    /// Words of the description and of the parameters, each once.
    pub(crate) told: Vec<(usize, f32)>,
    pub(crate) vector: Option<Vector>,
    /// What it does.
    pub(crate) does: Vec<SenseId>,
    /// Whether it looks something up, as far as its name or description tells.
    pub(crate) looks_up: bool,
    /// Whether it changes the world, as far as the senses of its name or description tell.
    pub(crate) acts: bool,
    /// What it must be given.
    pub(crate) needs: Vec<Need>,
    /// Words of what it gives: of its result where it says one, of its name, of its description.
    pub(crate) gives: [Vec<usize>; 3],
}

impl Said {
    /// Whether it sends something to somebody.
    pub(crate) fn sends(&self) -> bool {
        thesaurus::named("send").is_some_and(|send| self.does.contains(&send))
    }
}

/// What sort of value a parameter takes, as far as links go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// What stands for a thing elsewhere: an id, a code, a place in degrees. People seldom know it.
    Reference,
    Number,
    /// Words to pass on: a message, a text to translate.
    Content,
    /// Words that people say.
    Free,
}

/// Which of two a parameter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    First,
    Second,
}

impl Side {
    /// What the words of a name say.
    fn of(name: &[String]) -> Option<Side> {
        let says = |list: &data::WordSet| name.iter().any(|word| list.has(word));
        match () {
            () if says(&data::FIRST_OF_TWO) => Some(Side::First),
            () if says(&data::SECOND_OF_TWO) => Some(Side::Second),
            () => None,
        }
    }
}

/// A parameter of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Need {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) sort: Sort,
    /// Whether it is where something begins or where it ends, or the first or the second of two; `None` where it is neither.
    pub(crate) side: Option<Side>,
    /// Words of its name and description that say what it is, with how much each tells.
    pub(crate) words: Vec<(usize, f32)>,
}

/// Stems of [`data::LOOK_UP_VERBS`].
static LOOK_UP_STEMS: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| data::LOOK_UP_VERBS.words().map(words::stem).collect());

fn sort(param: &Param, name: &[String]) -> Sort {
    let last = name.last().map_or("", String::as_str);
    let kind = param.schema.as_ref().and_then(|schema| schema.get("type")).and_then(Value::as_str).unwrap_or_default();
    match () {
        () if data::REFERENCES.has(last) => Sort::Reference,
        () if matches!(kind, "number" | "integer" | "float" | "double" | "int") => Sort::Number,
        () if data::CONTENTS.has(last) => Sort::Content,
        () => Sort::Free,
    }
}

/// A tool that says a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holder {
    pub(crate) tool: usize,
    /// What the word counts in its name, and in what it tells of itself; nothing where it is not there.
    pub(crate) name: f32,
    pub(crate) told: f32,
}

/// The tools of a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct SetTools {
    pub(crate) words: Vec<Word>,
    /// How much each word tells: the fewer tools say it, the more.
    pub(crate) rarity: Vec<f32>,
    pub(crate) tools: Vec<Said>,
    /// Who says each word, with what it counts there.
    pub(crate) holders: Vec<Vec<Holder>>,
    places: HashMap<String, usize>,
}

/// A list of fewer tools is short: most of it is meant, and its words tell as much as if so many were there, since those of an only tool
/// would all be common.
pub(super) const SHORT: usize = 10;

impl SetTools {
    pub(crate) fn place(&self, key: &str) -> Option<usize> {
        self.places.get(key).copied()
    }

    pub(crate) fn new(tools: &[Tool]) -> SetTools {
        let mut set = SetTools::default();
        let spoken: FxHashSet<String> = tools
            .iter()
            .flat_map(|tool| {
                let params =
                    tool.params.iter().flat_map(|param| [words::spell_out(&param.name), param.description.clone()]);
                std::iter::once(tool.description.clone()).chain(params)
            })
            .flat_map(|text| {
                let words = words::lowers(&text).filter(|word| word.len() > 3 && word.is_ascii());
                words.chain(latin_runs(&text)).collect::<Vec<_>>()
            })
            .collect();
        let mut counts: Vec<usize> = Vec::new();
        let mut read: Vec<Raw> = Vec::new();
        for tool in tools {
            let name = split::words_of(&tool.name, &spoken).join(" ");
            let name_tokens = words::tokens(&name);
            let mut place = |word: Word| {
                let places = &mut set.places;
                let words = &mut set.words;
                *places.entry(word.key.clone()).or_insert_with(|| {
                    words.push(word);
                    words.len() - 1
                })
            };
            let named: Vec<usize> = words::distinct(words_of(&name_tokens).into_iter().map(|(_, word)| place(word)));
            let mut told = words_of(&words::tokens(&tool.description));
            for param in &tool.params {
                told.extend(words_of(&words::tokens(&words::spell_out(&param.name))));
            }
            let told: Vec<usize> = words::distinct(told.into_iter().map(|(_, word)| place(word)));
            let result = tool.output_schema.as_ref().map(described).unwrap_or_default();
            let result: Vec<usize> =
                words_of(&words::tokens(&words::spell_out(&result))).into_iter().map(|(_, word)| place(word)).collect();
            let mut needs = Vec::new();
            for param in &tool.params {
                let name: Vec<String> = split::words_of(&param.name, &spoken);
                let sort = sort(param, &name);
                let told: Vec<String> =
                    name.iter().filter(|word| !data::REFERENCE_FILLERS.has(word)).cloned().collect();
                let named = words_of(&words::tokens(&told.join(" ")));
                let described = words_of(&words::tokens(&param.description));
                let mut said: Vec<(usize, f32)> = named.into_iter().map(|(_, word)| (place(word), 1.0)).collect();
                for (_, word) in described.into_iter().filter(|(_, word)| !data::REFERENCE_FILLERS.has(&word.key)) {
                    let at = place(word);
                    if said.iter().all(|(other, _)| *other != at) {
                        said.push((at, 0.5));
                    }
                }
                // "Finds the code of a station" for `station_code`.
                if let Some(last) = name.last().filter(|_| sort == Sort::Reference) {
                    let word = words_of(&words::tokens(last)).into_iter().next();
                    let at = word.map(|(_, word)| place(word));
                    let at = at.filter(|at| said.iter().all(|(other, _)| other != at));
                    said.extend(at.map(|at| (at, REFERRED)));
                }
                let side = Side::of(&name);
                needs.push(Need { name: name.concat(), required: param.required, sort, side, words: said });
            }
            counts.resize(set.words.len(), 0);
            for at in words::distinct(named.iter().chain(&told).copied()) {
                if let Some(count) = counts.get_mut(at) {
                    *count += 1;
                }
            }
            let acts = |token: Option<&Token>| -> Vec<SenseId> {
                let senses = token.map_or(&[][..], thesaurus::of_token);
                senses.iter().copied().filter(|sense| thesaurus::is_a(*sense, Part::Action)).collect()
            };
            // "flight_search": where a name begins with what it is about, the next word says what is done.
            let by_first = acts(name_tokens.first());
            let by_name = if by_first.is_empty() { acts(name_tokens.get(1)) } else { by_first.clone() };
            let does = if by_name.is_empty() { acts(words::tokens(&tool.description).first()) } else { by_name };
            let acts = does.iter().any(|sense| data::ACTING_SENSES.has(thesaurus::sense(*sense).name));
            // "Finds a car park": the third person looks up as well.
            let first = |text: &[Token]| {
                text.first()
                    .is_some_and(|token| data::LOOK_UPS.has(&token.lower) || LOOK_UP_STEMS.contains(&token.stem))
            };
            let by_second =
                by_first.is_empty() && name_tokens.get(1).is_some_and(|token| data::LOOK_UPS.has(&token.lower));
            let looks_up = first(&name_tokens)
                || by_second
                || name_tokens.last().is_some_and(|token| {
                    words::listed("search lookup suggestions suggest list autocomplete", &token.lower)
                })
                || first(&words::tokens(&tool.description));
            read.push(Raw { named, told, does, looks_up, acts: acts && !looks_up, needs, result });
        }
        set.holders.resize(set.words.len(), Vec::new());
        let among = tools.len().max(SHORT);
        set.rarity = counts.iter().map(|count| words::rarity(among, *count)).collect();
        for Raw { named, told, does, looks_up, acts, needs, result } in read {
            let weigh = |at: usize| {
                let word = set.words.get(at).map_or("", |word| word.key.as_str());
                let scale = if data::PALE_STEMS.has(word) { PALE } else { 1.0 };
                (at, scale * set.rarity.get(at).copied().unwrap_or_default())
            };
            let name: Vec<(usize, f32)> = named.into_iter().map(weigh).collect();
            let told: Vec<(usize, f32)> = told.into_iter().map(weigh).collect();
            let vector_of = |at: &usize| set.words.get(*at).and_then(|word| word.vector.as_ref());
            let weighed =
                name.iter().map(|(at, weight)| (at, 2.0 * weight)).chain(told.iter().map(|(at, weight)| (at, *weight)));
            let vector = meaning::together(weighed.filter_map(|(at, weight)| Some((weight, vector_of(at)?))));
            let places = |words: &[(usize, f32)]| words.iter().map(|(at, _)| *at).collect();
            let gives = [result, places(&name), places(&told)];
            let tool = set.tools.len();
            let none = Holder { tool, name: 0.0, told: 0.0 };
            let mut hold = |at: usize, name: f32, told: f32| {
                let Some(holders) = set.holders.get_mut(at) else { return };
                if holders.last().is_none_or(|last| last.tool != tool) {
                    holders.push(none);
                }
                if let Some(last) = holders.last_mut() {
                    (last.name, last.told) = (last.name.max(name), last.told.max(told));
                }
            };
            name.iter().for_each(|(at, weight)| hold(*at, *weight, 0.0));
            told.iter().for_each(|(at, weight)| hold(*at, 0.0, *weight));
            set.tools.push(Said { name, told, vector, does, looks_up, acts, needs, gives });
        }
        set
    }
}

struct Raw {
    named: Vec<usize>,
    told: Vec<usize>,
    does: Vec<SenseId>,
    looks_up: bool,
    acts: bool,
    needs: Vec<Need>,
    result: Vec<usize>,
}

/// Names and descriptions of what a schema describes, as text.
fn described(schema: &Value) -> String {
    let mut text = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (name, own) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        text.push(' ');
        text.push_str(name);
        text.push(' ');
        text.push_str(&described(own));
    }
    if let Some(items) = schema.get("items") {
        text.push(' ');
        text.push_str(&described(items));
    }
    text
}

/// What the word for a reference counts beside the words that say of what it is.
const REFERRED: f32 = 0.25;
/// What a word such as "get" or "search" counts beside another.
const PALE: f32 = 0.4;
