//! How well a value of a clause suits a parameter, and what of a phrase is the value.

use jarvis_plan::{Tool, is_cyrillic, is_han};

use super::found::{Found, Shape, is_cue};
use super::phrases::{WHOLE, starts_upper};
use super::wants::{Sort, Want, same};
use crate::clauses::Clause;
use crate::data;
use crate::words::{self, Token, listed, slice};

#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) score: f32,
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Candidate {
    /// "buy milk by tomorrow": the day at its end is a value of its own.
    pub(super) fn cut_date(&mut self, found: &[Found]) {
        let typed = |value: &&Found| matches!(value.shape, Shape::Date | Shape::Time);
        let Some(day) = found.iter().filter(typed).find(|day| day.start > self.start && day.end == self.end) else {
            return;
        };
        let kept = self.text.get(..day.start - self.start).unwrap_or_default().trim_end();
        let kept = kept.rsplit_once(' ').filter(|(_, last)| is_cue(last)).map_or(kept, |(kept, _)| kept.trim_end());
        if !kept.is_empty() {
            self.end = self.start + kept.len();
            self.text = kept.to_owned();
        }
    }
}

pub(super) fn tool_nouns(tool: &Tool) -> Vec<String> {
    words::stems(&words::spell_out(&tool.name))
}

pub(super) fn candidates(
    want: &Want,
    tool: &[String],
    found: &[Found],
    clause: &Clause,
    request: &str,
) -> Vec<Candidate> {
    let mut fits: Vec<Candidate> = Vec::new();
    for value in found {
        let phrase = value.shape == Shape::Words;
        let trimmed = if phrase { trim(want, tool, value, clause, request) } else { Some((value.start, value.end)) };
        let Some((start, end)) = trimmed else { continue };
        let text = if phrase { slice(request, start, end).to_owned() } else { value.text.clone() };
        let score = weigh(want, tool, value, &text, clause);
        if score > 0.0 {
            fits.push(Candidate { score, text, start, end });
        }
    }
    fits.extend(by_example(want, found, clause, request));
    fits
}

