//! Arguments of a call to an own tool: each word of the request goes to one parameter at most, typed values first, then what
//! stands beside a parameter's name, then what a preposition leads, and free text last.

use std::collections::HashSet;
use std::ops::Range;

use jarvis_plan::Kind;
use serde_json::Value;

use super::Own;
use super::field::{Field, Sort};
use super::lex::{What, Word};
use crate::words::{self, slice};
use crate::{data, thesaurus};

/// What a call gets, and what of the request it leaves.
#[derive(Debug, Clone, Default)]
pub(super) struct Filled {
    /// For each parameter the values: none, one, or one for each of several calls.
    pub(super) slots: Vec<Option<Vec<Value>>>,
    /// Values of the request that no parameter takes, as they were written.
    pub(super) left: Vec<String>,
    /// The places of words that neither the tool's words nor an argument explain.
    pub(super) strange: Vec<usize>,
    /// Which words became part of an argument, and which of these are text that is passed on as it stands.
    pub(super) used: Vec<bool>,
    pub(super) told: Vec<bool>,
    /// How much of a text is a guess, in words: they are written small, and nothing leads them ("play chess").
    pub(super) guessed: usize,
}

pub(super) struct Filler<'a> {
    pub(super) request: &'a str,
    pub(super) words: &'a [Word],
    pub(super) fields: &'a [Field<'a>],
    pub(super) one: &'a Own,
    /// Stems of the things that the tool's name speaks of.
    pub(super) nouns: &'a [String],
    /// Those that the names of other tools speak of, and this one's do not.
    pub(super) others: &'a HashSet<String>,
    /// Where the part of the request ends.
    pub(super) end: usize,
    pub(super) used: Vec<bool>,
    pub(super) told: Vec<bool>,
    /// What the request takes out, as it is written.
    pub(super) aside: Vec<String>,
    pub(super) slots: Vec<Option<Vec<Value>>>,
    /// Where the value of each parameter stands among the words.
    pub(super) places: Vec<Range<usize>>,
    /// What was taken last.
    pub(super) latest: Range<usize>,
    pub(super) guessed: usize,
}

