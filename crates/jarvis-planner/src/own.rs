//! Tools that a user brings, with JSON Schemas: which of them a clause asks for, and its arguments.
//!
//! [`lex`] reads words and typed values, [`field`] what each parameter takes, [`fill`] gives each word to one parameter at most. A
//! tool is taken only where the clause says what it does; where two fit alike, neither is. It is called only when each other word
//! of the clause is its own or holds the sentence together: a word that nothing takes may be the point of the request.

mod aside;
mod choices;
pub(crate) mod clauses;
mod dates;
mod field;
mod fill;
mod glue;
mod lex;
mod objects;
mod order;
mod phrases;
mod typed;

use std::collections::HashSet;

use jarvis_plan::{Effect, Tool};
use serde_json::Value;

use crate::data;
use crate::thesaurus::{self, Part};
use crate::words;

use field::Field;
use fill::{Filled, is_small};
use lex::{What, Word};

/// True for a tool that somebody brought: it says by JSON Schemas what it takes, and what it gives.
pub(crate) fn is_own(tool: &Tool) -> bool {
    !tool.outputs.is_empty() && tool.example.is_some() && tool.params.iter().all(|param| param.schema.is_some())
}

/// The tools, with what a schema leaves open made plain: one that changes something and requires nothing is not called half
/// empty, so that each text that it takes, and that has no default, is needed.
pub(crate) fn needing(tools: &[Tool]) -> Vec<Tool> {
    let mut tools = tools.to_vec();
    for tool in tools.iter_mut().filter(|tool| is_own(tool)) {
        if tool.effect == Effect::Reads || tool.params.iter().any(|param| param.required) {
            continue;
        }
        for param in &mut tool.params {
            param.required = Field::of(param, false).is_needed();
        }
    }
    tools
}

/// What a tool says of itself, read once.
pub(crate) struct Own {
    /// Its place in the list.
    pub(crate) tool: usize,
    /// What stands before the last part of its name: a server, a namespace.
    full: Vec<String>,
    /// Stems of the last part of its name.
    name: Vec<String>,
    /// Whether the name begins with what is done.
    verb: bool,
    does: Vec<thesaurus::SenseId>,
    things: Vec<thesaurus::SenseId>,
    told: Vec<String>,
    /// Stems with which the description begins, up to what they are about: "moves or renames".
    deeds: Vec<String>,
    words: HashSet<String>,
    writes: bool,
    /// Whether it says that its days are those of a calendar.
    dated: bool,
    /// Whether its schema requires nothing, and [`needing`] said what a call needs.
    open: bool,
}

impl Own {
    /// Whether a word is what the tool does.
    pub(crate) fn acts_as(&self, token: &words::Token) -> bool {
        self.verb && self.name.first() == Some(&token.stem)
    }

    pub(crate) fn new(at: usize, tool: &Tool, open: bool) -> Own {
        let last = tool.name.rsplit(['/', '.', ':']).next().unwrap_or(&tool.name);
        let tokens = words::tokens(&words::spell_out(last));
        let name: Vec<String> = tokens.iter().map(|token| token.stem.clone()).collect();
        let description = tool.description.split(" Use it when ").next().unwrap_or_default();
        let told: Vec<words::Token> = words::tokens(description);
        let verb = tokens.first().is_some_and(|first| {
            let acts = data::ORDER_VERBS.has(&first.lower) || words::listed(VERBS, &first.lower);
            // "order_status" orders nothing, unless the description says so.
            let thing = words::listed("order flight mail text note", &first.lower);
            let said = told.first().is_some_and(|told| told.stem == first.stem);
            thesaurus::is_verb(first) || tokens.len() > 1 && acts && (!thing || said)
        });
        let senses = |tokens: &[words::Token], part: Part| -> Vec<thesaurus::SenseId> {
            let of = thesaurus::of_tokens(tokens).into_iter().map(|(sense, _, _)| sense);
            words::distinct(of.filter(|sense| thesaurus::is_a(*sense, part)))
        };
        let does = match verb {
            true => senses(tokens.get(..1).unwrap_or_default(), Part::Action),
            false => senses(told.get(..1).unwrap_or_default(), Part::Action),
        };
        let mut things = senses(tokens.get(usize::from(verb)..).unwrap_or_default(), Part::Thing);
        things.extend(senses(told.get(1..).unwrap_or_default(), Part::Thing));
        let content =
            |token: &&words::Token| !data::STOP_WORDS.has(&token.lower) && !data::FUNCTION_WORDS.has(&token.lower);
        let told: Vec<String> = words::distinct(told.iter().filter(content).map(|token| token.stem.clone()));
        let about = |token: &words::Token| {
            token.is_determiner() || words::listed("for of in to one from with the a an", &token.lower)
        };
        let deeds =
            words::tokens(description).into_iter().take_while(|token| !about(token)).map(|token| token.stem).collect();
        let words = name.iter().chain(&told).cloned().collect();
        let full = words::stems(&words::spell_out(&tool.name));
        let (writes, dated) = (tool.effect != Effect::Reads, tool.description.contains("YYYY-MM-DD"));
        Own { tool: at, full, name, verb, does, things, told, deeds, words, writes, dated, open }
    }
}

