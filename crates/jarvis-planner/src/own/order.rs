//! Whether a clause orders what a tool does. A tool that changes something is called only for a direct order: after politeness
//! the clause begins with the tool's verb in the form that orders, and nothing in the sentence makes it a question, a report, a
//! plan, or an order with a condition. A tool that only reads is called for anything but a denial.

use std::ops::Range;

use jarvis_plan::{is_cyrillic, is_han};

use super::fill::Filled;
use super::lex::{What, Word};
use super::{ALIKE, Own, VERBS, explicit};
use crate::data::{self, WordSet};
use crate::thesaurus;
use crate::words::{listed, slice};

/// A clause before a tool: the words of the whole request, and those of the clause with what the call takes of them.
pub(super) struct Said<'a> {
    pub(super) request: &'a str,
    pub(super) all: &'a [Word],
    pub(super) words: &'a [Word],
    pub(super) filled: &'a Filled,
    pub(super) one: &'a Own,
}

/// Words that a person is named by who does something.
const SUBJECTS: &str =
    "i we you he she they it who someone somebody anyone anybody everyone everybody я мы он она они кто 他 她 他们";
/// Verbs that are also what is sent: "email Bob".
const SENT: &str = "email e-mail mail text message invoice bill phone";

impl Said<'_> {
    /// Why the clause is no order that may be carried out; `None` for a direct order.
    pub(super) fn against(&self) -> Option<String> {
        let sentence = self.sentence();
        let (Some(first), Some(last)) = (self.words.first(), self.words.last()) else { return Some(no_order()) };
        let words = self.all.get(sentence.clone()).unwrap_or_default();
        let before: Vec<&Word> = words.iter().filter(|word| word.start < first.start).collect();
        let after: Vec<&Word> = words.iter().filter(|word| word.start > last.start).collect();
        let open: Vec<&Word> = self.unused().collect();
        if let Some(word) = [&before, &open, &after].into_iter().find_map(|words| condition(words, self.request)) {
            return Some(format!("the condition `{word}` cannot be checked here"));
        }
        let own: Vec<&Word> = self.words.iter().collect();
        let (head, asked) = stripped(&own);
        let negated = |words: &[&Word]| {
            let from = stripped(words).0;
            negation(words.get(from..).unwrap_or_default())
        };
        if let Some(word) = negated(&before).or_else(|| self.negated(head)).or_else(|| negated(&after)) {
            return Some(format!("`{word}` says what not to do"));
        }
        let next = self.all.get(sentence.end);
        let corrected = next.is_some_and(|word| data::RETRACTIONS.has(&word.lower))
            || after
                .windows(2)
                .chain(open.windows(2))
                .any(|two| matches!(two, [mark, word] if mark.mark().is_some() && data::RETRACTIONS.has(&word.lower)));
        if corrected {
            return Some("it is taken back in the same breath; say only what is meant".to_owned());
        }
        // "Undo the cancellation", "cancel my cancellation": what the tool does is spoken of as a thing.
        let verb = self.one.name.first();
        let deed = |word: &&Word| word.is_word() && verb.is_some_and(|verb| word.has(verb));
        let first = own.get(head).map_or("", |word| word.lower.as_str());
        let noun = |word: &&Word| !word.lower.chars().any(is_han) && deed(word) && word.lower != first;
        // "Remind me of it" reminds nobody else, and "send me the invoice" sends it to no customer.
        let of_me = own
            .get(head)
            .is_some_and(|verb| verb.is("remind return stop leave send resend forward email mail text message"))
            && own.get(head + 1).is_some_and(|word| word.is("me us myself ourselves"));
        // "Leave it in class 48", "keep the lamp on": nothing is to change.
        let stays = own.get(head).is_some_and(|word| {
            word.is("leave keep retain оставь оставьте сохрани 保留 保持") && verb.is_none_or(|verb| !word.has(verb))
        });
        if self.one.verb && (own.iter().skip(head + 1).any(noun) || of_me) || stays {
            return Some(no_order());
        }
        let asks = words.iter().rev().take_while(|word| word.mark().is_some()).any(|word| word.is("? ？"));
        if asks && !asked || !self.tied(&before) || !self.orders(head) || self.tells(head) {
            return Some(no_order());
        }
        None
    }

    /// A text that only the verb leads, and that may be anything: "play chess" to a tool that plays music.
    pub(super) fn guesses(&self) -> Option<String> {
        let verb = self.one.name.first();
        let thing = |word: &Word| {
            let of = |key: &String| {
                Some(key) != verb && self.one.words.contains(key)
                    || thesaurus::of_stem(key).iter().any(|sense| self.one.things.contains(sense))
            };
            word.is_word() && word.keys.iter().any(of)
        };
        let why =
            "it changes something, and what it is to work on is only guessed; put it in quotes, or say what it is";
        let after = self.words.iter().filter(|word| self.one.name.first().is_none_or(|verb| !word.has(verb)));
        let is_thing = after.into_iter().any(thing);
        (self.filled.guessed > usize::from(is_thing)).then(|| why.to_owned())
    }

    /// What a question or an order to a tool that only reads says that cannot be asked of it: what is not to be.
    pub(super) fn denied(&self) -> Option<String> {
        let own: Vec<&Word> = self.words.iter().collect();
        self.negated(stripped(&own).0).map(|word| format!("`{word}` says what is not wanted"))
    }

    /// The words of the clause that no argument takes.
    fn unused(&self) -> impl Iterator<Item = &Word> {
        let unused = |at: &usize| {
            let flag = |list: &[bool]| list.get(*at).copied().unwrap_or_default();
            !flag(&self.filled.used) && !flag(&self.filled.told)
        };
        (0..self.words.len()).filter(unused).filter_map(|at| self.words.get(at))
    }

    /// The words of the sentence in which the clause stands.
    fn sentence(&self) -> Range<usize> {
        let (Some(first), Some(last)) = (self.words.first(), self.words.last()) else { return 0..0 };
        let from = self.all.iter().position(|word| word.start >= first.start).unwrap_or(self.all.len());
        let to = self.all.iter().position(|word| word.start > last.start).unwrap_or(self.all.len());
        let start = (0..from).rev().find(|at| self.ends(*at)).map_or(0, |at| at + 1);
        // The clause's own last word may be what ends the sentence.
        let end = (to.saturating_sub(1)..self.all.len()).find(|at| self.ends(*at)).map_or(self.all.len(), |at| at + 1);
        start..end
    }

    /// Whether a sentence ends behind a word.
    fn ends(&self, at: usize) -> bool {
        let Some(word) = self.all.get(at) else { return true };
        let gap = self.all.get(at + 1).map_or(" ", |next| slice(self.request, word.end, next.start));
        let titled =
            at.checked_sub(1).and_then(|at| self.all.get(at)).is_some_and(|word| data::TITLES.has(&word.lower));
        match word.mark() {
            Some('!' | '?' | ';' | '。' | '！' | '？' | '；') => {
                self.all.get(at + 1).is_none_or(|next| !next.is("? ! ？ ！"))
            }
            Some('.') => !gap.is_empty() && !titled,
            _ => gap.contains('\n'),
        }
    }

    /// What the clause negates of itself, politeness aside: "не могли бы вы" refuses nothing.
    fn negated(&self, head: usize) -> Option<String> {
        let from = self.words.get(head).map_or(0, |word| word.start);
        let open: Vec<&Word> = self.unused().filter(|word| word.start >= from).collect();
        negation(&open)
    }

    /// Whether what stands before the clause in its sentence lets it be an order: nothing, politeness, or a part of its own.
    fn tied(&self, before: &[&Word]) -> bool {
        let (from, _) = stripped(before);
        let rest = before.get(from..).unwrap_or_default();
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else { return true };
        let joined = last.is("and then also , ; plus afterwards и затем потом а также 并 并且 然后 再 和 ， 、");
        let verb = |word: &Word| data::ORDER_VERBS.has(&word.lower) || listed(VERBS, &word.lower);
        // "Remind me to cancel it and delete that": the second verb hangs on the first "to".
        let hangs = rest.windows(2).any(|two| matches!(two, [to, next] if to.is("to чтобы") && verb(next)))
            || rest.iter().any(|word| data::GOVERNORS.has(&word.lower));
        let subject = !verb(first) && rest.iter().any(|word| word.is(SUBJECTS));
        joined && !hangs && !subject
    }

    /// Whether the clause begins with the tool's verb in the form that orders.
    fn orders(&self, head: usize) -> bool {
        let Some(word) = self.words.get(head) else { return false };
        if explicit(self.words, self.one, self.request)
            && (word.is("use call run invoke execute вызови используй 调用 使用 用")
                || word.lower.contains(['_', '.', '/']))
        {
            return true;
        }
        // "把订单删除", "给他发邮件": what it is done with comes first.
        let leads = self.words.iter().take(head + 1).any(|word| word.is("把 将 给 用 向 往 在 从 为"));
        if word.lower.chars().any(is_han) || leads {
            let han = |word: &Word| word.lower.chars().any(is_han) && self.fits(word);
            return self.fits(word) || leads && self.words.iter().skip(head).any(han);
        }
        if self.fits(word) && self.is_ordering(head) {
            return true;
        }
        // "On 3 May, book a table": an argument of the call comes first.
        let comma = (head..self.words.len()).find(|at| self.words.get(*at).is_some_and(|word| word.is(", ，")));
        let used = |at: usize| self.filled.used.get(at).copied().unwrap_or_default();
        let leads = word.is("in on at for to from with as by в на для по из с к");
        comma.is_some_and(|comma| {
            let verb = comma + 1;
            leads
                && (head..comma).any(used)
                && self.words.get(verb).is_some_and(|word| self.fits(word))
                && self.is_ordering(verb)
        })
    }

    /// Whether a verb has the form of an order: the base form in English, the imperative in Russian, or an infinitive behind
    /// "можешь" and the like.
    fn is_ordering(&self, at: usize) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        let lower = word.lower.as_str();
        if !word.is_word() {
            return false;
        }
        if lower.chars().any(is_cyrillic) {
            let imperative =
                ["й", "йте", "и", "ите", "вь", "вьте", "рь", "рьте", "чь", "чьте", "меть", "йся", "йтесь", "ись"];
            let infinitive = ["ть", "ти", "чь", "ться"];
            let wished = self.words.iter().take(at).any(|word| {
                word.is("можешь можете мог могла могли хочу хотим хотел хотела надо нужно прошу необходимо")
            });
            return imperative.iter().any(|end| lower.ends_with(end))
                || wished && infinitive.iter().any(|end| lower.ends_with(end));
        }
        let known = data::ORDER_VERBS.has(lower)
            || listed(VERBS, lower)
            || listed(SENT, lower)
            || ALIKE.iter().any(|list| listed(list, lower));
        let inflected = lower.ends_with("ed")
            || lower.ends_with("ing")
            || lower.ends_with('s') && !lower.ends_with("ss")
            || lower.contains('\'');
        known || !inflected
    }

    /// Whether a word says what the tool does.
    fn fits(&self, word: &Word) -> bool {
        let one = self.one;
        if !word.is_word() {
            return false;
        }
        let verb = one.name.first();
        let senses: Vec<thesaurus::SenseId> =
            word.keys.iter().flat_map(|key| thesaurus::of_stem(key)).copied().collect();
        verb.is_some_and(|stem| word.has(stem))
            || one.deeds.iter().any(|stem| word.has(stem))
            || one.is_alike(word)
            || word.is(SENT)
            || senses.iter().any(|sense| one.does.contains(sense))
    }

    /// Whether the rest of the clause tells how something is: "order 7 was late", "book flight 12 departed".
    fn tells(&self, head: usize) -> bool {
        let from = self.words.get(head).map_or(0, |word| word.end);
        let open: Vec<&Word> = self.unused().filter(|word| word.start >= from && word.is_word()).collect();
        let participle = |word: &Word| {
            word.lower.len() > 4 && word.lower.ends_with("ed") && !word.name && !word.is("called named titled entitled")
        };
        let attribute = |word: &Word| {
            let before = self.words.iter().take_while(|other| other.start < word.start).last();
            before.is_some_and(|before| {
                before.is("the a an my our all as")
                    || self.one.words.contains(before.keys.first().map_or("", String::as_str)) && before.start < from
            })
        };
        open.iter().any(|word| data::FINITE.has(&word.lower) || participle(word) && !attribute(word))
    }
}