pub(super) fn fill(
    request: &str,
    words: &[Word],
    end: usize,
    fields: &[Field<'_>],
    one: &Own,
    others: &HashSet<String>,
) -> Filled {
    let nouns: Vec<String> = one.name.iter().skip(usize::from(one.verb || one.name.len() == 1)).cloned().collect();
    let mut filler = Filler {
        request,
        words,
        fields,
        one,
        nouns: &nouns,
        others,
        end,
        used: vec![false; words.len()],
        told: vec![false; words.len()],
        aside: Vec::new(),
        slots: vec![None; fields.len()],
        places: vec![0..0; fields.len()],
        latest: 0..0,
        guessed: 0,
    };
    filler.excluded();
    filler.expressions();
    filler.reasons();
    filler.labelled();
    filler.typed();
    filler.money();
    filler.choices();
    filler.pairs();
    filler.counts();
    filler.codes();
    filler.quotes();
    filler.contents();
    filler.phrases();
    filler.finish()
}

impl<'a> Filler<'a> {
    pub(super) fn at(&self, at: usize) -> Option<&'a Word> {
        self.words.get(at)
    }

    pub(super) fn lower(&self, at: usize) -> &'a str {
        self.at(at).map_or("", |word| word.lower.as_str())
    }

    pub(super) fn free(&self, at: usize) -> bool {
        self.used.get(at).is_some_and(|used| !used)
    }

    pub(super) fn open(&self, field: usize) -> bool {
        self.slots.get(field).is_some_and(Option::is_none)
    }

    pub(super) fn take(&mut self, from: usize, to: usize) {
        self.used.iter_mut().take(to).skip(from).for_each(|used| *used = true);
        self.latest = from..to;
    }

    pub(super) fn put(&mut self, field: usize, values: Vec<Value>) {
        if let Some(slot) = self.slots.get_mut(field) {
            let list = self.fields.get(field).is_some_and(|field| matches!(field.sort, Sort::List(_)));
            *slot = Some(if list { vec![Value::Array(values)] } else { values });
        }
        if let Some(place) = self.places.get_mut(field) {
            *place = self.latest.clone();
        }
    }

    /// The parameters that are not filled yet and of which this holds.
    pub(super) fn wanting(&self, of: impl Fn(&Field<'_>) -> bool) -> Vec<usize> {
        (0..self.fields.len()).filter(|at| self.open(*at) && self.fields.get(*at).is_some_and(&of)).collect()
    }

    /// The only one of them; of several the only one that a call needs.
    pub(super) fn only(&self, wanting: &[usize]) -> Option<usize> {
        let needed: Vec<usize> = wanting
            .iter()
            .copied()
            .filter(|at| self.fields.get(*at).is_some_and(|field| field.param.required))
            .collect();
        match (wanting, needed.as_slice()) {
            ([only], _) | (_, [only]) => Some(*only),
            _ => None,
        }
    }

    pub(super) fn is_of_tool(&self, word: &Word) -> bool {
        word.is_word() && word.keys.iter().any(|key| self.one.words.contains(key))
    }

    /// A word that says what the tool is or does rather than what it is called with.
    pub(super) fn of_tool(&self, at: usize) -> bool {
        self.at(at).is_some_and(|word| self.is_of_tool(word))
    }

    pub(super) fn is_noun(&self, at: usize) -> bool {
        self.at(at).is_some_and(|word| word.is_word() && word.keys.iter().any(|key| self.nouns.contains(key)))
    }

    pub(super) fn text(&self, from: usize, to: usize) -> &'a str {
        let (Some(first), Some(last)) = (self.at(from), to.checked_sub(1).and_then(|last| self.at(last))) else {
            return "";
        };
        slice(self.request, first.start, last.end)
    }

    /// The value of a word for a sort of parameter, where the word alone is one.
    pub(super) fn value(&self, sort: &Sort, at: usize) -> Option<Value> {
        let blank = |word: &&Word| matches!(&word.what, What::Quote(text) if text.trim().is_empty());
        let word = self.at(at).filter(|word| self.free(at) && !blank(word))?;
        let text = || Some(Value::String(word.text.clone()));
        match (sort, &word.what) {
            (Sort::List(each), _) => self.value(each, at),
            (Sort::Number { whole }, What::Number(number, _)) => {
                (!whole || number.is_i64()).then(|| Value::Number(number.clone()))
            }
            (Sort::Number { whole: true }, What::Code(mark)) => mark.parse::<i64>().ok().map(Value::from),
            (Sort::Code, What::Code(mark)) => Some(mark.clone().into()),
            (Sort::Code, What::Number(..)) => Some(word.text.trim_start_matches('#').into()),
            (Sort::Email, What::Email) | (Sort::Url, What::Url) | (Sort::Path, What::Path | What::Url) => text(),
            (Sort::Media(kind), What::Path) => (Kind::of_name(&word.text) == Some(*kind)).then(text).flatten(),
            (Sort::Media(_), What::Url) => text(),
            (Sort::Enum(options), What::Number(number, None)) => {
                options.iter().find(|option| **option == Value::Number(number.clone())).cloned()
            }
            (Sort::Time, What::Time) => text(),
            (Sort::Date, What::Date(day)) => Some(day.clone().into()),
            (Sort::Date, What::Day) => text(),
            (Sort::Currency, What::Word) => currency(&word.text).map(Value::from),
            (Sort::Currency, What::Mark('€')) => Some("EUR".into()),
            (Sort::Currency, What::Mark('$')) => Some("USD".into()),
            (Sort::Currency, What::Mark('£')) => Some("GBP".into()),
            (Sort::Unit, What::Word) => is_unit(&word.lower).then(|| word.text.clone().into()),
            (Sort::Language, What::Word) => is_language(word).then(|| word.text.clone().into()),
            (Sort::Name | Sort::Title | Sort::Person | Sort::Place, What::Code(mark)) => Some(mark.clone().into()),
            (Sort::Path, What::Quote(text)) => Some(text.clone().into()),
            (
                Sort::Name
                | Sort::Title
                | Sort::Query
                | Sort::Content
                | Sort::Deed
                | Sort::Place
                | Sort::Person
                | Sort::Code
                | Sort::Expression
                | Sort::Reason,
                What::Quote(text),
            ) => Some(text.clone().into()),
            _ => None,
        }
    }

    /// A name that begins at a word: "New York", "Anna Smith", 北京; where it ends.
    pub(super) fn name(&self, at: usize) -> Option<usize> {
        let named = |at: usize| {
            self.at(at).is_some_and(|word| {
                word.is_word()
                    && word.name
                    && self.free(at)
                    && currency(&word.text).is_none()
                    && !super::phrases::is_nobody(word)
            })
        };
        if !named(at) || self.of_tool(at) && !self.of_tool_in_name(at) {
            return None;
        }
        let han = self.at(at)?.text.chars().all(jarvis_plan::is_han);
        let mut to = at + 1;
        // "Dr. Weber".
        if self.lower(to) == "." && data::TITLES.has(self.lower(at)) && named(to + 1) {
            to += 2;
        }
        while !han && self.gap(to) == " " {
            let tie = matches!(self.lower(to), "of" | "de" | "la" | "am" | "der" | "van" | "von" | "upon");
            if named(to) && !self.of_tool(to) {
                to += 1;
            } else if tie && named(to + 1) {
                to += 2;
            } else {
                break;
            }
        }
        Some(to)
    }

    /// "Mail" in "Daily Mail" is part of a name.
    fn of_tool_in_name(&self, at: usize) -> bool {
        self.at(at + 1).is_some_and(|next| next.name && next.is_word() && !self.of_tool(at + 1))
    }

    /// What stands between a word and the one before it.
    pub(super) fn gap(&self, at: usize) -> &'a str {
        match (at.checked_sub(1).and_then(|before| self.at(before)), self.at(at)) {
            (Some(before), Some(word)) => slice(self.request, before.end, word.start),
            _ => "",
        }
    }

    pub(super) fn joins(&self, at: usize) -> bool {
        matches!(self.lower(at), "and" | "," | "、" | "и" | "和" | "与" | "，" | "&")
    }

    /// Values of one sort that stand in a row: "42, 43 and 44"; and where they end.
    pub(super) fn row(&self, sort: &Sort, at: usize) -> Option<(Vec<Value>, usize)> {
        let mut values = vec![self.value(sort, at)?];
        let mut to = at + 1;
        loop {
            let mut next = to;
            while self.joins(next) && next < to + 2 {
                next += 1;
            }
            // "zone 12, 45 minutes": a number with something that it counts begins anew.
            let counts = self.at(next).is_some_and(|word| matches!(word.what, What::Number(..)))
                && self.at(next + 1).is_some_and(|word| word.is_word() && !is_small(word));
            match self.value(sort, next).filter(|_| next > to && !counts) {
                Some(value) => {
                    values.push(value);
                    to = next + 1;
                }
                None => return Some((values, to)),
            }
        }
    }

    fn finish(self) -> Filled {
        let mut left = self.aside.clone();
        left.extend(self.untold());
        left.extend(self.unlike());
        let mut strange = Vec::new();
        let mut at = 0;
        while let Some(word) = self.at(at) {
            let to = self.name(at).unwrap_or(at + 1);
            let explained = self.is_explained(at);
            if self.free(at) {
                if word.is_value() && !self.empty_count(at) || word.name && !explained && word.is_word() {
                    left.push(self.text(at, to).to_owned());
                } else if word.is_word() && (!explained && !self.holds(at) || self.weighs(at)) {
                    strange.push(at);
                } else if word.mark().is_some_and(|mark| !self.is_punctuation(at, mark)) {
                    left.push(word.text.clone());
                }
            }
            at = to;
        }
        Filled { slots: self.slots, left, strange, used: self.used, told: self.told, guessed: self.guessed }
    }

    /// Whether the tool's own words, or the name of a parameter, say why a word stands there.
    fn is_explained(&self, at: usize) -> bool {
        let Some(word) = self.at(at) else { return true };
        // The name of a parameter that is not filled explains nothing: "created by Mia" is not "created after".
        let named = |key: &String| {
            // "Assigned to Mia" speaks of the assignee.
            let speaks = |name: &String| name == key || key.len() > 4 && name.starts_with(key.as_str());
            let filled =
                |(field, slot): (&Field<'_>, &Option<Vec<Value>>)| slot.is_some() && field.name.iter().any(speaks);
            self.one.name.contains(key)
                || self.fields.iter().zip(&self.slots).any(filled)
                || self.one.words.contains(key) && !self.fields.iter().any(|field| field.name.contains(key))
        };
        // An e-book is no book.
        let part = |key: &String| named(key) || data::STOP_WORDS.has(key) || data::FUNCTION_WORDS.has(key);
        if word.lower.contains('-') && !words::stems(&words::spell_out(&word.text)).iter().all(part) {
            return false;
        }
        let taken = |at: usize| self.at(at).is_some() && !self.free(at);
        let valued = self.at(at + 1).is_some_and(Word::is_value);
        let leads = taken(at + 1)
            && (word.is("named called titled entitled saying stating reading max maximum limit")
                || valued && word.is("next coming"));
        let opens = (0..at).all(|before| self.at(before).is_none_or(|word| !word.is_word() || is_small(word)));
        let mails = word.is("mail email e-mail") && self.fields.iter().any(|field| field.sort == Sort::Email);
        // "Has it been paid?" asks how it stands.
        let last = (at + 1..self.words.len()).all(|at| self.at(at).is_none_or(|word| word.mark().is_some()));
        let state = last
            && ["status", "state", "track"].iter().any(|stem| self.one.words.contains(*stem))
            && (word.is("been paid sent gone lost ready late") || word.lower.ends_with("ed"));
        let mut senses = word.keys.iter().flat_map(|key| thesaurus::of_stem(key));
        word.keys.iter().any(named)
            || senses.any(|sense| self.one.does.contains(sense) || self.one.things.contains(sense))
            || word.is(super::ASKS)
            || (opens || word.lower.chars().any(jarvis_plan::is_han)) && self.one.is_alike(word)
            || leads
            || mails
            || state && !self.one.writes
            || self.is_unit_of(at)
    }

    /// Whether a word that is small elsewhere changes what is asked: "one of", "either", "or".
    fn weighs(&self, at: usize) -> bool {
        let of = matches!(self.lower(at + 1), "of" | "из");
        let part = self.at(at).is_some_and(|word| {
            word.is("one half either neither any some most part none rest other another first last next older один одну одно половину любой любую")
        });
        let word = |list: &str| self.at(at).is_some_and(|word| word.is(list));
        // "To 30 percent more", "all songs by".
        let changes = self.one.writes
            && word(
                "more less further extra all every each everything nothing больше меньше еще ещё все всё 更 再 所有",
            );
        of && part || changes || word("or или 或 或者 还是 instead except without unless neither nor")
    }

    /// "a couple of", "№": a number word that counts nothing in particular.
    fn empty_count(&self, at: usize) -> bool {
        self.lower(at) == "couple"
    }
}