impl Own {
    /// Stems of what its name says that it works on.
    fn nouns(&self) -> impl Iterator<Item = &String> {
        self.name.iter().skip(usize::from(self.verb))
    }

    /// Whether a word is the tool's name: `find_article`.
    fn is_named(&self, word: &str) -> bool {
        let spelled = || words::stems(&words::spell_out(word));
        word.contains(['_', '.', '/', '-']) && word.len() > 3 && [&self.name, &self.full].contains(&&spelled())
    }

    /// Whether a word is one that services use for what this tool does.
    fn is_alike(&self, word: &Word) -> bool {
        let verb = self.name.first().filter(|_| self.verb);
        ALIKE.iter().any(|list| {
            let among = |stem: &str| list.split(' ').any(|word| words::stem(word) == stem);
            word.keys.iter().any(|key| among(key))
                && (verb.is_some_and(|verb| among(verb)) || self.deeds.first().is_some_and(|stem| among(stem)))
        })
    }
}

/// Verbs that names begin with, beside those of the thesaurus.
const VERBS: &str = "add create set get list lock unlock assign close open move copy make start stop turn put post update remove \
    delete insert append fetch read write run query lookup mark archive rename upload download count show reply log";

/// Verbs that say only that something is wanted of the tool that follows.
pub(crate) const ASKS: &str = "show get give tell check list find look see display want need use call run invoke try fetch what search query \
    read view let print return retrieve know покажи найди узнай проверь скажи дай вызови используй 查 查询 查看 查找 显示 告诉";

/// Verbs that services use for one another.
const ALIKE: &[&str] = &[
    "update set change modify edit mark put patch adjust",
    "create add make open new register start file raise log insert",
    "delete remove cancel drop erase clear",
    "send post write message mail email text share publish",
    "buy order purchase get",
    "book reserve schedule arrange make",
    "find search look get show list",
    "stop end close finish turn",
    "turn switch",
];

/// A call that a clause asks for.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: usize,
    /// Arguments of each call, in the order of the parameters.
    pub(crate) rows: Vec<Vec<(String, Value)>>,
    /// Values of the clause that no parameter takes.
    pub(crate) left: Vec<String>,
    pub(crate) writes: bool,
    /// Why the tool is not to be called for this clause, although it is meant.
    pub(crate) against: Option<String>,
    /// Whether what it needs is what the planner says rather than the schema.
    pub(crate) open: bool,
    /// Words that nothing explains, as they were written.
    pub(crate) strange: Vec<String>,
    /// How plainly the clause says the tool.
    pub(crate) score: f32,
}

/// What a clause means to own tools.
#[derive(Debug, Clone)]
pub(crate) enum Meant {
    Call(Call),
    /// Tools that fit alike.
    Equal(Vec<usize>),
    Nothing,
}

/// The least that the words of a clause must say for a tool.
const LEAST: f32 = 1.0;
/// The most words of a clause that are read: an order is short.
const MOST_WORDS: usize = 300;
/// What the best must be ahead of the next.
const AHEAD: f32 = 0.15;