fn weigh(want: &Want, tool: &[String], value: &Found, text: &str, clause: &Clause) -> f32 {
    let Some(base) = by_shape(want, value) else { return 0.0 };
    let searched = want.name.iter().any(|word| listed("queri search keyword question", word));
    if value.cue == WHOLE {
        return if searched {
            base + 0.65 + f32::from(u8::try_from(text.len()).unwrap_or(u8::MAX)) * 0.0004
        } else {
            0.0
        };
    }
    let mut score = base;
    if want.shape == Some(Shape::Number) {
        match (&value.measure, &want.measure) {
            (Some(said), Some(wanted)) => {
                // A number of metres is no price.
                let Some(suits) = said.suits(wanted) else { return 0.0 };
                score += 0.3 * suits;
                score += said.is_named(&want.name).map_or(0.0, |named| if named { 0.3 } else { -0.2 });
            }
            (Some(_), None) => score -= 0.1,
            // Nor is the year of "in 2023".
            (None, Some(_)) if is_year(value) => return 0.0,
            (None, Some(_)) => score -= 0.2,
            (None, None) => {}
        }
        // "Under 110" is the most that something may cost, and no number of nights; "over 10 people" is one of people.
        let led = |list: &str| value.before.first().is_some_and(|word| listed(list, word));
        let (most, least) =
            (led("under below") || led("than") && is_less(value), led("over abov") || led("than") && !is_less(value));
        if (most || least) && value.measure.is_none() {
            let is = |list: &str| want.name.iter().any(|word| listed(list, word));
            let counted = value.after.as_deref().is_some_and(|word| listed(COUNTED, word));
            if is(COUNTED) && !counted {
                return 0.0;
            }
            score += match () {
                () if most && is("max limit budget") || least && is("min") => 0.3,
                () if most && is("min") || least && is("max") => -0.3,
                () if is("price") => 0.2,
                () => 0.0,
            };
        }
    }
    // What is to be passed on is the object or stands after "saying", "about", "with".
    if want.sort == Sort::Content && value.shape == Shape::Words && !value.cue.is_empty() && !want.follows(&value.cue) {
        return 0.0;
    }
    // "To Linz" is no origin, and "from Graz" no destination.
    let is = |list: &str| want.name.iter().any(|word| listed(list, word));
    let begins = is("origin departur") && listed("to into towards до к 到 去 往", &value.cue);
    let ends = is("destin arriv") && listed("from из от с 从", &value.cue);
    if begins || ends {
        return 0.0;
    }
    let words = matches!(value.shape, Shape::Words | Shape::Quote | Shape::Path | Shape::Address);
    let quantity =
        want.shape.is_none() && matches!(value.shape, Shape::Number | Shape::Date | Shape::Time | Shape::Phone);
    let naming = listed("named called titled entitled", &value.cue);
    if want.follows(&value.cue) && !quantity {
        let plainly = want.sort == Sort::Topic && matches!(value.cue.as_str(), "about" | "regarding" | "concerning");
        score += if plainly || want.cues.contains(&value.cue) { 0.4 } else { 0.35 };
    } else if want.object && value.cue.is_empty() && words && want.sort != Sort::Deed {
        score += if want.sort == Sort::Topic { 0.3 } else { 0.4 };
    } else if want.object
        && want.sort == Sort::Thing
        && value.shape == Shape::Words
        && listed("for of about для о", &value.cue)
        && value.before.get(1).is_some_and(|stem| tool.contains(stem) && !want.names(stem))
    {
        // "a recipe for apple pie" where the dish is wanted.
        score += 0.3;
    } else if want.object && naming && words {
        score += 0.3;
    }
    // "the movie 'Up'", "an amount of 500": the parameter's own name stands beside the value or in it.
    let inside = |own: &dyn Fn(&str) -> bool| {
        value.shape == Shape::Words
            && (want.sort != Sort::Person || starts_upper(text))
            && (clause.tokens.iter().any(|t| t.start >= value.start && t.end <= value.end && own(&t.stem))
                // "BankA", "PublicLibrary".
                || text.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
                    && words::stems(&words::spell_out(text)).iter().any(|stem| own(stem)))
    };
    let near = value.before.iter().chain(&value.after);
    let named = |stem: &str| want.names(stem);
    if near.clone().any(|stem| named(stem)) || inside(&named) {
        score += if naming && words { 0.5 } else { 0.3 };
    } else if near.clone().any(|word| want.meaning.contains(word)) {
        // Half of that for the words that explain it.
        score += 0.12;
    } else if want.sort == Sort::Name
        && matches!(value.shape, Shape::Quote | Shape::Path)
        && near.clone().any(|stem| tool.contains(stem))
    {
        score += 0.2;
    }
    // "人工智能的新闻".
    if !searched
        && value.after.as_deref() == Some("的")
        && value.cue.is_empty()
        && matches!(want.sort, Sort::Topic | Sort::Thing)
    {
        score += 0.2;
    }
    if value.shape == Shape::Words {
        let capital = starts_upper(text);
        let titled = text.split([' ', '.']).next().is_some_and(|first| data::TITLES.has(&first.to_lowercase()));
        score += match want.sort {
            Sort::Person if titled => 0.3,
            Sort::Person if capital || !text.is_ascii() => 0.05,
            Sort::Person => -0.15,
            _ if titled => -0.3,
            Sort::Place if value.cue.is_empty() && (capital || text.chars().all(is_han)) => 0.15,
            Sort::Place if capital && want.follows(&value.cue) => 0.1,
            Sort::Name if listed("in from to by в из", &value.cue) => -0.3,
            Sort::Name if capital => 0.15,
            Sort::Means | Sort::Place if !capital && text.is_ascii() => -0.05,
            _ => 0.0,
        };
        // The longer reading for what something is about, the shorter one for names.
        let length = f32::from(u8::try_from(text.len()).unwrap_or(u8::MAX)) * 0.0004;
        score += if matches!(want.sort, Sort::Topic | Sort::Content) { length } else { -length };
        // "to the passport office" is no country of a passport.
        let foreign = |token: &Token| tool.contains(&token.stem) && !want.names(&token.stem);
        let other =
            clause.tokens.iter().any(|t| t.start >= value.start && t.end <= value.start + text.len() && foreign(t));
        if other && !capital && matches!(want.sort, Sort::Place | Sort::Person | Sort::Means) {
            score -= 0.2;
        }
    }
    score
}

/// "Less than 110", "cheaper than 110".
fn is_less(value: &Found) -> bool {
    value.before.get(1).is_some_and(|word| listed("less fewer cheaper lower", word))
}

/// Stems of what a booking is for so many of.
const COUNTED: &str = "night day guest person peopl adult child children room passeng seat ticket";

/// "In 2023", "since 1998".
fn is_year(value: &Found) -> bool {
    let number = &value.text;
    let led = value.before.first().is_some_and(|word| listed("in sinc until of from by year", word));
    led && number.len() == 4 && number.parse().is_ok_and(|year: u16| (1900..2100).contains(&year))
}

