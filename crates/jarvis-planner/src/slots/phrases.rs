//! Phrases of a clause: what an order is about, what stands after an introducing word, and what somebody is to do.

use super::found::{Found, Shape, add, is_cue};
use crate::clauses::Clause;
use crate::data;
use crate::words::grammar::{opens_with_order, strip_polite};
use crate::words::{Token, slice};
use jarvis_plan::is_cyrillic;

/// Stands for an introducing word where a phrase is given at its longest, for what is searched for.
pub(super) const WHOLE: &str = "all of";

pub(super) fn starts_upper(word: &str) -> bool {
    word.chars().next().is_some_and(|c| c.is_uppercase() || c.is_ascii_digit())
        || word.chars().skip(1).any(|c| c.is_ascii_uppercase())
}

struct Reader<'a> {
    clause: &'a Clause,
    request: &'a str,
    /// What typed values cover; plain numbers are left to phrases.
    taken: Vec<(usize, usize)>,
}

impl Reader<'_> {
    fn token(&self, at: usize) -> Option<&Token> {
        self.clause.tokens.get(at)
    }

    fn lower(&self, at: usize) -> &str {
        self.token(at).map_or("", |token| token.lower.as_str())
    }

    fn upper(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| starts_upper(slice(self.request, token.start, token.end)))
    }

    fn taken(&self, at: usize) -> bool {
        self.token(at)
            .is_some_and(|token| self.taken.iter().any(|(start, end)| token.start < *end && *start < token.end))
    }

    /// What stands between a word and the one before it.
    fn gap(&self, at: usize) -> &str {
        let before = at.checked_sub(1).and_then(|before| self.token(before));
        match (before, self.token(at)) {
            (Some(before), Some(token)) => slice(self.request, before.end, token.start),
            _ => "",
        }
    }

    fn parted(&self, at: usize) -> bool {
        self.gap(at).contains([',', '，', '、', ';', '；', '(', ')', '（', '）', '"', '“', '«', '\n', '$', '€', '£'])
            || self.after_span(at)
    }

    fn after_span(&self, at: usize) -> bool {
        let before =
            at.checked_sub(1).and_then(|before| self.token(before)).map_or(self.clause.start, |token| token.end);
        let start = self.token(at).map_or(self.clause.end, |token| token.start);
        self.clause.spans.iter().any(|span| span.start >= before && span.end <= start)
    }

    /// A verb in lower case at this place, in a language that has such.
    fn verb(&self, at: usize) -> bool {
        !self.upper(at)
            && (data::INFINITIVES.has(self.lower(at))
                || self.clause.tokens.get(at..at + 1).is_some_and(opens_with_order))
    }

    fn han_verb(&self, at: usize) -> usize {
        let Some(token) = self.token(at).filter(|token| token.is_han()) else { return 0 };
        let rest = slice(self.request, token.start, self.clause.end);
        data::HAN_VERBS.words().find(|verb| rest.starts_with(verb)).map_or(0, |verb| verb.chars().count())
    }

    fn ends_han(&self, at: usize) -> bool {
        let Some(token) = self.token(at).filter(|token| token.is_han()) else { return false };
        let rest = slice(self.request, token.start, self.clause.end);
        data::STOPS_HAN.has(&token.lower) && !data::WHOLE_HAN.words().any(|word| rest.starts_with(word))
    }

    /// "and have it delivered", "и оплати": what follows is another order.
    fn joins_an_order(&self, at: usize) -> bool {
        matches!(self.lower(at), "and" | "or" | "but" | "и" | "а")
            && (self.verb(at + 1)
                || (!self.upper(at + 1) && !is_cue(self.lower(at + 1)) && self.article(at + 2))
                || data::NO_VALUE.has(self.lower(at + 1))
                || data::SUBORDINATE.has(self.lower(at + 1))
                || matches!(
                    self.lower(at + 1),
                    "have" | "need" | "want" | "then" | "finally" | "also" | "to" | "for" | "at"
                )
                || self.taken(at + 1))
    }

    fn end(&self, from: usize, cue: &str, deed: bool, long: bool) -> usize {
        let topical = long && data::TOPIC_CUES.has(cue) || deed;
        let searched = long && cue == "for";
        let mut to = from;
        let limit = if topical { 24 } else { 10 };
        while let Some(token) = self.token(to) {
            let word = token.lower.as_str();
            if to > from {
                // "London, UK".
                let country = self.gap(to) == ", "
                    && self.upper(to)
                    && self.upper(to - 1)
                    && matches!(cue, "in" | "to" | "from" | "at" | "near");
                let bound = matches!(self.lower(to - 1), "under" | "over" | "below" | "above" | "than");
                if self.parted(to) && !country && !bound {
                    break;
                }
                let of =
                    word == "of" || (word == "to" && matches!(self.lower(to - 1), "introduction" | "guide" | "intro"));
                let goes_on = of
                    || (topical
                        && (matches!(
                            word,
                            "in" | "of" | "for" | "between" | "on" | "with" | "to" | "в" | "на" | "для" | "с" | "as"
                        ) || deed))
                    || (searched && matches!(word, "in" | "near" | "between") && !self.taken(to + 1))
                    || (word == "on" && self.lower(to + 1) == "how")
                    || (word == "to" && self.lower(to - 1) == "how");
                let next_is_typed = self.taken(to + 1) && !deed;
                if is_cue(word) && (!goes_on || next_is_typed || (self.after_span(to + 1) && !deed)) {
                    break;
                }
                let acts = !token.is_han() && !deed && !word.ends_with("ing") && self.verb(to) && self.article(to + 1);
                // "в Google рецепт".
                let other = token.lower.chars().all(is_cyrillic)
                    && !self.upper(to)
                    && self.upper(to - 1)
                    && self.lower(to - 1).is_ascii();
                if acts || other || self.han_verb(to) > 0 && token.is_han() || self.ends_han(to) {
                    break;
                }
            }
            let bound = to > from && matches!(self.lower(to - 1), "under" | "over" | "below" | "above" | "than");
            if to - from >= limit
                || (self.taken(to) && !deed && !bound)
                || (data::NO_VALUE.has(word) && !deed && !self.upper_name(to))
                || (data::SUBORDINATE.has(word) && to > from)
                || self.joins_an_order(to)
            {
                break;
            }
            to += 1;
        }
        let droppable = |at: usize| {
            data::NEVER_LAST.has(self.lower(at)) && !(self.upper(at) && at > from) || (is_cue(self.lower(at)) && !deed)
        };
        while to > from + 1 && droppable(to - 1) {
            to -= 1;
        }
        to
    }

    /// "IT", "US": no pronoun.
    fn upper_name(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| {
            let word = slice(self.request, token.start, token.end);
            word.len() > 1 && word.chars().all(char::is_uppercase)
        })
    }

    fn article(&self, at: usize) -> bool {
        matches!(self.lower(at), "the" | "a" | "an" | "my" | "our" | "your" | "their" | "his" | "her" | "this" | "some")
    }

    /// A phrase of small letters right beside quoted text or a file says only what that is: "the picture 'a.png'".
    fn labels(&self, at: usize, to: usize) -> bool {
        let (Some(first), Some(last)) = (self.token(at), to.checked_sub(1).and_then(|last| self.token(last))) else {
            return false;
        };
        let small = !(at..to).any(|at| self.upper(at));
        small
            && self.clause.spans.iter().any(|span| {
                let after = span.start >= last.end
                    && slice(self.request, last.end, span.start).chars().all(|c| " (:".contains(c));
                let before =
                    to == at + 1 && span.end <= first.start && slice(self.request, span.end, first.start) == " ";
                after || before
            })
    }
}