/// What a part of a request asks of the own tools.
fn read(request: &str, start: usize, end: usize, own: &[Own], tools: &[Tool], all: &[Word]) -> Meant {
    let mut words = lex::read(request, start, end);
    words.truncate(MOST_WORDS);
    mend(&mut words, own);
    let mut found: Vec<(f32, Call)> = Vec::new();
    for one in own {
        let Some(tool) = tools.get(one.tool) else { continue };
        let files = one.name.iter().any(|stem| words::listed("file directori folder path document", stem));
        let fields: Vec<Field<'_>> = tool.params.iter().map(|param| Field::of(param, files)).collect();
        let Some(evidence) = evidence(&words, one, &fields, request) else { continue };
        let others = own.iter().filter(|other| other.tool != one.tool).flat_map(Own::nouns);
        let others = others.filter(|noun| !one.words.contains(*noun)).cloned().collect();
        let filled = fill::fill(request, &words, end, &fields, one, &others);
        let required = fields.iter().filter(|field| field.param.required).count().max(1) as f32;
        let given =
            fields.iter().zip(&filled.slots).filter(|(field, slot)| field.param.required && slot.is_some()).count();
        let fit = given as f32 / required - 0.3 * filled.left.len() as f32 - 0.1 * filled.strange.len() as f32;
        let score = evidence + 0.6 * fit;
        let said = order::Said { request, all, words: &words, filled: &filled, one };
        let against = if one.writes { said.against().or_else(|| said.guesses()) } else { said.denied() };
        // "Plan the way: plan_trip from …": what stands before the name of a tool says why it is called.
        let named = words.iter().position(|word| one.is_named(&word.text)).unwrap_or(0);
        let strange = filled.strange.iter().filter(|at| **at >= named).filter_map(|at| words.get(*at));
        let strange = strange.map(|word| word.text.clone()).collect();
        found.push((score, Call { against, strange, ..call(one, &fields, filled, score) }));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let Some((best, call)) = found.first() else { return Meant::Nothing };
    if *best < LEAST {
        return Meant::Nothing;
    }
    // "Order 3 …": as an order it changes something, as a name it only shows; the words do not say which.
    if let Some(other) = doubtful(&words, call, own) {
        return Meant::Equal(vec![call.tool, other]);
    }
    let equal: Vec<usize> =
        found.iter().take_while(|(score, _)| best - score < AHEAD).map(|(_, call)| call.tool).collect();
    if equal.len() > 1 { Meant::Equal(equal) } else { Meant::Call(call.clone()) }
}

/// The tool that changes something and may be meant as well by a noun that is an order too, with a number behind it.
fn doubtful(words: &[Word], call: &Call, own: &[Own]) -> Option<usize> {
    let first = words.iter().find(|word| word.is_word() && !is_small(word))?;
    let next = words.iter().find(|word| word.start > first.start)?;
    let bare = matches!(next.what, What::Number(..) | What::Code(_)) && data::ORDER_VERBS.has(&first.lower);
    let led = words.first().is_some_and(|word| word.start == first.start || word.is("please"));
    let makes = |one: &&Own| {
        let verb = one.name.first().is_some_and(|verb| words::listed("place make creat order buy purchas", verb));
        one.writes && verb && one.name.iter().any(|stem| first.has(stem))
    };
    if call.writes || !bare || !led { None } else { own.iter().find(makes).map(|one| one.tool) }
}

/// Puts a word with one slip in it among those of the tool's word that was meant.
fn mend(words: &mut [Word], own: &[Own]) {
    for word in
        words.iter_mut().filter(|word| word.is_word() && !word.name && word.lower.is_ascii() && word.lower.len() > 4)
    {
        let known = |stem: &String| word.keys.contains(stem);
        if is_small(word) || acts(word) || own.iter().any(|own| own.words.iter().any(known)) {
            continue;
        }
        let near = |stem: &&String| {
            stem.len() > 3 && strsim::osa_distance(stem, word.keys.first().map_or("", String::as_str)) == 1
        };
        let meant: HashSet<&String> = own.iter().flat_map(|own| own.words.iter().filter(near)).collect();
        if let (1, Some(meant)) = (meant.len(), meant.into_iter().next()) {
            word.keys.push(meant.clone());
        }
    }
}

fn call(one: &Own, fields: &[Field<'_>], filled: Filled, score: f32) -> Call {
    let calls = filled.slots.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let several = filled.slots.iter().flatten().filter(|values| values.len() > 1).count() > 1;
    let mut left = filled.left;
    if several {
        left.push("several values of several kinds".to_owned());
    }
    let rows = (0..calls)
        .map(|row| {
            let value = |(field, slot): (&Field<'_>, &Option<Vec<Value>>)| {
                let values = slot.as_ref()?;
                let value = values.get(row).or(values.last())?.clone();
                Some((field.param.name.clone(), field.written(value)))
            };
            fields.iter().zip(&filled.slots).filter_map(value).collect()
        })
        .collect();
    Call { tool: one.tool, rows, left, writes: one.writes, against: None, open: one.open, strange: Vec::new(), score }
}

/// How plainly the words say the tool; `None` where they do not.
fn evidence(words: &[Word], one: &Own, fields: &[Field<'_>], request: &str) -> Option<f32> {
    let said: Vec<&Word> = words.iter().filter(|word| word.is_word()).collect();
    let speaks = |stem: &String| said.iter().any(|word| word.has(stem));
    if explicit(words, one, request) {
        return Some(3.0 + 0.1 * one.full.len() as f32);
    }
    let nouns = one.name.get(usize::from(one.verb)..).unwrap_or_default();
    let first = said.iter().position(|word| !is_small(word)).and_then(|at| said.get(at)).copied();
    let senses: Vec<thesaurus::SenseId> = said_senses(words);
    let shares = |of: &[thesaurus::SenseId]| of.iter().any(|sense| senses.contains(sense));
    let verb_said = one.verb && one.name.first().is_some_and(speaks);
    let names_it = first.is_some_and(|first| nouns.iter().any(|stem| first.has(stem)));
    let told = first.is_some_and(|first| acts(first) && one.deeds.iter().any(|stem| first.has(stem))) && !names_it;
    let thing = shares(&one.things);
    // "Email Bob", "text Ann": what is sent is what is done.
    let verbal = first.is_some_and(|first| {
        first.is("email e-mail mail text message invoice bill phone")
            && said.first().is_some_and(|word| word.start == first.start)
    });
    // "Renew loan 88": the name's own first word is what is to be done, whatever the word.
    let opens = first.is_some_and(|first| {
        let led = words.iter().take_while(|word| word.start < first.start).last();
        let of = thesaurus::of_stem(first.keys.first().map_or("", String::as_str));
        let noun = !of.is_empty() && of.iter().all(|id| thesaurus::is_a(*id, Part::Thing));
        !noun
            && one.name.first().is_some_and(|stem| first.has(stem))
            && !led.is_some_and(|word| word.is("the a an my our your this that of for"))
    });
    let alike = first.is_some_and(|first| one.is_alike(first));
    let does: f32 = match () {
        () if verb_said || opens => 1.0,
        () if told => 0.85,
        () if shares(&one.does) || alike => 0.7,
        () if verbal && (names_it || thing) => 0.7,
        () => 0.0,
    };
    // A verb that the tool does not know asks for something else.
    let order = first.is_some_and(acts) && !names_it;
    let asks = first.is_none_or(|word| word.is(ASKS) || !order);
    // A tool that changes something must be told to; one that reads may also be asked for.
    if does == 0.0 && (!asks || one.writes) {
        return None;
    }
    let rarely = |stem: &&String| !data::STOP_WORDS.has(stem);
    let spoken = nouns.iter().filter(rarely).filter(|stem| speaks(stem)).count();
    let described = one.told.iter().filter(|stem| !one.name.contains(stem)).filter(|stem| speaks(stem)).count();
    let share = if nouns.is_empty() { 0.0 } else { spoken as f32 / nouns.len() as f32 };
    let about = share + if thing { 0.5 } else { 0.0 } + 0.35 * described.min(3) as f32;
    let names = fields.iter().flat_map(|field| &field.name).filter(|stem| speaks(stem)).count();
    let enums = fields.iter().filter(|field| matches!(&field.sort, field::Sort::Enum(options) if options.iter().any(|option| speaks(&words::stem(&jarvis_plan::text_of(option).to_lowercase()))))).count();
    let sums = fields.iter().any(|field| field.sort == field::Sort::Expression) && sums(words);
    let pairs = forms(words, fields);
    let noun = if one.verb {
        0.0
    } else if share > 0.0 {
        0.5
    } else if thing {
        0.3
    } else {
        0.0
    };
    let score = does.max(noun)
        + about
        + 0.15 * names.min(3) as f32
        + 0.15 * enums as f32
        + if sums || pairs { 1.2 } else { 0.0 };
    // Something of the thing must be said, unless the verb is all there is to say.
    let bare = nouns.is_empty() || fields.iter().any(|field| field.sort == field::Sort::Query) && verb_said;
    (about > 0.0 || sums || pairs || names > 0 || bare && does > 0.0 || typed_for(words, fields) && does >= 0.7)
        .then_some(score)
}

/// Whether a value stands there of a form that only few parameters take, and this tool has one.
fn typed_for(words: &[Word], fields: &[Field<'_>]) -> bool {
    words.iter().any(|word| {
        fields.iter().any(|field| {
            matches!(
                (&word.what, &field.sort),
                (What::Email, field::Sort::Email)
                    | (What::Path, field::Sort::Path)
                    | (What::Code(_), field::Sort::Code)
                    | (What::Quote(_), field::Sort::Content)
            ) || word.is_word()
                && (field.sort == field::Sort::Language && fill::is_language(word)
                    || field.sort == field::Sort::Currency && fill::currency(&word.text).is_some())
        })
    })
}

/// Whether two currencies, or two units, stand there for a tool that takes two.
fn forms(words: &[Word], fields: &[Field<'_>]) -> bool {
    let takes = |sort: field::Sort| fields.iter().filter(|field| field.sort == sort).count() >= 2;
    let said = |of: &dyn Fn(&Word) -> bool| words.iter().filter(|word| word.is_word() && of(word)).count() >= 2;
    takes(field::Sort::Currency) && said(&|word| fill::currency(&word.text).is_some())
        || takes(field::Sort::Unit) && said(&|word| fill::is_unit(&word.lower))
}

fn acts(word: &Word) -> bool {
    data::ORDER_VERBS.has(&word.lower)
        || words::listed(VERBS, &word.lower)
        || words::tokens(&word.lower).first().is_some_and(thesaurus::is_verb)
}

fn said_senses(words: &[Word]) -> Vec<thesaurus::SenseId> {
    let text: Vec<&str> = words.iter().filter(|word| word.is_word()).map(|word| word.text.as_str()).collect();
    let tokens = words::tokens(&text.join(" "));
    let said = thesaurus::of_tokens(&tokens).into_iter().map(|(sense, _, _)| sense);
    // What a slip or another language stands for.
    let meant = words.iter().flat_map(|word| word.keys.iter().skip(1)).flat_map(|key| thesaurus::of_stem(key)).copied();
    words::distinct(said.chain(meant))
}

fn sums(words: &[Word]) -> bool {
    let number = |word: &Word| matches!(word.what, What::Number(..));
    words.iter().filter(|word| number(word)).count() >= 2
        && words.iter().any(|word| word.mark().is_some_and(|mark| "+*/^%×÷-".contains(mark)))
        && words.iter().filter(|word| word.is_word() && !is_small(word)).count() <= 2
}

/// Whether the clause writes the tool's name: `find_article`, "find article" in full behind "use" or "call".
fn explicit(words: &[Word], one: &Own, request: &str) -> bool {
    let text = match (words.first(), words.last()) {
        (Some(first), Some(last)) => words::slice(request, first.start, last.end).to_lowercase(),
        _ => return false,
    };
    let last = one.name.join(" ");
    let whole = text.split(|c: char| c.is_whitespace() || ",;:()\"'`“”".contains(c));
    let named = whole.into_iter().any(|word| one.is_named(word.trim_end_matches(['.', '?', '!'])));
    let mut after = words.iter().skip_while(|word| !word.is("use using call run invoke вызови используй 调用 使用 用"));
    let called = after.next().is_some() && {
        let stems: Vec<&str> = after
            .clone()
            .filter(|word| !word.is("the tool"))
            .filter_map(|word| word.keys.first().map(String::as_str))
            .take(one.name.len())
            .collect();
        stems.join(" ") == last
    };
    named || called
}