fn by_shape(want: &Want, value: &Found) -> Option<f32> {
    let is = |list: &str| want.name.iter().any(|word| listed(list, word));
    let score = match (want.shape, value.shape) {
        (Some(Shape::Number), Shape::Number) if is("year") => {
            return (value.text.len() == 4).then_some(0.6);
        }
        (Some(want), shape) if want == shape => 0.6,
        (Some(Shape::Date), Shape::Time) | (Some(Shape::Time), Shape::Date) => 0.1,
        (Some(Shape::Phone), Shape::Number) if value.text.len() >= 3 => 0.25,
        (Some(Shape::Number), Shape::Phone) => 0.25,
        (Some(Shape::Url), Shape::Path | Shape::Quote) => 0.35,
        (Some(Shape::Url), Shape::Words) if value.text.contains('.') && !value.text.contains(' ') => 0.15,
        (Some(Shape::Number | Shape::Date | Shape::Time | Shape::Email), Shape::Quote) => 0.1,
        (Some(_), _) => return None,
        (None, Shape::Quote) if want.sort == Sort::Content => 0.45,
        (None, Shape::Quote) => 0.35,
        (None, Shape::Words) if want.sort == Sort::Deed => 0.1,
        (None, Shape::Words) => 0.2,
        (None, Shape::Address) if want.sort == Sort::Place => 0.6,
        (None, Shape::Address) => 0.15,
        (None, Shape::Deed) => match want.sort {
            Sort::Deed => 0.2,
            Sort::Content => 0.32,
            _ => return None,
        },
        (None, Shape::Email | Shape::Phone) if is("to recipi contact address ip receiv card account") => 0.5,
        (None, Shape::Path | Shape::Url) if is("file path document attach imag packag websit link") => 0.6,
        (None, Shape::Email | Shape::Url | Shape::Path) => 0.1,
        (None, Shape::Number | Shape::Phone) => 0.12,
        (None, Shape::Date | Shape::Time) if is("when schedul period start end until") => 0.35,
        (None, Shape::Date | Shape::Time) => return None,
    };
    Some(score)
}

/// The part of a phrase that is a value for the parameter; `None` when nothing of it is.
fn trim(want: &Want, tool: &[String], value: &Found, clause: &Clause, request: &str) -> Option<(usize, usize)> {
    let mut words: &[Token] = {
        let inside = |token: &&Token| token.start >= value.start && token.end <= value.end;
        let first = clause.tokens.iter().position(|token| inside(&token))?;
        let count = clause.tokens.iter().skip(first).take_while(inside).count();
        clause.tokens.get(first..first + count)?
    };
    let upper = |token: &Token| starts_upper(slice(request, token.start, token.end));
    let of_tool = |stem: &str| tool.iter().any(|word| word == stem || same(word, stem));
    let sort_word =
        |token: &Token| data::SORT_STEMS.has(&token.stem) || of_tool(&token.stem) || want.names(&token.stem);
    // "stock price of AAPL".
    if let Some(of) = words.iter().position(|token| token.lower == "of")
        && let (Some(before), Some(after)) = (words.get(..of), words.get(of + 1..))
        && !after.is_empty()
        && before.iter().all(|token| !upper(token) && (want.names(&token.stem) || of_tool(&token.stem)))
    {
        words = after;
    }
    // "the latest news", "movie Inception".
    while let [first, rest @ ..] = words {
        let generic = !upper(first) && data::BEFORE_NAMES.has(&first.lower) && want.sort != Sort::Topic;
        let stale = matches!(first.lower.as_str(), "latest" | "recent");
        // "treating my migraine".
        let doing = listed("treating curing discussing having getting doing making", &first.lower)
            && rest.first().is_some_and(Token::is_determiner)
            && rest.len() > 1;
        let beside = want.sort != Sort::Topic
            && !upper(first)
            && sort_word(first)
            && (rest.first().is_some_and(upper)
                || first.lower.chars().all(is_cyrillic)
                    && (!want.names(&first.stem) || data::NEVER_IN_NAMES.has(&first.stem)));
        if doing {
            words = rest.get(1..).unwrap_or_default();
        } else if (generic || stale || beside || first.is_determiner()) && !rest.is_empty() {
            words = rest;
        } else {
            break;
        }
    }
    // "Software Engineer position", "US passport".
    while let [rest @ .., last] = words {
        let Some(before) = rest.last() else { break };
        let name = rest.iter().rev().find(|token| !want.names(&token.stem)).is_some_and(upper);
        let own = want.names(&last.stem);
        let sorts = if own {
            name || data::NEVER_IN_NAMES.has(&last.stem)
        } else {
            of_tool(&last.stem) && (want.sort != Sort::Content || value.cue.is_empty())
                || name && data::SORT_STEMS.has(&last.stem)
                || data::NEVER_IN_NAMES.has(&last.stem)
                // "my Chase account" where the bank is wanted; "a reminder message" where its text is.
                || last.stem == "account"
                || last.stem == "messag" && value.cue.is_empty()
        };
        let left = rest.iter().any(|token| !hollow(want, tool, token));
        let joined = !last.is_han() && slice(request, before.end, last.start) != " ";
        if joined || upper(last) || last.is_han() && !of_tool(&last.stem) || !sorts || !left {
            break;
        }
        words = rest;
    }
    // "电影阿凡达", "美国护照".
    let pair = |two: &[Token]| two.iter().map(|token| token.lower.as_str()).collect::<String>();
    if let [a, b, rest @ ..] = words
        && a.is_han()
        && rest.len() > 1
        && (of_tool(&pair(&[a.clone(), b.clone()])) || want.names(&pair(&[a.clone(), b.clone()])))
    {
        words = rest;
    }
    if let [rest @ .., a, b] = words
        && b.is_han()
        && rest.len() > 1
        && of_tool(&pair(&[a.clone(), b.clone()]))
        && !want.names(&pair(&[a.clone(), b.clone()]))
    {
        words = rest;
    }
    let (first, last) = (words.first()?, words.last()?);
    let free = matches!(want.sort, Sort::Topic | Sort::Content | Sort::Place);
    // "phone bill" is a bill, whatever "phone" says elsewhere.
    let kind = words.len() > 1
        && want.name.contains(&last.stem)
        && want.object
        && !words.iter().any(|token| {
            want.name.contains(&token.stem) && token.start != last.start
                || of_tool(&token.stem) && !want.name.contains(&token.stem)
        });
    let is_named = kind
        || words.iter().any(|token| {
            let opening = slice(request, 0, token.start).trim_end().chars().next_back().is_none_or(|c| c == '.');
            // "a confirmation SMS": the text is to confirm.
            let gist =
                want.sort == Sort::Content && matches!(token.stem.as_str(), "confirm" | "notif" | "remind" | "report");
            let empty = hollow(want, tool, token)
                || (value.cue.is_empty() && (of_tool(&token.stem) || data::EMPTY_VALUES.has(&token.stem)) && !gist)
                || (words.len() == 1 && data::SORT_STEMS.has(&token.stem) && !free);
            (upper(token) && !opening && !want.names(&token.stem) && !of_tool(&token.stem)) || !empty
        });
    // "electricity bill" is a value for a bill and "credit card" alone is none for a card.
    // "Luigi's" ends after its last word.
    let whole = last.end < value.end && slice(request, last.end, value.end).starts_with(['\'', '’']);
    is_named.then_some((first.start, if whole { value.end } else { last.end }))
}