pub(super) fn find(found: &mut Vec<Found>, clause: &Clause, request: &str) {
    let taken = found
        .iter()
        .filter(|value| value.shape != Shape::Number || value.text.starts_with(['$', '€', '£', '¥', '₽']))
        .map(|value| (value.start, value.end))
        .collect();
    let reader = Reader { clause, request, taken };
    let count = clause.tokens.len();
    // "I want to …": what comes before the order itself holds no values.
    let mut at = count - strip_polite(&clause.tokens).len();
    at += usize::from(opens(&reader, at));
    let mut cue = String::new();
    while at < count {
        let lower = reader.lower(at).to_owned();
        if reader.parted(at) {
            cue.clear();
        }
        if reader.taken(at) {
            cue.clear();
            at += 1;
        } else if reader.numbers(at) {
            at += 1;
            at += usize::from(opens(&reader, at));
            cue.clear();
        } else if data::SUBORDINATE.has(lower.as_str()) || (lower == "but" && data::NO_VALUE.has(reader.lower(at + 1)))
        {
            at += 1;
            while at < count && !reader.parted(at) {
                at += 1;
            }
        } else if lower == "to" && reader.verb(at + 1) || (lower == "чтобы") {
            deed(found, &reader, at + 1);
            cue = if data::TALK_VERBS.has(reader.lower(at + 1)) { "about".to_owned() } else { String::new() };
            at += 2;
        } else if data::TALK_VERBS.has(&lower) {
            "about".clone_into(&mut cue);
            at += 1;
        } else if is_cue(&lower) && !reader.upper_name(at) {
            at += 1;
            if lower == "关" && reader.lower(at) == "于" {
                at += 1;
            }
            // "related to", "for the date of": the nearer word introduces.
            cue = if lower == "to" && at > 1 && matches!(reader.lower(at - 2), "related" | "relating" | "due") {
                "about".to_owned()
            } else {
                lower
            };
        } else if reader.han_verb(at) > 0 {
            at += reader.han_verb(at);
            cue.clear();
        } else if (data::NEVER_FIRST.has(lower.as_str())
            || (data::NEVER_LAST.has(lower.as_str()) && cue.is_empty() && !reader.upper(at))
            || (data::NO_VALUE.has(lower.as_str())) && !reader.upper_name(at))
            || (reader.token(at).is_some_and(Token::is_han)
                && data::NEVER_FIRST_HAN.has(&lower)
                && (lower != "张"
                    || "一两三几".contains(reader.lower(at.wrapping_sub(1)).chars().next().unwrap_or(' ')))
                && (cue.is_empty() || lower == "的" || lower == "我")
                && !reader.ends_whole(at))
        {
            if data::NO_VALUE.has(lower.as_str()) {
                cue.clear();
            }
            at += 1;
        } else {
            at = phrase(found, &reader, at, &mut cue);
        }
    }
}