fn no_order() -> String {
    "it changes something, and this is no order to do so; say it as an order".to_owned()
}

/// Where the order begins behind what is said before it, and whether that asks politely.
fn stripped(words: &[&Word]) -> (usize, bool) {
    let (mut at, mut asked) = (0, false);
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    loop {
        let skip = match (lower(at), lower(at + 1), lower(at + 2), lower(at + 3)) {
            ("can" | "could" | "would" | "will", "you", ..) => {
                asked = true;
                2
            }
            ("i" | "we", "want" | "need", "you", "to") => 4,
            ("i" | "we", "want" | "need", "to", _) => 3,
            ("i" | "we", "would", "like", "to") => 4,
            ("i" | "we", "would", "like", "you") if lower(at + 4) == "to" => 5,
            ("i'd" | "we'd" | "i’d" | "we’d", "like", "to", _) => 3,
            ("i'd" | "we'd" | "i’d" | "we’d", "like", "you", "to") => 4,
            ("let's" | "let’s" | "lets", ..) => 1,
            ("let", "us" | "me", ..) => 2,
            ("go", "ahead", "and", _) => 3,
            ("help", "me", "to", _) => 3,
            ("help", "me", ..) => 2,
            ("не", "мог" | "могла" | "могли" | "можешь" | "можете", ..) => 1,
            ("мог" | "могла" | "могли" | "можешь" | "можете", ..) => {
                asked = true;
                1
            }
            ("бы" | "ты" | "вы", ..) if asked || at > 0 => 1,
            ("я", "хочу" | "хотел" | "хотела" | "прошу", ..) => 1,
            ("мне", "надо" | "нужно" | "необходимо", ..) => 1,
            (
                "хочу" | "хотим" | "хотел" | "хотела" | "надо" | "нужно" | "необходимо" | "прошу" | "давай" | "давайте",
                ..,
            ) => 1,
            ("能" | "能不能" | "可以" | "可不可以" | "能否", ..) => {
                asked = true;
                1
            }
            (word, ..) if data::BEFORE_ORDERS.has(word) => 1,
            (word, ..) if at > 0 && matches!(word, "," | "，" | "、") => 1,
            _ => return (at, asked),
        };
        at += skip;
    }
}

