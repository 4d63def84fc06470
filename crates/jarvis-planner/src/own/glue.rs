//! Which words of a clause only hold it together where they stand. All others that nothing took may be the point of the request:
//! "near the kitchen" is not the kitchen, and "twice" not once.

use super::field::{Field, Sort};
use super::fill::Filler;
use super::lex::{self, What, Word};
use crate::data;
use crate::words;

/// Hold anywhere.
const ANYWHERE: &str = "the a an my our your his her their its this that these those it them i we me us you please kindly thanks \
    thank now just then so also hi hello hey jarvis пожалуйста я мы мне нам меня нас мой мою моя моё мои мое моего моей \
    наш нашу этот эту это эти этого этой тот ту те его её ее их ему ей же ка спасибо";
/// Hold where what they lead was taken, or is what the tool is about.
const LEADS: &str = "of in on at to from for with by as via into onto between some called named titled entitled в во на по из с со к ко у для от до о \
    об про за под";
/// Hold in what is asked of a tool that only reads.
const ASKING: &str = "all every go goes is are was were be been being am do does did has have had can could would will should may might must any some many \
    much there i'd i'm we're need want wants whats what's where's who's how's tell know about if whether use using call run \
    через есть был была было были будет будут ли можно нужно надо хочу";
/// Chinese words that tie others together and say when, or that one thing follows another.
const HAN_TELLING: &str = "今天 明天 后天 昨天 并 然后 再 以及 不";

impl<'a> Filler<'a> {
    /// Whether a word only holds the clause together where it stands.
    pub(super) fn holds(&self, at: usize) -> bool {
        let Some(word) = self.at(at) else { return true };
        // What stands before the verb of an order is read with the order.
        if self.one.writes && (0..=at).all(|at| self.free(at) && !self.of_tool(at)) {
            return true;
        }
        let taken = |at: usize| self.at(at).is_some() && !self.free(at);
        let next = self.past_determiners(at + 1);
        let reads = !self.one.writes;
        match () {
            () if word.is(ANYWHERE) => true,
            () if word.is(lex::HAN_TIES) => !word.is(HAN_TELLING),
            () if word.is(LEADS) => {
                let myself = word.is("for для") && self.at(at + 1).is_some_and(|next| next.is("me myself меня"));
                let asks = word.is("to чтобы") && self.at(next).is_some_and(|next| next.is(super::ASKS));
                myself
                    || asks
                    || self.limits_taken(at)
                    || taken(next)
                    || self.of_tool(next)
                    || self.of_field(next)
                    || reads && self.ends_at(at + 1)
            }
            () if self.limits_taken(at) => true,
            () if word.is("since until till before after starting through") => self.is_when(next),
            () if word.is("like") => {
                let leads = self.at(next).is_some_and(|word| word.is(LEADS));
                reads && (leads || !taken(next) && !self.of_tool(next))
            }
            () if word.is("and и & plus but но а") => {
                let before = at.checked_sub(1);
                let edge = before.is_none() || self.ends_at(at + 1);
                edge || before.is_some_and(taken) && (taken(next) || self.leads_to_taken(next))
                    || reads && self.of_tool(next)
            }
            () if reads => word.is(ASKING) || data::QUESTION_WORDS.has(&word.lower) || data::POLITE.has(&word.lower),
            () => false,
        }
    }

    /// Whether a day or a time stands there that a parameter took.
    fn is_when(&self, at: usize) -> bool {
        self.taker(at).is_some_and(|field| matches!(field.sort, Sort::Date | Sort::Time))
    }

