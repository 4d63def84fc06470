//! Values that the schema lists: words of an `enum`, and flags by their names.

use serde_json::Value;

use super::field::Sort;
use super::fill::{Filler, currency};
use super::lex::{What, Word};
use crate::words::{self, listed};

impl Filler<'_> {
    /// Words of an `enum`, and flags by their names.
    pub(super) fn choices(&mut self) {
        for at in 0..self.fields.len() {
            let Some(field) = self.fields.get(at).filter(|_| self.open(at)) else { continue };
            let (options, list) = match &field.sort {
                Sort::Enum(options) => (options, false),
                Sort::List(each) => match &**each {
                    Sort::Enum(options) => (options, true),
                    _ => continue,
                },
                Sort::Bool => {
                    self.flag(at);
                    continue;
                }
                _ => continue,
            };
            let mut hits: Vec<(usize, usize, &Value)> =
                options.iter().filter_map(|option| self.spoken(option, at)).collect();
            hits.retain(|(from, to, _)| !self.describes(at, *from, *to));
            // "From checking to savings": two parameters with the same words.
            if let Some(begins) = field.side().filter(|_| self.has_other_side(at)) {
                hits.retain(|(from, ..)| self.led_side(*from) == Some(begins));
            }
            hits.sort_by_key(|(from, to, _)| (*from, std::cmp::Reverse(*to)));
            // "Extra large" says more than "large".
            let whole: Vec<(usize, usize, &Value)> = hits
                .iter()
                .copied()
                .filter(|(from, to, _)| !hits.iter().any(|(f, t, _)| f <= from && to <= t && t - f > to - from))
                .collect();
            let values: Vec<Value> = whole.iter().map(|(_, _, value)| (*value).clone()).collect();
            if list && !values.is_empty() || values.len() == 1 {
                whole.iter().for_each(|(from, to, _)| self.take(*from, *to));
                self.put(at, values);
            }
        }
    }

    /// Whether words tell which thing is meant rather than what is to become of it: "turn off the red lights".
    fn describes(&self, field: usize, from: usize, to: usize) -> bool {
        let known =
            from.checked_sub(1).is_some_and(|at| self.at(at).is_some_and(|word| word.is("the my our all these those")));
        self.one.writes && known && self.is_noun(to) && !self.own_name(field, to)
    }

    /// Where the request speaks a word of an `enum`, in whatever case or grammatical form.
    fn spoken<'v>(&self, option: &'v Value, field: usize) -> Option<(usize, usize, &'v Value)> {
        let text = jarvis_plan::text_of(option);
        let stems = words::stems(&words::spell_out(&text));
        let own = |stem: &String| self.fields.get(field).is_some_and(|field| field.name.contains(stem));
        if stems.is_empty() {
            return None;
        }
        // "sha256" is no word.
        let written = |at: &usize| {
            self.free(*at)
                && self
                    .at(*at)
                    .is_some_and(|word| matches!(word.what, What::Code(_)) && word.lower == text.to_lowercase())
        };
        if let Some(at) = (0..self.words.len()).find(written) {
            return Some((at, at + 1, option));
        }
        (0..self.words.len()).find_map(|at| {
            let fits = stems.iter().enumerate().all(|(nth, stem)| {
                self.at(at + nth).is_some_and(|word| {
                    self.free(at + nth)
                        && word.is_word()
                        && is_whole(word, &stems)
                        && (word.has(stem) || word.lower == text.to_lowercase() || currency(&word.text) == Some(&*text))
                })
            });
            // "set", "on": a word of a name is no choice, and "on 3 March" turns nothing on.
            let small = matches!(stems.as_slice(), [only] if words::listed("on off in to all from", only));
            let leads = small && self.at(at + 1).is_some_and(|next| next.is_value() || next.name || next.is("behalf"));
            let heads = self.at(at).is_some_and(|word| word.is("named called titled entitled"));
            (fits && !heads && !leads && !stems.iter().all(own)).then_some((at, at + stems.len(), option))
        })
    }

    fn flag(&mut self, field: usize) {
        let Some(stems) = self.fields.get(field).map(|field| &field.name) else { return };
        let telling: Vec<&String> =
            stems.iter().filter(|stem| !listed("is as has with be allow enabl use", stem)).collect();
        let place = |stem: &String| {
            (0..self.words.len()).find(|at| {
                let fits = |word: &Word| word.is_word() && word.has(stem) && is_whole(word, stems);
                self.free(*at) && self.at(*at).is_some_and(fits)
            })
        };
        let places: Option<Vec<usize>> = telling.iter().map(|stem| place(stem)).collect();
        let Some(places) = places.filter(|places| !places.is_empty()) else { return };
        let refused = places.first().and_then(|first| first.checked_sub(1)).is_some_and(|before| {
            let denies = |word: &super::lex::Word| {
                word.is("not no non without без не 不") || word.lower.ends_with("n't") || word.lower.ends_with("n’t")
            };
            let two = before.checked_sub(1).and_then(|two| self.at(two));
            self.at(before).is_some_and(denies) || two.is_some_and(|word| word.is("not without"))
        });
        let from = places.first().map_or(0, |first| first - usize::from(refused));
        places.into_iter().for_each(|at| self.take(at, at + 1));
        self.take(from, from + 1);
        self.put(field, vec![Value::Bool(!refused)]);
    }
}

/// Whether a word says no more than what a value is called: "non-fragile" and "half-done" are other words.
fn is_whole(word: &Word, stems: &[String]) -> bool {
    !word.lower.contains('-') || words::stems(&words::spell_out(&word.text)).iter().all(|part| stems.contains(part))
}