pub(super) fn is_small(word: &Word) -> bool {
    data::STOP_WORDS.has(&word.lower)
        || data::FUNCTION_WORDS.has(&word.lower)
        || data::POLITE.has(&word.lower)
        || data::PRONOUNS.has(&word.lower)
        || data::QUESTION_WORDS.has(&word.lower)
        || word.is(super::lex::HAN_TIES)
        || word.is(SMALL)
}

/// Words that only hold a request together.
const SMALL: &str = "please could would can will you i i'd i'm need want like me my mine our us the a an some any this that these \
    those it its them what whats what's where where's which who how much many is are be was do does did has have having get give \
    show tell of in on at to from for with by as and or so then now just also tool use using call run invoke via through much \
    there here good thanks thank hi hello hey kindly let's lets go ahead пожалуйста мне мой мою моя моё мои мое какая какой какое \
    каков сколько где что это в на по из с со к у и или для от до о об про за ли как будет будут есть вызови используй";

/// The code of a currency that a word names.
pub(super) fn currency(word: &str) -> Option<&'static str> {
    const CODES: &str = "USD EUR GBP JPY CHF CNY RUB AUD CAD NZD SEK NOK DKK PLN CZK HUF TRY INR BRL MXN ZAR KRW SGD HKD THB \
        IDR ILS AED SAR UAH KZT BYN BTC ETH RON BGN ISK PHP MYR VND";
    if let Some(code) = CODES.split_whitespace().find(|code| *code == word || code.to_lowercase() == word) {
        return (!matches!(word, "try" | "all")).then_some(code);
    }
    Some(match word.to_lowercase().as_str() {
        "dollar" | "dollars" | "bucks" | "доллар" | "доллары" | "долларов" | "доллара" | "美元" => {
            "USD"
        }
        "euro" | "euros" | "евро" | "欧元" => "EUR",
        "yen" | "иен" | "日元" => "JPY",
        "rubles" | "roubles" | "рублей" | "рубли" | "рубля" | "卢布" => "RUB",
        "yuan" | "rmb" | "юаней" | "юани" | "人民币" => "CNY",
        "francs" => "CHF",
        "rupees" => "INR",
        "英镑" | "фунтов" => "GBP",
        _ => return None,
    })
}