    /// The parameter whose value stands at a place.
    fn taker(&self, at: usize) -> Option<&Field<'a>> {
        self.places.iter().position(|place| place.contains(&at)).and_then(|field| self.fields.get(field))
    }

    /// Whether a word leads something that was taken: "on" of "and on 3 May".
    fn leads_to_taken(&self, at: usize) -> bool {
        let next = self.past_determiners(at + 1);
        let led = self.at(at).is_some_and(|word| word.is(LEADS)) || self.of_tool(at) || self.of_field(at);
        led && self.at(next).is_some() && !self.free(next)
    }

    /// "At most 90", "under 90": a word before a number that was taken as the limit that it is. What the limit excludes is told
    /// elsewhere.
    fn limits_taken(&self, at: usize) -> bool {
        const HIGHEST: &str = "at most up to under below within less fewer than maximum max";
        const LOWEST: &str = "at least over above more than from minimum min";
        let Some(next) = (at + 1..self.words.len()).take(3).find(|at| !self.free(*at)) else { return false };
        let number = |field: &&Field<'_>| matches!(field.sort, Sort::Number { .. });
        let list = match self.taker(next).filter(number).map(Field::side) {
            Some(Some(false)) => HIGHEST,
            Some(Some(true)) => LOWEST,
            _ => return false,
        };
        (at..next).all(|at| self.at(at).is_some_and(|word| word.is(list) || word.is("for of")))
    }

    fn past_determiners(&self, mut at: usize) -> usize {
        while self.at(at).is_some_and(|word| {
            self.free(at) && word.is("the a an my our your his her their its this that these those any all next coming")
        }) {
            at += 1;
        }
        at
    }

    fn ends_at(&self, at: usize) -> bool {
        (at..self.words.len()).all(|at| self.at(at).is_none_or(|word| word.mark().is_some()))
    }

    /// Whether a word is part of a parameter's name.
    fn of_field(&self, at: usize) -> bool {
        (0..self.fields.len()).any(|field| self.own_name(field, at))
    }

    /// Whether a mark is punctuation, or the unit of the number before it.
    pub(super) fn is_punctuation(&self, at: usize, mark: char) -> bool {
        let joins = mark == '-' && (self.gap(at).is_empty() || at == 0);
        joins || !"%‰°$€£¥₽+=^~<>/\\|*×÷".contains(mark) || self.is_unit_of(at)
    }

    /// Whether a word or a mark is what the number before it is counted in, by what the parameter that took it says: "40 percent",
    /// "21 °C".
    pub(super) fn is_unit_of(&self, at: usize) -> bool {
        let Some(word) = self.at(at) else { return false };
        let Some(before) = at.checked_sub(1) else { return false };
        // "21 °C": the sign stands between.
        if self.at(before).is_some_and(|word| word.mark() == Some('°')) && word.is("c f") {
            return self.is_unit_of(before);
        }
        let number = self.at(before).is_some_and(|word| matches!(word.what, What::Number(..)));
        let Some(field) = self.taker(before).filter(|_| number) else { return false };
        let says = |list: &str| field.is(list) || field.meaning.iter().any(|stem| words::listed(list, stem));
        match () {
            () if word.is("degree degrees градусов градуса градус 度") || word.mark() == Some('°') => {
                says("degre celsiu fahrenheit temperatur angl heat warm rotat")
            }
            () if word.is("percent percentage процентов процента процент") || word.mark() == Some('%') => {
                says("percent percentag share level bright volum humid discount") || is_share(field)
            }
            () => word.keys.iter().any(|key| field.meaning.contains(key) || field.name.contains(key)),
        }
    }

    /// Whether a day or a time may go to a parameter that says where something begins or ends: a word that leads it says which, and
    /// where none does, only what is needed or done then is meant.
    pub(super) fn sided(&self, field: usize, at: usize) -> bool {
        const BEGIN: &str = "from since after starting beginning between с со из от после 从 自";
        const END: &str = "to until till by before through ending within по до в к 到 至";
        let Some(one) = self.fields.get(field) else { return false };
        let Some(begins) = one.side() else { return self.named_day(one) };
        let mut before = at.checked_sub(1);
        while let Some(place) = before.filter(|place| self.at(*place).is_some_and(|word| word.is("the a an day"))) {
            before = place.checked_sub(1);
        }
        let word = before.and_then(|before| self.at(before));
        let is = |list: &str| {
            word.is_some_and(|word| word.is(list) || list == END && word.mark().is_some_and(|c| "-–—".contains(c)))
        };
        if before.is_some_and(|before| self.own_name(field, before)) {
            return true;
        }
        let lasts = one.is("until till");
        match () {
            () if is(BEGIN) => begins,
            // "Move it to Friday" says when it begins now.
            () if is("to into") && begins && self.one.writes => !self.has_other_side(field),
            () if is(END) => !(begins || lasts && is("by before within")),
            () if is("on at in") => begins && (one.param.required || self.one.writes),
            () => !lasts && (one.param.required || begins && self.one.writes),
        }
    }

    /// Whether a day that nothing leads may go to a parameter: one that a call may do without must be spoken of, as "due".
    fn named_day(&self, field: &Field<'_>) -> bool {
        let mut telling =
            field.name.iter().filter(|stem| !words::listed("date day time datetim when", stem)).peekable();
        let dated = matches!(field.sort, Sort::Date | Sort::Time);
        let open = !dated || field.param.required || telling.peek().is_none() || field.is("on at");
        open || telling.any(|stem| self.words.iter().any(|word| word.has(stem)))
    }

    /// Whether another parameter takes the same values for the other end.
    pub(super) fn has_other_side(&self, field: usize) -> bool {
        let Some(one) = self.fields.get(field) else { return false };
        let other = one.side().map(|begins| !begins);
        self.fields.iter().any(|field| field.sort == one.sort && field.side() == other)
    }

    /// Whether the word that leads a place says that something begins or ends there.
    pub(super) fn led_side(&self, at: usize) -> Option<bool> {
        let mut before = at.checked_sub(1)?;
        while self.at(before).is_some_and(|word| word.is("the a an my our your account")) {
            before = before.checked_sub(1)?;
        }
        let word = self.at(before)?;
        match () {
            () if word.is("from с со из от 从") => Some(true),
            () if word.is("to into onto на в до к 到 至") => Some(false),
            () => None,
        }
    }
}

fn is_share(field: &Field<'_>) -> bool {
    let bound = |name: &str| field.param.schema.as_ref()?.get(name)?.as_f64();
    matches!(field.sort, Sort::Number { .. }) && bound("minimum") == Some(0.0) && bound("maximum") == Some(100.0)
}

/// Whether a word says how or when rather than what something is called: "slowly", "again".
pub(super) fn is_adverb(word: &Word) -> bool {
    word.lower.len() > 4 && word.lower.ends_with("ly")
        || word.is("again back down up off away too also itself themselves once twice etc hourly daily weekly monthly yearly downstairs upstairs \
                    inside outside nearby everywhere anywhere somewhere nowhere elsewhere immediately tonight later soon asap")
}
