//! Values that words around them tell: from here to there, what is to be passed on, where, to whom, what is looked for.

use serde_json::Value;

use super::field::{Field, Sort, is_other_side};
use super::fill::{Filler, is_small};
use super::glue::is_adverb;
use super::lex::What;
use crate::data;
use crate::words::slice;

pub(super) const BEGINS: &str = "from leaving departing since между между из с со от 从 由 between";
pub(super) const ENDS: &str = "to arriving into until till towards onto в во на до к 到 至 往 成 为 换成";
const WHERE: &str = "in at for of on to в во на для у по из 在 于";
const WHOM: &str = "to for with by к для у с от 给 向";

impl Filler<'_> {
    /// "… because it is late": to the end.
    pub(super) fn reasons(&mut self) {
        let Some(field) = self.wanting(|field| field.sort == Sort::Reason).first().copied() else { return };
        let lead = |at: &usize| {
            self.at(*at).is_some_and(|word| word.is("because since 因为") && (self.lower(*at) != "since" || *at > 1))
                || self.lower(*at) == "due" && self.lower(at + 1) == "to"
                || self.lower(*at) == "потому" && self.lower(at + 1) == "что"
        };
        let Some(at) = (0..self.words.len()).find(lead) else { return self.named_reason(field) };
        let two = matches!(self.lower(at), "due" | "потому") || self.lower(at + 1) == "of";
        self.pass_on(field, at, at + if two { 2 } else { 1 });
    }

    /// "Reason: knee pain", "with the reason knee pain": up to the next mark.
    fn named_reason(&mut self, field: usize) {
        let Some(at) = (0..self.words.len()).find(|at| self.free(*at) && self.own_name(field, *at)) else { return };
        let mut from = at + 1;
        while self.at(from).is_some_and(|word| word.is("is : ：")) {
            from += 1;
        }
        let to = self.until_mark(from);
        let tells = |at: usize| self.at(at).is_some_and(|word| word.is_value() || word.is_word() && !is_small(word));
        if (from..to).any(tells) {
            let text = self.text(from, to).to_owned();
            self.take(at, to);
            self.told.iter_mut().take(to).skip(from).for_each(|told| *told = true);
            self.put(field, vec![text.into()]);
        }
    }

    fn colon(&self, at: usize) -> bool {
        self.free(at) && self.at(at).is_some_and(|word| matches!(word.mark(), Some(':' | '：')))
    }

    /// Gives a parameter all words from a place to the end.
    fn pass_on(&mut self, field: usize, from: usize, at: usize) {
        let Some(first) = self.at(at) else { return };
        let text = slice(self.request, first.start, self.end).trim();
        let text = text.trim_end_matches(['.', ' ', ',', '。', '，', '!']).trim_matches(|c| "\"“”«»".contains(c));
        if text.is_empty() {
            return;
        }
        let value = Value::from(text);
        self.take(from, self.words.len());
        self.told.iter_mut().skip(from).for_each(|told| *told = true);
        self.put(field, vec![value]);
    }

    /// From here to there, in either order.
    pub(super) fn pairs(&mut self) {
        for begins in [true, false] {
            let fields = self.wanting(|field| field.side() == Some(begins) && paired(&field.sort));
            let Some(field) = self.only(&fields) else { continue };
            let Some(sort) = self.fields.get(field).map(|field| field.sort.clone()) else { continue };
            let typed = matches!(sort, Sort::Currency | Sort::Unit | Sort::Language);
            for at in 0..self.words.len() {
                let between = self.lower(at) == "between" || self.lower(at) == "между";
                let and = matches!(self.lower(at), "and" | "и")
                    && (0..at).any(|at| matches!(self.lower(at), "between" | "между"));
                let marks = if begins { BEGINS } else { ENDS };
                let said = self.at(at).is_some_and(|word| word.is(marks)) || and && !begins;
                let said = said || !begins && typed && self.at(at).is_some_and(|word| word.is("in 换成 兑换 换"));
                let said = said || !begins && typed && matches!(self.lower(at), "-" | "→" | ">");
                if !said || begins && and || !begins && between {
                    continue;
                }
                // "Arriving in Rome".
                let two = self.at(at).is_some_and(|word| word.is("arriving leaving departing"))
                    && self.at(at + 1).is_some_and(|word| word.is("in at from to"));
                if let Some((value, to)) = self.led(field, &sort, at + 1 + usize::from(two)) {
                    self.take(at, to);
                    self.put(field, vec![value]);
                    break;
                }
            }
            // "translate it to French" names one language, "250 USD" one currency: where nothing leads it, it is where it begins.
            let left = self.wanting(|field| field.sort == sort);
            if typed && begins && self.open(field) && left.len() > 1 {
                let stands = (0..self.words.len()).find(|at| {
                    let before = at.checked_sub(1).and_then(|before| self.at(before));
                    !before.is_some_and(|word| word.is(ENDS) || word.is("in")) && self.value(&sort, *at).is_some()
                });
                if let Some((at, value)) = stands.and_then(|at| Some((at, self.value(&sort, at)?))) {
                    self.take(at, at + 1);
                    self.put(field, vec![value]);
                }
            }
        }
        // A currency, unit or language that needs no pair.
        for at in self.wanting(|field| matches!(field.sort, Sort::Currency | Sort::Unit | Sort::Language)) {
            let Some(sort) = self.fields.get(at).map(|field| field.sort.clone()) else { continue };
            let sided = self.fields.get(at).and_then(Field::side).is_some();
            let places: Vec<usize> = (0..self.words.len()).filter(|at| self.value(&sort, *at).is_some()).collect();
            if let ([place], false) = (places.as_slice(), sided && self.paired_with(at))
                && let Some(value) = self.value(&sort, *place)
            {
                self.take(*place, *place + 1);
                self.put(at, vec![value]);
            }
        }
    }

    fn paired_with(&self, at: usize) -> bool {
        let Some(field) = self.fields.get(at) else { return false };
        self.fields.iter().enumerate().any(|(other, one)| other != at && one.sort == field.sort && one.side().is_some())
            && self.wanting(|one| one.sort == field.sort).len() > 1
    }

    /// The value right behind a word that leads it.
    fn led(&self, field: usize, sort: &Sort, at: usize) -> Option<(Value, usize)> {
        let at = if matches!(self.lower(at), "the" | "a" | "an" | "my" | "our") { at + 1 } else { at };
        if let Some(value) = self.value(sort, at) {
            let language = *sort == Sort::Language && self.lower(at + 1) == "language";
            return Some((value, at + 1 + usize::from(language)));
        }
        if matches!(sort, Sort::Currency | Sort::Unit | Sort::Language | Sort::Code | Sort::Title) {
            return None;
        }
        let small = |at: usize| self.lower_case(at).filter(|_| !self.one.writes || *sort != Sort::Person);
        let to = self.name(at).or_else(|| small(at))?;
        let to = self.with_noun(field, to);
        Some((self.text(at, to).into(), to))
    }

    /// Where a name ends that the parameter's own noun goes on: "living room", "Anna's room", "Green Room"; but not "Oslo city".
    fn with_noun(&self, field: usize, to: usize) -> usize {
        let owned = matches!(self.gap(to), "'s " | "’s ");
        let (Some(last), Some(noun)) = (to.checked_sub(1).and_then(|last| self.at(last)), self.at(to)) else {
            return to;
        };
        let goes_on = owned || self.gap(to) == " " && (!last.name || noun.name);
        to + usize::from(goes_on && noun.is_word() && self.free(to) && self.own_name(field, to))
    }

    /// A place or a name written small, before the next small word, value or mark: for a tool that changes something one word, else
    /// up to three.
    fn lower_case(&self, at: usize) -> Option<usize> {
        let mut to = at;
        while to < at + if self.one.writes { 1 } else { 3 }
            && self.at(to).is_some_and(|word| {
                word.is_word()
                    && self.free(to)
                    && !is_small(word)
                    && !self.of_tool(to)
                    && !no_name(word)
                    && !is_adverb(word)
                    && !data::ORDER_VERBS.has(&word.lower)
            })
        {
            to += 1;
        }
        // "for the next 3 days": these words belong to the number.
        let belongs = self.at(to).is_some_and(|word| matches!(word.what, What::Number(..)) && self.gap(to) == " ");
        (to > at && !belongs).then_some(to)
    }

    /// What is to be passed on: behind a colon, "saying", "that"; and what is to be done.
    pub(super) fn contents(&mut self) {
        let fields = self.wanting(|field| matches!(field.sort, Sort::Content | Sort::Deed));
        let says = |at: usize| {
            self.at(at).is_some_and(|word| self.free(at) && word.is("saying stating that reading says telling что 说"))
                || matches!(
                    (self.lower(at), self.lower(at + 1)),
                    ("с", "текстом") | ("со", "словами") | ("the", "text") | ("内容", "是" | "为" | "：")
                )
        };
        if let Some(field) = self.only(&fields) {
            let place = (0..self.words.len()).find(|at| self.colon(*at) || says(*at));
            if let Some(at) = place {
                let two = matches!(self.lower(at), "с" | "со" | "the" | "内容");
                let mut next = at + 1 + usize::from(two);
                while self
                    .at(next)
                    .is_some_and(|word| matches!(word.mark(), Some(':' | '：' | ',')) || word.is("that of"))
                {
                    next += 1;
                }
                // What another parameter took is not passed on too.
                if (next..self.words.len()).all(|at| self.free(at)) {
                    self.pass_on(field, at, next);
                }
            }
        }
        for field in self.wanting(|field| field.sort == Sort::Deed) {
            let deed = |at: &usize| {
                matches!(self.lower(*at), "to" | "чтобы" | "for")
                    && self
                        .at(at + 1)
                        .is_some_and(|word| word.is_word() && !word.name && !is_small(word) && self.free(at + 1))
                    && (*at > 0
                        && (self.of_tool(at - 1) || matches!(self.lower(at - 1), "me" | "us" | "reminder" | "task")))
            };
            if let Some(at) = (0..self.words.len()).find(deed) {
                let to = self.until_mark(at + 1);
                self.take(at, to);
                self.told.iter_mut().take(to).skip(at).for_each(|told| *told = true);
                let text = self.text(at + 1, to).to_owned();
                self.put(field, vec![text.into()]);
            }
        }
        // "a note about X" has no words of its own; "called X", "titled X" heads something.
        for field in self.wanting(|field| matches!(field.sort, Sort::Title | Sort::Name)) {
            let called = |at: &usize| {
                self.at(*at)
                    .is_some_and(|word| word.is("called titled named entitled 名为 叫 названием") && self.free(*at))
            };
            let Some(at) = (0..self.words.len()).find(called) else {
                let title =
                    self.fields.get(field).is_some_and(|field| field.sort == Sort::Title && field.param.required);
                if let Some(at) = (0..self.words.len()).find(|at| self.colon(*at)).filter(|_| title) {
                    self.pass_on(field, at, at + 1);
                }
                continue;
            };
            let to = self.name(at + 1).unwrap_or_else(|| self.until_cue(at + 1));
            let vague = to == at + 2 && self.at(at + 1).is_some_and(no_name);
            if to > at + 1 && !vague {
                let text = self.text(at + 1, to).to_owned();
                self.take(at, to);
                self.put(field, vec![text.into()]);
            }
        }
    }

    /// Up to a comma, a value that was taken, or the end.
    pub(super) fn until_mark(&self, from: usize) -> usize {
        let ends = |at: &usize| {
            !self.free(*at)
                || self.at(*at).is_some_and(|word| word.mark().is_some_and(|c| ",.;!?，。；！？(".contains(c)))
        };
        let mut to = (from..self.words.len()).find(ends).unwrap_or(self.words.len());
        // "… by" and "… on" led the value that was taken.
        while to > from + 1
            && self
                .at(to - 1)
                .is_some_and(|word| word.is("by on at with and in for due due: before until as до к на в с и please"))
        {
            to -= 1;
        }
        to
    }

    /// The same, and up to a word that leads something else.
    pub(super) fn until_cue(&self, from: usize) -> usize {
        let ends = self.until_mark(from);
        let cue = |at: &usize| {
            self.at(*at).is_some_and(|word| {
                let leads =
                    word.is("on at for with from in by to due as over under after before between until near and or");
                let joins = word.is("that which who not if и с на в для или до после");
                leads || joins || matches!(word.what, What::Day | What::Date(_) | What::Time)
            })
        };
        (from..ends).find(|at| *at > from && cue(at)).unwrap_or(ends)
    }

    /// Where, to whom, what.
    pub(super) fn phrases(&mut self) {
        for sort in [Sort::Place, Sort::Person, Sort::Name] {
            self.abreast(&sort);
        }
        for field in self.wanting(|field| list_of(&field.sort, &Sort::Person) || field.sort == Sort::Person) {
            self.behind(field, WHOM);
        }
        for field in self.wanting(|field| field.sort == Sort::Place) {
            self.behind(field, WHERE);
        }
        for field in self.wanting(|field| {
            field.param.required
                && matches!(&field.sort, Sort::List(each) if matches!(**each, Sort::Name | Sort::Place | Sort::Person))
        }) {
            self.listed(field);
        }
        for field in self.wanting(|field| matches!(field.sort, Sort::Place | Sort::Person)) {
            self.standing(field);
        }
        let queries = self.wanting(|field| matches!(field.sort, Sort::Query));
        if let Some(field) = self.only(&queries) {
            self.object(field, true);
        }
        // Texts that nothing tells apart are filled only where one is missing.
        let names = self.wanting(|field| {
            field.param.required
                && matches!(
                    field.sort,
                    Sort::Name | Sort::Title | Sort::Person | Sort::Place | Sort::Content | Sort::Deed | Sort::Code
                )
        });
        if let [field] = names.as_slice()
            && self
                .fields
                .get(*field)
                .is_some_and(|field| matches!(field.sort, Sort::Name | Sort::Title | Sort::Person))
        {
            match self.names().as_slice() {
                [(from, to)] => {
                    let text = self.text(*from, *to).to_owned();
                    self.take(*from, *to);
                    self.put(*field, vec![text.into()]);
                }
                _ => self.object(*field, false),
            }
        }
    }

    /// Several parameters of one sort that no word tells apart, and as many names: in their order.
    fn abreast(&mut self, sort: &Sort) {
        let fields = self.wanting(|field| field.sort == *sort && field.param.required && field.side().is_none());
        let names = self.names();
        if fields.len() < 2 || names.len() != fields.len() {
            return;
        }
        for (field, (from, to)) in fields.into_iter().zip(names) {
            let text = self.text(from, to).to_owned();
            self.take(from, to);
            self.put(field, vec![text.into()]);
        }
    }

    /// "… with eggs and spinach".
    fn listed(&mut self, field: usize) {
        let cue = |at: &usize| {
            self.free(*at) && self.at(*at).is_some_and(|word| word.is("with of for from using containing: с из для 用"))
        };
        let places: Vec<usize> = (0..self.words.len()).filter(cue).collect();
        for at in places {
            if let Some((values, to)) = self.words_in_a_row(self.article(at + 1)) {
                self.take(at, to);
                self.put(field, values);
                return;
            }
        }
    }

    /// A name behind a word that leads such, or several in a row.
    fn behind(&mut self, field: usize, cues: &str) {
        let Some(one) = self.fields.get(field) else { return };
        let (required, person) = (one.param.required, one.sort == Sort::Person || list_of(&one.sort, &Sort::Person));
        let side = one.side();
        let mut places: Vec<usize> = (0..self.words.len())
            .filter(|at| self.free(*at) && self.at(*at).is_some_and(|word| word.is(cues) && !is_other_side(side, word)))
            .collect();
        // A name written with a capital is surer than a word written small.
        places.sort_by_key(|at| self.name(self.article(at + 1)).is_none());
        for at in places {
            let from = self.article(at + 1);
            // "To my landlord": a person who is not named.
            let related = person && (self.one.writes || self.at(at + 1).is_some_and(|word| word.is("my our the a an")));
            // "In secret", "in time": a place that is written small has an article, but for a room.
            let room = one.is("room zone area");
            let set = self.at(from).is_some_and(|word| word.is("time secret advance fact general case total walking"));
            let bare = one.sort == Sort::Place && (set || self.one.writes && from == at + 1 && !room);
            let (first, small) = match self.name(from) {
                Some(to) => (to, false),
                None if required && !related && !bare => match self.lower_case(from) {
                    Some(to) => (to, true),
                    None => continue,
                },
                None => continue,
            };
            let first = self.with_noun(field, first);
            let mut values = vec![Value::from(self.text(from, first))];
            let mut to = first;
            while self.joins(to) {
                let next = if self.joins(to + 1) { to + 2 } else { to + 1 };
                let next = self.article(next);
                // "And the blinds": a thing of another tool.
                let other = |word: &super::lex::Word| word.keys.iter().any(|key| self.others.contains(key));
                let small = small && !self.at(next).is_some_and(other);
                let Some(end) = self.name(next).or_else(|| self.lower_case(next).filter(|_| small)) else { break };
                let end = self.with_noun(field, end);
                values.push(self.text(next, end).into());
                to = end;
            }
            self.take(at, to);
            self.put(field, values);
            return;
        }
    }

    fn article(&self, at: usize) -> usize {
        let skips = self.at(at).is_some_and(|word| word.is("the a an my our your city town"));
        if skips { at + 1 } else { at }
    }

    /// A name that stands alone: "Oslo weather", "Анне"; or what stands before the thing: "the kitchen lamp".
    fn standing(&mut self, field: usize) {
        let Some(one) = self.fields.get(field).filter(|field| field.param.required) else { return };
        let side = one.side();
        let led_elsewhere = |from: usize| {
            from.checked_sub(1).and_then(|before| self.at(before)).is_some_and(|word| is_other_side(side, word))
        };
        let names: Vec<(usize, usize)> = self.names().into_iter().filter(|(from, _)| !led_elsewhere(*from)).collect();
        if let [(from, to)] = names.as_slice() {
            let text = self.text(*from, *to).to_owned();
            let (from, to) = (*from, *to);
            self.take(from, to);
            self.put(field, vec![text.into()]);
            return;
        }
        if !names.is_empty() {
            // "Paris, Rome and Oslo".
            let row = names.windows(2).all(
                |two| matches!(two, [(_, end), (next, _)] if (*end..*next).all(|at| self.joins(at)) && end < next),
            );
            if row {
                let values = names.iter().map(|(from, to)| self.text(*from, *to).into()).collect();
                names.iter().for_each(|(from, to)| self.take(*from, *to));
                self.put(field, values);
            }
            return;
        }
        if one.sort != Sort::Place || !one.is("room zone area place locat") {
            return;
        }
        let before = |at: &usize| {
            self.is_thing(*at + 1)
                && self.free(*at)
                && self
                    .at(*at)
                    .is_some_and(|word| word.is_word() && !is_small(word) && !no_name(word) && !self.of_tool(*at))
                && at.checked_sub(1).is_some_and(|before| self.at(before).is_some_and(|word| word.is("the my our in")))
        };
        if let Some(at) = (0..self.words.len()).find(before) {
            let to = self.with_noun(field, at + 1);
            let text = self.text(at, to).to_owned();
            self.take(at, to);
            self.put(field, vec![text.into()]);
        }
    }

    fn is_thing(&self, at: usize) -> bool {
        self.of_tool(at)
    }

    /// The names that nothing has taken yet.
    fn names(&self) -> Vec<(usize, usize)> {
        let mut names = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            match self.name(at).filter(|_| self.free(at)) {
                Some(to) => {
                    names.push((at, to));
                    at = to;
                }
                None => at += 1,
            }
        }
        names
    }

    pub(super) fn own_name(&self, field: usize, at: usize) -> bool {
        let Some(field) = self.fields.get(field) else { return false };
        self.at(at).is_some_and(|word| word.keys.iter().any(|key| field.name.contains(key)))
    }
}

