//! What a request says beside the arguments: how many people a party has, what is spoken of and not said, what is taken out.

use serde_json::Value;

use super::field::Sort;
use super::fill::Filler;
use super::lex::What;

impl Filler<'_> {
    /// "Two adults and one child": all of them, where one parameter counts them.
    pub(super) fn party(&mut self) {
        const PEOPLE: &str = "people persons person guests guest adults adult children child kids kid infants infant babies baby \
            seniors senior passengers passenger";
        let person = |filler: &Self, at: usize| filler.at(at).is_some_and(|word| word.is_word() && word.is(PEOPLE));
        for at in 0..self.words.len() {
            let count =
                |filler: &Self, at: usize| match filler.at(at).filter(|_| filler.free(at)).map(|word| &word.what) {
                    Some(What::Number(number, None)) if person(filler, at + 1) => {
                        number.as_i64().filter(|many| *many < 1000)
                    }
                    _ => None,
                };
            let (Some(mut sum), mut to, mut parts) = (count(self, at), at + 2, 1) else { continue };
            while self.joins(to) || self.at(to).is_some_and(|word| word.is("plus with")) {
                let Some(more) = count(self, to + 1) else { break };
                (sum, to, parts) = (sum + more, to + 3, parts + 1);
            }
            let counts = self.wanting(|field| field.is_count() && matches!(field.sort, Sort::Number { .. }));
            if let ([field], true) = (counts.as_slice(), parts > 1) {
                self.take(at, to);
                self.put(*field, vec![sum.into()]);
            }
        }
    }

    /// What speaks of an argument without saying it: "for me and my wife" of how many, "urgent priority" of one of an `enum`.
    pub(super) fn untold(&self) -> Vec<String> {
        let mut found = Vec::new();
        let lower = |at: usize| self.lower(at);
        let many = !self.wanting(|field| field.is_count() && !field.param.required).is_empty();
        for at in 0..self.words.len() {
            let company = matches!(
                (lower(at), lower(at + 1)),
                ("me" | "myself", "and") | ("and", "me" | "i" | "myself") | ("for", "us")
            );
            if many && company && self.free(at) && self.free(at + 1) {
                found.push(self.text(at, (at + 4).min(self.words.len())).to_owned());
            }
        }
        for field in self.wanting(|field| matches!(field.sort, Sort::Enum(_))) {
            let Some(names) = self.fields.get(field).map(|field| &field.name) else { continue };
            let speaks = |at: &usize| {
                self.free(*at)
                    && !self.of_tool(*at)
                    && self.at(*at).is_some_and(|word| word.is_word() && names.iter().any(|name| word.has(name)))
            };
            if let Some(at) = (0..self.words.len()).find(speaks) {
                found.push(self.text(at.saturating_sub(1), at + 1).to_owned());
            }
        }
        // "With somebody": no address, where one is wanted.
        for _ in self.wanting(|field| matches!(&field.sort, Sort::List(each) if **each == Sort::Email)) {
            let whom = |at: &usize| {
                self.free(*at)
                    && lower(*at) == "with"
                    && self.at(at + 1).is_some_and(|word| word.is_word() && self.free(at + 1) && !self.of_tool(at + 1))
            };
            if let Some(at) = (0..self.words.len()).find(whom) {
                found.push(self.text(at, at + 2).to_owned());
            }
        }
        found
    }

    /// Values that are said otherwise than a parameter takes them: "after 14:30" for a time, "about 5" for a number, two places that
    /// may be one and where it lies, a day without a year where a calendar's is wanted.
    pub(super) fn unlike(&self) -> Vec<String> {
        const LATER: &str = "after above over since exceeding после свыше более больше 超过";
        const EARLIER: &str = "before under below until till within less fewer меньше менее 低于";
        const NEARLY: &str =
            "between about around roughly approximately circa ca almost nearly между примерно около почти 大约 左右";
        let mut found = Vec::new();
        for ((field, slot), place) in self.fields.iter().zip(&self.slots).zip(&self.places) {
            let Some(values) = slot.as_ref().filter(|_| !place.is_empty()) else { continue };
            let measured = matches!(field.sort, Sort::Number { .. } | Sort::Date | Sort::Time);
            let value = place.clone().find(|at| self.at(*at).is_some_and(super::lex::Word::is_value));
            let before = |back: usize| value.and_then(|at| at.checked_sub(back)).and_then(|at| self.at(at));
            let said = |list: &str| {
                before(1).is_some_and(|word| word.is(list))
                    || before(1).is_some_and(|word| word.is("than чем")) && before(2).is_some_and(|word| word.is(list))
            };
            // What is done begins at a time; only a search has limits on both sides.
            let bounds = |side: bool, names: &str| match self.one.writes {
                true => field.is(names),
                false => field.side() == Some(side),
            };
            // What lasts until then is not over before.
            let ends = match before(1).is_some_and(|word| word.is("until till")) {
                true => "max until till to end latest deadlin due limit",
                false => "max befor before latest deadlin limit",
            };
            let off = said(LATER) && !bounds(true, "min from after sinc earliest")
                || said(EARLIER) && !bounds(false, ends)
                || said(NEARLY) && field.side().is_none();
            let dated =
                |value: &Value| value.as_str().is_some_and(|day| day.starts_with(|ch: char| ch.is_ascii_digit()));
            // "By Friday" and "from Friday" are no day on which something is done once.
            let loose = field.sort == Sort::Date
                && field.side().is_none()
                && self.one.writes
                && said("by from through по с до");
            let yearless = field.sort == Sort::Date
                && (self.one.dated || field.param.description.contains("YYYY"))
                && !values.iter().all(dated);
            // "$40", where nothing says that it is dollars.
            let sign = place.clone().find_map(|at| match self.at(at).map(|word| &word.what) {
                Some(What::Number(_, sign)) => *sign,
                _ => None,
            });
            let spoken = |code: &str| {
                let holds = |slot: &Option<Vec<Value>>| slot.iter().flatten().any(|value| value.as_str() == Some(code));
                field.is_in(Some(code)) || self.slots.iter().any(holds)
            };
            if matches!(field.sort, Sort::Number { .. }) && sign.is_some_and(|code| !spoken(code)) {
                found.push(self.text(place.start, place.end).to_owned());
            }
            let joined = || place.clone().any(|at| self.at(at).is_some_and(|word| word.is("and и 和 与 &")));
            let apart = values.len() == 2 && matches!(field.sort, Sort::Place | Sort::Person | Sort::Name) && !joined();
            if measured && off || loose || yearless || apart {
                found.push(self.text(place.start.saturating_sub(usize::from(off)), place.end).to_owned());
            }
        }
        found
    }

    /// What the request takes out: "not in economy", "except on 3 May". No argument is made of it.
    pub(super) fn excluded(&mut self) {
        let flag = |filler: &Self, at: usize| {
            filler.fields.iter().any(|field| {
                field.sort == Sort::Bool
                    && filler.at(at).is_some_and(|word| word.keys.iter().any(|key| field.name.contains(key)))
            })
        };
        for at in 0..self.words.len() {
            let passes_on = |word: &super::lex::Word| {
                matches!(word.mark(), Some(':' | '：'))
                    || word.is("saying stating that reading says telling because что с 说")
            };
            if self.words.iter().take(at).any(passes_on) {
                return;
            }
            let next = self.at(at + 1);
            let leads = next.is_some_and(|next| {
                next.is_value()
                    || next.name
                    || next.is("in on at from to for with by the a an before after в на из с до к")
            });
            let takes_out = match self.lower(at) {
                "except" | "excluding" | "кроме" => true,
                "not" | "не" => (leads || at == 0) && !next.is_some_and(|next| next.is("only just только")),
                _ => false,
            };
            if !takes_out || !self.free(at) {
                continue;
            }
            let ends = |at: &usize| {
                self.at(*at).is_some_and(|word| {
                    word.is("but но а") || word.mark().is_some_and(|c| ",.;!?，。；！？".contains(c))
                })
            };
            let to = (at + 1..self.words.len()).find(ends).unwrap_or(self.words.len());
            if (at..to).any(|at| flag(self, at)) {
                continue;
            }
            // "Not in Paris but in Rome": what is meant is said.
            if !self.at(to).is_some_and(|word| word.is("but но а")) {
                let text = self.text(at, to).to_owned();
                self.aside.push(text);
            }
            self.take(at, to);
        }
    }
}
