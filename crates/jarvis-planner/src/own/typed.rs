//! Values that their form tells: expressions, addresses, paths, days, times, sums of money, numbers with what they count, marks, and
//! quoted text.

use std::sync::LazyLock;

use jarvis_plan::Kind;
use regex::Regex;
use serde_json::{Number, Value};

use super::field::{Sort, is_other_side};
use super::fill::{Filler, currency, is_small, is_unit};
use super::lex::What;
use crate::numerals;
use crate::words::{listed, pattern, slice};

static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
        -?\d[\d.,]*\s?%\s?of\s\d[\d.,]*
        |(?:[a-z]{2,5}\()?[(\s]*-?\d[\d.,]*[)!\s]*(?:(?:\*\*|[-+*/^%×÷·])[(\s]*(?:[a-z]{2,5}\()?[(\s]*-?\d[\d.,]*[)!\s]*)+
        |[a-z]{2,5}\([^()]*\d[^()]*\)",
    )
});

impl Filler<'_> {
    /// Arithmetic, exactly as it is written.
    pub(super) fn expressions(&mut self) {
        let Some(field) = self.wanting(|field| field.sort == Sort::Expression).first().copied() else { return };
        let Some(first) = self.at(0) else { return };
        let text = slice(self.request, first.start, self.end);
        let Some(hit) = EXPRESSION.find(text) else { return };
        let said = hit.as_str().trim_end_matches(['.', ',', ' ']).trim();
        let start = first.start + hit.start() + (hit.as_str().len() - hit.as_str().trim_start().len());
        // Arithmetic goes to its end or not at all.
        let rest = slice(text, hit.end(), text.len()).trim_start();
        if rest.starts_with(['*', '/', '^', '+', '=', '(']) {
            return;
        }
        let end = start + said.len();
        let inside = |word: &super::lex::Word| word.start < end && start < word.end;
        let places: Vec<usize> = (0..self.words.len()).filter(|at| self.at(*at).is_some_and(inside)).collect();
        places.into_iter().for_each(|at| self.take(at, at + 1));
        self.put(field, vec![said.into()]);
    }

    /// "limit 5", "subject "Lunch"", "order 4711": a value beside the parameter's own name.
    pub(super) fn labelled(&mut self) {
        for at in 0..self.fields.len() {
            let Some(field) = self.fields.get(at).filter(|_| self.open(at)) else { continue };
            let generic = |word: &String| listed("id number no nr code key name valu from to in on for by of", word);
            let mut labels: Vec<&String> = field.name.iter().filter(|word| !generic(word)).collect();
            if labels.is_empty() && (field.identifies() || matches!(field.sort, Sort::Name | Sort::Title)) {
                labels = self.nouns.iter().collect();
            }
            for label in 0..self.words.len() {
                let speaks = |word: &super::lex::Word| word.is_word() && labels.iter().any(|stem| word.has(stem));
                if !self.free(label) || !self.at(label).is_some_and(speaks) {
                    continue;
                }
                let mut next = label + 1;
                let side = field.side();
                while next < label + 4
                    && self.at(next).is_some_and(|word| {
                        // "From my account to Bob": Bob is where it ends.
                        !is_other_side(side, word) && (
                        word.is("is are of = : ： as № no nr number named called titled entitled id to код номер номером под 号 是 为 叫 about equal limit")
                            || word.mark() == Some('#')
                            || word.mark() == Some('.') && self.lower(next - 1) == "no")
                    })
                {
                    next += 1;
                }
                let reaches = next == label + 1 || !matches!(field.sort, Sort::Place | Sort::Person);
                if let Some((values, to)) = self.row(&field.sort, next).filter(|_| reaches) {
                    // "quantity" never gets the number of an order, nor a heading that of a seat.
                    let number = self.at(next).is_some_and(|word| matches!(word.what, What::Number(..)));
                    if number && !matches!(field.sort, Sort::Number { .. } | Sort::Code | Sort::Enum(_)) {
                        continue;
                    }
                    self.take(label, to);
                    self.put(at, values);
                    break;
                }
                // "LH 12": a mark in two words.
                if field.sort == Sort::Code
                    && let (Some(letters), Some(What::Number(..))) = (self.at(next), self.at(next + 1).map(|w| &w.what))
                    && letters.is_word()
                    && letters.text.len() <= 3
                    && letters.text.chars().all(|c| c.is_ascii_uppercase())
                {
                    let text = self.text(next, next + 2).to_owned();
                    self.take(label, next + 2);
                    self.put(at, vec![text.into()]);
                    break;
                }
                if let Some(to) = self
                    .name(next)
                    .filter(|_| matches!(field.sort, Sort::Name | Sort::Title | Sort::Place | Sort::Person))
                {
                    let text = self.text(next, to).to_owned();
                    self.take(label, to);
                    self.put(at, vec![text.into()]);
                    break;
                }
                if let Sort::List(_) = field.sort
                    && let Some((values, to)) = self.words_in_a_row(next)
                {
                    self.take(label, to);
                    self.put(at, values);
                    break;
                }
            }
        }
    }

    /// "tags work, home and garden".
    pub(super) fn words_in_a_row(&self, at: usize) -> Option<(Vec<Value>, usize)> {
        let plain = |at: usize| {
            let word = self.at(at).filter(|word| self.free(at) && !is_small(word))?;
            match &word.what {
                // "Tom Berg and Eva Holm".
                What::Word => {
                    let to = self.name(at).unwrap_or(at + 1);
                    Some((self.text(at, to).to_owned(), to))
                }
                What::Quote(text) | What::Code(text) => Some((text.clone(), at + 1)),
                _ => None,
            }
        };
        let (first, mut to) = plain(at)?;
        let mut values = vec![Value::from(first)];
        loop {
            let mut next = to;
            while self.joins(next) && next < to + 2 {
                next += 1;
            }
            let comma_last = next == to + 1 && matches!(self.lower(to), "," | "，") && !self.goes_on(next);
            match plain(next).filter(|_| next > to && !comma_last) {
                Some((value, end)) => {
                    values.push(value.into());
                    to = end;
                }
                None => return Some((values, to)),
            }
        }
    }

    /// Whether an enumeration goes on behind a word: ", home and garden".
    fn goes_on(&self, at: usize) -> bool {
        self.joins(at + 1)
    }

    /// Addresses, paths, times and days.
    pub(super) fn typed(&mut self) {
        let media = [Kind::Image, Kind::Audio, Kind::Video].map(Sort::Media);
        for sort in media.into_iter().chain([Sort::Email, Sort::Url, Sort::Path, Sort::Time, Sort::Date]) {
            let of = |field: &super::field::Field<'_>| {
                field.sort == sort || matches!(&field.sort, Sort::List(each) if **each == sort)
            };
            let places: Vec<usize> = (0..self.words.len()).filter(|at| self.is_of(&sort, *at)).collect();
            match (self.wanting(of).as_slice(), places.as_slice()) {
                ([], _) | (_, []) => {}
                ([field], _) => self.single(*field, &sort, &places),
                (fields, _) => self.several(fields, &sort, &places),
            }
        }
    }

    fn is_of(&self, sort: &Sort, at: usize) -> bool {
        self.value(sort, at).is_some() && self.at(at).is_some_and(|word| !matches!(word.what, What::Quote(_)))
    }

    fn single(&mut self, field: usize, sort: &Sort, places: &[usize]) {
        let Some(first) = places.first().filter(|first| self.sided(field, **first)) else { return };
        let Some((values, to)) = self.row(sort, *first) else { return };
        // The same value in another row belongs to something else.
        self.take(*first, to);
        self.put(field, values);
    }

    /// Where something begins and where it ends, by what stands before each value, else in their order.
    fn several(&mut self, fields: &[usize], sort: &Sort, places: &[usize]) {
        let side = |at: usize| self.fields.get(at).and_then(super::field::Field::side);
        let by_side = |begins: bool| fields.iter().copied().find(|at| side(*at) == Some(begins));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (nth, place) in places.iter().enumerate() {
            let before = place.checked_sub(1).map_or("", |before| self.lower(before));
            let led = match before {
                "from" | "since" | "after" | "starting" | "between" | "с" | "со" | "из" | "от" | "从" | "自" => {
                    by_side(true)
                }
                "to" | "until" | "till" | "by" | "before" | "through" | "-" | "–" | "into" | "as" | "по" | "до"
                | "в" | "到" | "至" => by_side(false),
                _ => None,
            };
            let begins = by_side(nth == 0).filter(|_| side(*fields.first().unwrap_or(&0)).is_some());
            let next = || fields.iter().copied().find(|at| !pairs.iter().any(|(field, _)| field == at));
            let Some(field) = led.or(begins).or_else(next) else { continue };
            if !pairs.iter().any(|(taken, _)| *taken == field) {
                pairs.push((field, *place));
            }
        }
        // "On 3 May" is no range that begins there.
        let alone = pairs.len() == 1;
        for (field, place) in pairs {
            if alone && !self.sided(field, place) {
                continue;
            }
            if let Some(value) = self.value(sort, place) {
                self.take(place, place + 1);
                self.put(field, vec![value]);
            }
        }
    }

    /// "250 USD", "€40", "10 miles": a number with what it is an amount of.
    pub(super) fn money(&mut self) {
        for at in 0..self.words.len() {
            let Some(What::Number(number, sign)) = self.at(at).filter(|_| self.free(at)).map(|word| &word.what) else {
                continue;
            };
            let after = self.at(at + 1).filter(|word| word.is_word());
            let before = at.checked_sub(1).filter(|before| self.free(*before)).and_then(|before| self.at(before));
            let code = |word: Option<&super::lex::Word>| {
                word.filter(|word| word.is_word()).and_then(|word| currency(&word.text))
            };
            // "To euros 40 francs": what stands before is where it goes.
            let aim = at.checked_sub(2).is_some_and(|two| self.at(two).is_some_and(|word| word.is("to into in в 成")));
            let leading = if code(after).is_none() && !aim { code(before) } else { None };
            let sum = sign.or_else(|| code(after)).or(leading);
            let measured = after.filter(|word| is_unit(&word.lower)).map(|word| word.text.clone());
            let side = |sort: Sort| {
                let fields = self.wanting(|field| field.sort == sort || spells(field, sum));
                let begins =
                    fields.iter().find(|at| self.fields.get(**at).and_then(super::field::Field::side) != Some(false));
                begins.or(fields.first()).copied()
            };
            let (unit, word) = match (sum, &measured) {
                (Some(code), _) if side(Sort::Currency).is_some() => (side(Sort::Currency), code.to_owned()),
                (_, Some(unit)) if side(Sort::Unit).is_some() => (side(Sort::Unit), unit.clone()),
                (Some(_), _) => (None, String::new()),
                _ => continue,
            };
            let money = self.wanting(|field| field.is_money());
            let numbers = self
                .wanting(|field| matches!(field.sort, Sort::Number { .. }) && !field.identifies() && !field.is_count());
            let whole_sum = sum.and_then(|_| numerals::whole_sum(&self.at(at)?.text));
            let number = &whole_sum.map_or_else(|| number.clone(), Number::from);
            let value = Value::Number(number.clone());
            let Some(amount) = self.only(&money).or_else(|| self.only(&numbers).filter(|_| unit.is_some())) else {
                continue;
            };
            // "90 dollars" are no 90 euros.
            if unit.is_none() && !self.fields.get(amount).is_some_and(|field| field.is_in(sum)) {
                continue;
            }
            let whole = self.fields.get(amount).is_some_and(|field| field.sort == Sort::Number { whole: true });
            if whole && !number.is_i64() {
                continue;
            }
            let behind = usize::from(sign.is_none() && leading.is_none());
            self.take(at - usize::from(leading.is_some()), at + 1 + behind);
            self.put(amount, vec![value]);
            if let Some(unit) = unit {
                self.put(unit, vec![word.into()]);
            }
        }
    }

    /// Numbers by what they count: "two seats", "3 days", "4-star", "for two", "a dozen of".
    pub(super) fn counts(&mut self) {
        self.party();
        for at in 0..self.words.len() {
            let Some(What::Number(..)) = self.at(at).filter(|_| self.free(at)).map(|word| &word.what) else { continue };
            let noun = if self.lower(at + 1) == "-" { at + 2 } else { at + 1 };
            let counted = |field: &super::field::Field<'_>| {
                let word = self.at(noun).filter(|word| word.is_word());
                matches!(field.sort, Sort::Number { .. })
                    && !field.identifies()
                    && word.is_some_and(|word| {
                        // "Price per hour" is no number of hours.
                        let own = field.name.iter().take_while(|name| *name != "per");
                        word.keys.iter().any(|key| {
                            own.clone().any(|name| name == key)
                                || field.meaning.contains(key)
                                    && field.param.name.len() > 2
                                    && !field.name.contains(&"per".to_owned())
                        })
                    })
            };
            let fields = self.wanting(counted);
            if let ([field], Some(number)) =
                (fields.as_slice(), fields.first().and_then(|field| self.number(*field, at)))
            {
                self.take(at, noun + 1);
                self.put(*field, vec![number]);
            }
        }
        for at in 0..self.words.len() {
            let Some(What::Number(_, None)) = self.at(at).filter(|_| self.free(at)).map(|word| &word.what) else {
                continue;
            };
            let before = at.checked_sub(1).map_or("", |before| self.lower(before));
            let after = self.at(at + 1);
            let ends = after.is_none_or(|word| {
                word.mark().is_some() || word.is("and as with in on at of to from please percent % degrees °")
            });
            let people = after.is_some_and(|word| {
                word.is("people persons guests adults of us passengers travellers travelers человек человека 人 位")
            });
            // "Two large pizzas": between the number and what it counts stands what was chosen.
            let next = (at + 1..at + 4).find(|next| self.free(*next)).unwrap_or(at + 1);
            let thing = self.is_noun(at + 1)
                || self.is_noun(next)
                || self.fields.iter().any(|field| {
                    field.is_text()
                        && self.at(at + 1).is_some_and(|word| word.keys.iter().any(|key| field.name.contains(key)))
                });
            let led = matches!(before, "for" | "для" | "на" | "of") && ends;
            let ordered = at.checked_sub(1).is_some_and(|before| self.of_tool(before) && !self.is_noun(before)) && ends;
            let named = at.checked_sub(1).is_some_and(|before| {
                self.is_noun(before) || self.at(before).is_some_and(|word| word.mark() == Some('#'))
            });
            let counts = self.wanting(|field| field.is_count() && matches!(field.sort, Sort::Number { .. }));
            if let Some(field) = self.only(&counts).filter(|_| {
                (led || people || thing || before == "a" || ordered || self.lower(at + 1) == "of") && !named
            }) && let Some(number) = self.number(field, at)
            {
                self.take(at, at + 1 + usize::from(people));
                self.put(field, vec![number]);
                continue;
            }
            // "… to 21.5", "at 40%": the only number there is for the only number there is to give.
            let numbers = self
                .wanting(|field| matches!(field.sort, Sort::Number { .. }) && !field.identifies() && !field.is_count());
            let alone = (0..self.words.len())
                .filter(|at| self.free(*at) && self.at(*at).is_some_and(|w| matches!(w.what, What::Number(..))))
                .count()
                == 1;
            let near = matches!(
                before,
                "to" | "at"
                    | "="
                    | ":"
                    | "of"
                    | "до"
                    | "на"
                    | "в"
                    | "到"
                    | "为"
                    | "is"
                    | "under"
                    | "below"
                    | "above"
                    | "over"
            ) || at.checked_sub(1).is_some_and(|before| self.of_tool(before));
            if let Some(field) = self.only(&numbers).filter(|_| alone && near && ends && !named)
                && let Some(number) = self.number(field, at)
            {
                self.take(at, at + 1);
                self.put(field, vec![number]);
            } else if let Some(field) = self
                .only(&self.wanting(|field| field.is_money()))
                .filter(|_| alone && !named && (ends || after.is_some_and(|word| currency(&word.text).is_some())))
                && let Some(number) = self.number(field, at)
            {
                self.take(at, at + 1);
                self.put(field, vec![number]);
            }
        }
    }

    fn number(&self, field: usize, at: usize) -> Option<Value> {
        let sort = self.fields.get(field).map(|field| &field.sort)?;
        self.value(sort, at)
    }

    /// Marks such as LH12, and numbers behind what they are the numbers of.
    pub(super) fn codes(&mut self) {
        for at in 0..self.words.len() {
            let fields = self.wanting(|field| field.identifies());
            let Some(field) = self.only(&fields) else { return };
            let Some(sort) = self.fields.get(field).map(|field| field.sort.clone()) else { return };
            let mark = self.at(at).is_some_and(|word| matches!(word.what, What::Code(_)));
            // "Cancel 2 appointments", "cancel three": how many, and not which.
            let number = self.at(at).is_some_and(|word| {
                matches!(word.what, What::Number(_, None)) && word.text.starts_with(|c: char| c.is_ascii_digit())
            }) && !self.is_noun(at + 1)
                && !(self.is_noun(at + 2) && self.at(at + 1).is_some_and(|word| word.is_word() && !is_small(word)));
            let before = at.checked_sub(1);
            let led = before.is_some_and(|before| {
                self.of_tool(before)
                    || self.at(before).is_some_and(|word| word.is("for number no nr # № id 号 номер под"))
            });
            if (mark || number && led)
                && let Some((values, to)) = self.row(&sort, at)
            {
                self.take(at, to);
                self.put(field, values);
            }
        }
    }

    /// Quoted text: to the texts that are missing, headings before what they head.
    pub(super) fn quotes(&mut self) {
        let quotes: Vec<usize> = (0..self.words.len())
            .filter(|at| self.free(*at) && self.at(*at).is_some_and(|word| matches!(word.what, What::Quote(_))))
            .collect();
        let texts = self.wanting(|field| field.is_text() && field.sort != Sort::Reason || field.sort == Sort::Code);
        let needed: Vec<usize> =
            texts.iter().copied().filter(|at| self.fields.get(*at).is_some_and(|field| field.param.required)).collect();
        let rank = |at: &usize| match self.fields.get(*at).map(|field| &field.sort) {
            Some(Sort::Content) => 0,
            Some(Sort::Deed | Sort::Query) => 1,
            Some(Sort::Title) => 2,
            Some(Sort::Name) => 3,
            _ => 4,
        };
        let fields: Vec<usize> = match (quotes.len(), needed.len(), texts.len()) {
            (1, 0, _) => {
                // "By "Ann"": what a word leads goes to no text that a call may do without.
                let led = quotes.first().and_then(|at| at.checked_sub(1)).and_then(|before| self.at(before));
                let led = self.one.writes
                    && led.is_some_and(|word| word.is("by with for from to as in of called named titled"));
                texts.into_iter().min_by_key(rank).filter(|_| !led).into_iter().collect()
            }
            (1, _, _) => needed.into_iter().min_by_key(rank).into_iter().collect(),
            (count, needs, _) if count == needs => needed,
            (count, needs, all) if count == all && (!self.one.writes || needs == all) => texts,
            _ => return,
        };
        for (field, at) in fields.into_iter().zip(quotes) {
            if let Some(value) = self.fields.get(field).and_then(|field| self.value(&field.sort, at)) {
                self.take(at, at + 1);
                self.put(field, vec![value]);
            }
        }
    }
}

/// Whether one of the words of an `enum` is that currency.
fn spells(field: &super::field::Field<'_>, code: Option<&str>) -> bool {
    let Some(code) = code else { return false };
    matches!(&field.sort, Sort::Enum(options) if options.iter().any(|option| option.as_str() == Some(code)))
}