impl Reader<'_> {
    /// "1)": the number of a point.
    fn numbers(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| {
            token.lower.len() <= 2
                && token.lower.bytes().all(|byte| byte.is_ascii_digit())
                && slice(self.request, token.end, self.clause.end).starts_with([')', '.'])
        })
    }

    /// A Chinese name that begins with a small word.
    fn ends_whole(&self, at: usize) -> bool {
        !self.ends_han(at) && self.token(at).is_some_and(|token| data::STOPS_HAN.has(&token.lower))
    }
}

/// True when the word is the order itself: the first, written small or at the start of a sentence.
fn opens(reader: &Reader<'_>, at: usize) -> bool {
    let Some(token) = reader.token(at) else { return false };
    let first =
        slice(reader.request, 0, token.start).trim_end().chars().next_back().is_none_or(|c| ".!?:)".contains(c));
    !token.is_han() && !token.is_determiner() && !is_cue(&token.lower) && (first || !reader.upper(at))
}

/// What is to be done, with all that belongs to it.
fn deed(found: &mut Vec<Found>, reader: &Reader<'_>, at: usize) {
    if matches!(reader.lower(at), "be" | "have" | "pick" | "take") {
        return;
    }
    if let (Some(first), Some(last)) =
        (reader.token(at), reader.end(at, "", true, true).checked_sub(1).and_then(|last| reader.token(last)))
        && first.start < last.start
    {
        let text = slice(reader.request, first.start, last.end).to_owned();
        add(found, reader.clause, Shape::Deed, text, first.start, last.end, Some("to do"));
    }
}

/// What is looked for goes on over places and owners: "flights to Tokyo", "北京的酒店".
fn whole(found: &mut Vec<Found>, reader: &Reader<'_>, at: usize, short: usize) {
    let next = reader.lower(short);
    let goes_on = matches!(next, "to" | "in" | "near" | "for" | "between" | "в" | "на" | "для" | "的");
    if !goes_on || reader.parted(short) || reader.parted(short + 1) || reader.taken(short + 1) {
        return;
    }
    let to = reader.end(short + 1, "for", false, true);
    if let (Some(first), Some(last)) = (reader.token(at), to.checked_sub(1).and_then(|last| reader.token(last)))
        && to > short + 1
    {
        let text = slice(reader.request, first.start, last.end).to_owned();
        add(found, reader.clause, Shape::Words, text, first.start, last.end, Some(WHOLE));
    }
}

/// Adds the phrase that begins here; answers where to read on.
fn phrase(found: &mut Vec<Found>, reader: &Reader<'_>, at: usize, cue: &mut String) -> usize {
    // A verb with its object: "clean the floor".
    let small = reader.token(at).is_some_and(|token| token.lower.is_ascii()) && !reader.upper(at);
    if small && reader.article(at + 1) && cue.is_empty() && !reader.parted(at + 1) {
        deed(found, reader, at);
        return at + 1;
    }
    let (short, long) = (reader.end(at, cue, false, false), reader.end(at, cue, false, true));
    for to in [short, long] {
        if let (Some(first), Some(last)) = (reader.token(at), to.checked_sub(1).and_then(|last| reader.token(last)))
            && at < to
            && (to == short || long != short)
        {
            let after = slice(reader.request, last.end, reader.clause.end);
            let apostrophe =
                if after.starts_with("'s") { 2 } else { usize::from(after.starts_with('’')) * '’'.len_utf8() };
            // "my friend's account" is not about the friend; "at Luigi's" is.
            let ends = apostrophe > 0 && reader.token(to).is_none_or(|next| is_cue(&next.lower));
            let owner = apostrophe > 0 && !ends;
            let end = if ends { last.end + apostrophe } else { last.end };
            let text = slice(reader.request, first.start, end);
            if !owner && !text.chars().all(|c| c.is_ascii_digit()) && !reader.labels(at, to) {
                add(found, reader.clause, Shape::Words, text.to_owned(), first.start, end, Some(cue));
            }
        }
        if long == short {
            break;
        }
    }
    if cue.is_empty() {
        whole(found, reader, at, short);
    }
    cue.clear();
    short.max(at + 1)
}