/// The condition or exception among words, as it is said.
fn condition(words: &[&Word], request: &str) -> Option<String> {
    let phrase = |at: usize, words: &[&Word]| {
        data::CONDITIONS.words().find_map(|phrase| {
            let parts: Vec<&str> = phrase.split('_').collect();
            let said =
                parts.iter().enumerate().all(|(nth, part)| words.get(at + nth).is_some_and(|word| word.lower == *part));
            let possible = words.get(at + parts.len()).is_some_and(|word| word.is("possible"));
            (said && !(possible && parts.len() > 1)).then_some(())
        })
    };
    for (at, word) in words.iter().enumerate() {
        if !word.is_word() {
            continue;
        }
        // "Until 5 May" bounds, "until he comes" waits.
        let next = words.get(at + 1);
        let waits = data::BOUNDS.has(&word.lower)
            && next.is_some_and(|next| next.is_word() && slice(request, word.end, next.start).trim().is_empty());
        if phrase(at, words).is_some() || waits {
            let last = words.get(at + 3).or(words.last()).unwrap_or(word);
            return Some(format!("{} …", slice(request, word.start, last.end.min(word.end + 40))).replace('\n', " "));
        }
        if let Some(said) = han(&data::CONDITIONS_HAN, word) {
            return Some(said);
        }
    }
    None
}

/// The word among these that negates.
fn negation(words: &[&Word]) -> Option<String> {
    words.iter().enumerate().filter(|(_, word)| word.is_word()).find_map(|(at, word)| {
        // "No. 5", "not only": nothing is refused.
        let next = words.get(at + 1);
        let number = word.is("no") && next.is_some_and(|next| next.is_value() || next.mark() == Some('.'));
        let plain = data::NEGATIONS.has(&word.lower) || word.lower.ends_with("n't") || word.lower.ends_with("n’t");
        let only = next.is_some_and(|next| next.is("only только"));
        (plain && !number && !only).then(|| word.text.clone()).or_else(|| han(&data::NEGATIONS_HAN, word))
    })
}

/// Chinese is not cut at its words: one of the set anywhere in a piece.
fn han(set: &WordSet, word: &Word) -> Option<String> {
    if !matches!(word.what, What::Word) || !word.lower.chars().any(is_han) {
        return None;
    }
    set.words().find(|said| word.lower.contains(said)).map(str::to_owned)
}
