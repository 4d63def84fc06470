//! What an order is about, in words that nothing leads: "play Yellow River", "search for black holes". Such words are a guess
//! unless they are written as a name is; how much of one is counted, for tools that change something.

use super::field::Sort;
use super::fill::{Filler, is_language, is_small};
use super::lex::{What, Word};
use super::phrases::no_name;

/// Words that name nothing by themselves.
const VAGUE: &str = "nothing somewhere anywhere whatever everything neither but first last nearest duplicates";

impl Filler<'_> {
    /// What the order is about: behind "for" or "about", else behind the verb.
    pub(super) fn object(&mut self, field: usize, query: bool) {
        let count = self.words.len();
        let leads = |at: &usize| {
            self.free(*at)
                && self.at(*at).is_some_and(|word| word.is("for about regarding concerning про о об по 关于"))
                && *at > 0
        };
        let from = match (0..count).find(leads).filter(|_| query) {
            Some(at) => at + 1,
            None => {
                let first = (0..count).find(|at| self.of_tool(*at)).unwrap_or(0);
                if self.at(first).is_some_and(|word| word.is_word() && self.of_tool(first)) {
                    first + 1
                } else {
                    return;
                }
            }
        };
        let mut from = from;
        let skipped = |at: usize| {
            self.at(at).is_some_and(|word| {
                word.is_word()
                    && (is_small(word)
                        || self.of_tool(at)
                        || no_name(word)
                        || self.own_name(field, at)
                        || word.is("look search find up out"))
                    || word.mark().is_some_and(|c| ":：,".contains(c))
            }) || !self.free(at) && at < count
        };
        let is_name = |at: usize| self.at(at).is_some_and(|word| word.name) && !self.of_tool(at);
        while from < count && skipped(from) && !is_name(from) {
            from += 1;
        }
        let whole = query && !self.one.writes;
        let to = if whole { self.until_mark(from) } else { self.until_cue(from) };
        let to = to.min(from + if query { 12 } else { 5 });
        // "Of my mother": somebody who is not named.
        let whose = from.checked_sub(1).and_then(|before| self.at(before));
        let person = self.fields.get(field).is_some_and(|field| field.sort == Sort::Person);
        if !query && whose.is_some_and(|word| word.is("my our his her their") || person && word.is("the a an")) {
            return;
        }
        // "The driver who hit the wall": told, and not named.
        let tells = |at: usize| self.at(at).is_some_and(|word| word.is("who whom whose which that"));
        if !query && (0..from).any(tells) && !self.at(from).is_some_and(|word| word.name) {
            return;
        }
        // Whom something is done to is written as a name is.
        if person && self.one.writes && self.name(from) != Some(to) {
            return;
        }
        let telling = (from..to).any(|at| self.at(at).is_some_and(|word| !is_small(word) && !no_name(word)));
        // "Reserve two" says how many, and not of what.
        let counts = !query && self.at(from).is_some_and(|word| matches!(word.what, What::Number(..)));
        if to > from && telling && !counts {
            let text = self.text(from, to).to_owned();
            // "Books about cats that are not in German": what another parameter is for is no part of what is looked for.
            let others = self.wanting(|_| true).iter().any(|other| *other != field);
            if whole && others && (from..to).any(|at| self.limits(at)) {
                self.aside.push(text);
                self.take(from, to);
                return;
            }
            // How little says that these words are a name.
            let weight = |word: &Word| match () {
                () if word.name || word.is_value() => 0,
                () if word.is(VAGUE) => 2,
                () if no_name(word) => 1,
                () => usize::from(!is_small(word) && !self.is_of_tool(word)),
            };
            let guessed = (from..to).filter_map(|at| self.at(at)).map(weight).sum();
            self.guessed = self.guessed.max(guessed);
            self.take(from, to);
            self.put(field, vec![text.into()]);
        }
    }

    /// Whether a word of what is looked for narrows it down.
    fn limits(&self, at: usize) -> bool {
        self.at(at).is_some_and(|word| {
            word.is("not no without or that which who after before since under over between until или не без")
                || word.lower.ends_with("n't")
                || word.is_value() && !matches!(word.what, What::Quote(_))
                || is_language(word)
        })
    }
}