fn hollow(want: &Want, tool: &[String], token: &Token) -> bool {
    let free = matches!(want.sort, Sort::Topic | Sort::Content);
    want.nouns.contains(&token.stem)
        || (!free && tool.iter().any(|word| *word == token.stem || same(word, &token.stem)))
        || (!free && data::EMPTY_VALUES.has(&token.stem))
        || listed("of it them", &token.lower)
}

/// A value known by the examples of the description: "Uber" in "an Uber taxi"; or the order itself, "install".
fn by_example(want: &Want, found: &[Found], clause: &Clause, request: &str) -> Vec<Candidate> {
    let mut fits = Vec::new();
    let tokens = &clause.tokens;
    for example in &want.examples {
        for at in 0..tokens.len() {
            let (Some(first), Some(head)) = (tokens.get(at), example.first()) else { continue };
            if want.sort == Sort::Deed && example.len() > 1 && first.stem == *head {
                // "clean the floor" tells that a deed begins with "clean".
                let deed = found
                    .iter()
                    .find(|value| value.shape == Shape::Deed && value.start <= first.start && first.start < value.end);
                let end = deed.map_or(clause.end, |deed| deed.end);
                let text = slice(request, first.start, end).trim_end_matches(['.', ' ', ',']);
                fits.push(Candidate {
                    score: 0.9,
                    text: text.to_owned(),
                    start: first.start,
                    end: first.start + text.len(),
                });
                continue;
            }
            let Some(spoken) = tokens.get(at..at + example.len()) else { continue };
            if !spoken.iter().zip(example).all(|(token, word)| token.stem == *word) {
                continue;
            }
            let Some(last) = spoken.last() else { continue };
            let followed = tokens.get(at + example.len());
            // "electricity bill": the thing's own name belongs to it.
            let own =
                followed.filter(|next| next.start == last.end + 1 && want.name.contains(&next.stem) && want.object);
            let end = own.map_or(last.end, |own| own.end);
            // "transfer $500".
            let amount = found
                .iter()
                .find(|value| want.sort == Sort::Deed && value.shape == Shape::Number && value.start == last.end + 1);
            let end = amount.map_or(end, |amount| amount.end);
            let mut text = slice(request, first.start, end).to_owned();
            if want.sort == Sort::Deed {
                text = text.to_lowercase();
            }
            fits.push(Candidate { score: 0.95, text, start: first.start, end });
        }
    }
    fits
}