pub(super) fn is_unit(lower: &str) -> bool {
    const UNITS: &str = "km kilometer kilometers kilometre kilometres mile miles m meter meters metre metres cm centimeter \
        centimeters mm millimeter millimeters yard yards foot feet ft inch inches kg kilogram kilograms kilo kilos g gram \
        grams mg lb lbs pound pounds oz ounce ounces ton tons tonnes stone l liter liters litre litres ml gallon gallons \
        pint pints cup cups quart quarts celsius fahrenheit kelvin c f k hour hours minute minutes second seconds day days \
        hectare hectares acre acres kb mb gb tb mph kmh knots joules calories kcal kwh км миль миля мили метр метров метры \
        м кг килограмм килограммов килограммы грамм граммы фунт фунты фунтов литр литров литры см мм дюйм дюймов дюймы \
        公里 千米 英里 米 厘米 公斤 千克 克 磅 升 英尺 英寸";
    UNITS.split_whitespace().any(|unit| unit == lower)
}

pub(super) fn is_language(word: &Word) -> bool {
    let han = word.text.chars().all(jarvis_plan::is_han);
    data::LANGUAGES.has(&word.lower)
        || word.lower.ends_with("ский") && word.lower.chars().count() > 6
        || word.lower.ends_with("цкий")
        || word.lower.ends_with("ского") && word.lower.chars().count() > 7
        || han && word.text.ends_with(['语', '文']) && word.text.chars().count() == 2
}