fn paired(sort: &Sort) -> bool {
    matches!(
        sort,
        Sort::Place
            | Sort::Person
            | Sort::Currency
            | Sort::Unit
            | Sort::Language
            | Sort::Name
            | Sort::Title
            | Sort::Code
    )
}

fn list_of(sort: &Sort, each: &Sort) -> bool {
    matches!(sort, Sort::List(of) if **of == *each)
}

/// Words that stand where names do and name nothing.
pub(super) fn no_name(word: &super::lex::Word) -> bool {
    is_nobody(word)
        || word.is(
        "next last following past coming current now here there today soon later all every each something anything someone \
         somebody anyone anybody nobody everyone everybody everything nothing somewhere anywhere everywhere nowhere elsewhere else whole \
         entire whoever whatever wherever coldest warmest hottest nearest closest biggest smallest largest best worst cheapest newest \
         oldest latest him her them it other another new same one ones thing things stuff sure order fun \
         home degrees degree percent half more less most least please free it's",
    )
}

/// Words that stand for somebody or something without naming it, and say who somebody is rather than what they are called.
pub(super) fn is_nobody(word: &super::lex::Word) -> bool {
    const HAN: [&str; 13] = ["某", "任何", "大家", "自己", "他", "她", "它", "别人", "谁", "或", "的人", "每", "各"];
    const PRONOUNS: &str = "me him her them somebody someone anybody anyone nobody everybody everyone something anything nothing \
        everything somewhere anywhere nowhere everywhere none unknown tbd myself himself herself themselves yourself others other \
        previous prior former 别 某 кого-нибудь кого-то никого себя меня тебя всех другого каждого";
    const ROLES: &str = "sender recipient receiver customer client owner author reporter assignee driver manager boss colleague \
        neighbour neighbor landlord tenant patient doctor friend mother father brother sister wife husband";
    word.is(PRONOUNS)
        || word.is(ROLES)
        || word.lower.chars().any(jarvis_plan::is_han) && HAN.iter().any(|part| word.lower.contains(part))
}
