//! Measures: what a number is a number of, told by the unit beside it in a request and by the name and the description of a
//! parameter. A number of metres is no price, whatever else speaks for it, and five minutes are no five seconds. Nothing is converted.

use std::sync::LazyLock;

use jarvis_plan::{Param, is_han};
use regex::Regex;
use rustc_hash::FxHashMap;

use crate::data;
use crate::numerals;
use crate::words::{self, listed, pattern, slice};

/// A unit, or what is measured where no unit is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    /// `mass`, or of two `length/time`.
    of: &'static str,
    /// `kilogram`; empty where only what is measured is known.
    name: &'static str,
}

/// What a number measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measure {
    unit: Unit,
    /// What it is for each of: `area` in "kilograms per hectare".
    per: Option<&'static str>,
    /// The stem of the word behind the unit, which may say of what: "4 metres long".
    which: Option<String>,
}

struct Units {
    /// Units as they stand beside numbers and in descriptions.
    spoken: FxHashMap<&'static str, Unit>,
    /// Those that only names of parameters have.
    named: FxHashMap<&'static str, Unit>,
}

static UNITS: LazyLock<Units> = LazyLock::new(|| {
    let mut units = Units { spoken: FxHashMap::default(), named: FxHashMap::default() };
    for (row, words) in data::rows(include_str!("../../data/units.tsv")) {
        let (of, name) = row.split_once(':').unwrap_or((row, ""));
        for word in words.split(' ') {
            match word.strip_prefix('=') {
                Some(word) => units.named.insert(word, Unit { of, name }),
                None => units.spoken.insert(word, Unit { of, name }),
            };
        }
    }
    units
});

/// Whether a word is a unit that stands beside numbers.
pub(super) fn is_unit(word: &str) -> bool {
    UNITS.spoken.contains_key(word)
}

static DIGITS: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("[$€£¥₽]?{}", numerals::DIGITS)));

/// What the only number of a text measures; `None` where there is none, a second, or nothing else is said.
pub(super) fn only(text: &str) -> Option<Measure> {
    let mut found = DIGITS.find_iter(text);
    let number = found.next().filter(|_| found.next().is_none())?;
    let says_more =
        words::lowers(text).filter(|word| !is_unit(word) && !word.contains(|c: char| c.is_ascii_digit())).count() > 1;
    Measure::of_number(text, number.start(), number.end()).filter(|_| says_more)
}

/// Words behind a unit that say of what it is.
const WHICH: &str = "long wide high deep tall thick broad away";

impl Measure {
    fn new(unit: Unit, per: Option<&'static str>) -> Measure {
        match (unit.of.split_once('/'), per) {
            (Some((of, per)), None) => Measure { unit: Unit { of, ..unit }, per: Some(per), which: None },
            _ => Measure { unit, per, which: None },
        }
    }

    /// What the unit beside a number says, which stands in `text` from `start` to `end`.
    pub(super) fn of_number(text: &str, start: usize, end: usize) -> Option<Measure> {
        let number = slice(text, start, end);
        let sign =
            [number.chars().next(), number.chars().last()].into_iter().flatten().find(|sign| !sign.is_ascii_digit());
        // "5-metre", "5 metres"; a mark ends it.
        let after = slice(text, end, text.len()).trim_start_matches([' ', '-']);
        let words: Vec<String> = after.split_whitespace().take(MOST).map(str::to_lowercase).collect();
        if let Some(unit) = sign.and_then(|sign| UNITS.spoken.get(sign.encode_utf8(&mut [0; 4]) as &str)) {
            return Some(Measure::new(*unit, per(&words, 0).1));
        }
        // Chinese does not part words.
        if after.starts_with(is_han) {
            let unit = after
                .char_indices()
                .take(LONGEST_HAN)
                .map(|(at, letter)| at + letter.len_utf8())
                .filter_map(|to| UNITS.spoken.get(slice(after, 0, to)));
            return unit.last().map(|unit| Measure::new(*unit, None));
        }
        let before = || {
            text.get(..start)
                .and_then(|before| before.split_whitespace().last())
                .is_some_and(|word| word.eq_ignore_ascii_case("ph"))
        };
        read(&words).or_else(|| before().then(|| Measure::new(Unit { of: "acidity", name: "ph" }, None)))
    }

    /// What the name of a parameter says, or else its description.
    pub(super) fn of_param(param: &Param) -> Option<Measure> {
        let name: Vec<String> =
            words::spell_out(&param.name).to_lowercase().split_whitespace().map(str::to_owned).collect();
        let text = param.description.to_lowercase();
        let told = || {
            let mark = ['(', ')', '.', ',', ';'];
            let words: Vec<String> = text.split_whitespace().map(|word| word.trim_matches(mark).to_owned()).collect();
            let led = (0..words.len()).filter(|at| words.get(*at).is_some_and(|word| word == "in"));
            let led = led.filter_map(|at| read(words.get(at + 1..)?)).next();
            let bracketed =
                || text.split_once('(').and_then(|(_, rest)| read(&[rest.split([')', ',']).next()?.trim().to_owned()]));
            led.or_else(bracketed).map(|told| Measure { which: None, ..told })
        };
        match by_name(&name) {
            // "Price", "in euros": the name says what, the description in what.
            Some(named) if named.unit.name.is_empty() => {
                Some(told().filter(|told| told.unit.of == named.unit.of).unwrap_or(named))
            }
            named => named.or_else(told),
        }
    }

    /// Whether it is the same of another thing.
    pub(super) fn is_like(&self, other: &Measure) -> bool {
        let of = |measure: &Measure| if measure.unit.of == "degree" { "temperature" } else { measure.unit.of };
        let of_which = |measure: &Measure| measure.which.as_deref().is_some_and(|which| listed(WHICH, which));
        of(self) == of(other)
            && (self.unit.name == other.unit.name || of(self) == "temperature")
            && !of_which(self)
            && !of_which(other)
    }

    /// How well a number that measures this is one of those, 0 to 1; `None` where it is none. A parameter that says nothing of each takes
    /// "50 euros a month".
    pub(super) fn suits(&self, wanted: &Measure) -> Option<f32> {
        let degrees = |one: &Unit, two: &Unit| one.of == "degree" && matches!(two.of, "temperature" | "angle");
        let (said, wanted_unit) = (&self.unit, &wanted.unit);
        let same = said.of == wanted_unit.of
            && (said.name == wanted_unit.name || said.name.is_empty() || wanted_unit.name.is_empty());
        if !same && !degrees(said, wanted_unit) && !degrees(wanted_unit, said) {
            return None;
        }
        match (self.per, wanted.per) {
            (said, wanted) if said == wanted => Some(1.0),
            (Some(_), None) => Some(0.3),
            _ => None,
        }
    }

    /// Whether the word behind the unit says that it is the number of such a name (stems); `None` where it says nothing.
    pub(super) fn is_named(&self, name: &[String]) -> Option<bool> {
        let which = self.which.as_ref()?;
        let says = |what: &str| name.iter().any(|own| own.starts_with(what));
        match SAID.iter().find(|(said, _)| said == which) {
            Some((_, what)) => Some(says(what)),
            None => says(which).then_some(true),
        }
    }
}

/// So many words behind a number may belong to its unit, and so many letters of Chinese.
const MOST: usize = 6;
const LONGEST_HAN: usize = 3;

/// Marks that end a unit where they stand at its last word.
const MARKS: [char; 7] = ['.', ',', ';', ':', '?', '!', ')'];

/// The unit at the start of words: "square metres", "kilograms per hectare".
fn read(words: &[String]) -> Option<Measure> {
    let (unit, next) = unit(words, 0)?;
    let (next, per) = per(words, next);
    let last = next.checked_sub(1).and_then(|last| words.get(last));
    let which = words.get(next).filter(|_| !last.is_some_and(|last| last.ends_with(MARKS)));
    let which = which.map(|word| words::stem(word.trim_end_matches(MARKS)));
    Some(Measure { which, ..Measure::new(unit, per) })
}

/// "Per hectare", "a night", "/kg": the place behind it, and of what.
fn per(words: &[String], at: usize) -> (usize, Option<&'static str>) {
    let joins = words.get(at).is_some_and(|word| listed("per a an each every pro je za в", word));
    match joins.then(|| each(words, at + 1)).flatten() {
        Some((unit, next)) => (next, Some(unit.of)),
        None => (at, None),
    }
}

/// The unit that begins at a word, and the place behind it.
fn unit(words: &[String], at: usize) -> Option<(Unit, usize)> {
    let word = words.get(at)?.trim_end_matches(MARKS);
    if listed("square cubic", word) {
        let (unit, next) = unit(words, at + 1)?;
        let squared = match (word, unit.of, unit.name) {
            ("square", "length", "metre") => Unit { of: "area", name: "square_metre" },
            ("square", "length", "kilometre") => Unit { of: "area", name: "square_kilometre" },
            ("square", "length", "centimetre") => Unit { of: "area", name: "square_centimetre" },
            ("square", "length", name) => Unit { of: "area", name },
            ("cubic", "length", "metre") => Unit { of: "volume", name: "cubic_metre" },
            ("cubic", "length", "centimetre") => Unit { of: "volume", name: "cubic_centimetre" },
            ("cubic", "length", name) => Unit { of: "volume", name },
            _ => unit,
        };
        return Some((squared, next));
    }
    if let Some((of, over)) = word.split_once('/') {
        let known = |word: &str| UNITS.spoken.get(word).or_else(|| UNITS.named.get(word)).copied();
        return match (known(of)?, known(over)?.of) {
            (unit, "time") if unit.of == "length" => Some((Unit { of: "length/time", ..unit }, at + 1)),
            (unit, _) => Some((unit, at + 1)),
        };
    }
    let unit = *UNITS.spoken.get(word)?;
    // "Metres per second" is one unit; what it is per may be squared.
    let next = at + 1;
    let second = unit.of == "length" && words.get(next).is_some_and(|word| word == "per");
    match second.then(|| each(words, next + 1)).flatten() {
        Some((over, next)) if over.of == "time" => {
            let squared = words.get(next).is_some_and(|word| word.starts_with("squared"));
            let of = if squared { "length/time2" } else { "length/time" };
            Some((Unit { of, ..unit }, next + usize::from(squared)))
        }
        _ => Some((unit, next)),
    }
}

/// The unit of one thing: "hectare", "night".
fn each(words: &[String], at: usize) -> Option<(Unit, usize)> {
    let word = words.get(at)?.trim_end_matches(MARKS);
    if listed("square cubic", word) {
        return unit(words, at);
    }
    let named = UNITS.named.get(word).filter(|_| word.len() > 2);
    Some((*UNITS.spoken.get(word).or(named)?, at + 1))
}

/// The units at the end of a name: `price_per_tonne`, `yield_t_per_ha`, `density_kg_m3`.
fn by_name(name: &[String]) -> Option<Measure> {
    let known = |at: usize| {
        let word = name.get(at)?.as_str();
        let spoken = UNITS.spoken.get(word).filter(|_| at > 0 || word.len() > 2);
        let named = || UNITS.named.get(word).filter(|_| word.len() > 2 || at > 0 && at + 1 == name.len());
        spoken.or_else(named).copied()
    };
    let last = name.len().checked_sub(1)?;
    let of_last = known(last)?;
    let before = |at: usize| at.checked_sub(1).and_then(known);
    if last > 0 && name.get(last - 1).is_some_and(|word| word == "per") {
        let of = before(last - 1).or_else(|| by_name(name.get(..last - 1)?).map(|measure| measure.unit))?;
        return Some(Measure::new(of, Some(of_last.of)));
    }
    match before(last) {
        _ if name.get(last).is_some_and(|last| is_date(last)) => None,
        // `kg_m3`, and not `weight_kg`.
        Some(of) if of.of != of_last.of && name.get(last - 1).is_some_and(|word| word.len() <= 2) => {
            Some(Measure::new(of, Some(of_last.of)))
        }
        _ => Some(Measure::new(of_last, None)),
    }
}

/// A year alone is a date.
fn is_date(word: &str) -> bool {
    listed("day week month year night", word)
}

/// What is said of a thing and what that is: something long has a length.
const SAID: [(&str, &str); 9] = [
    ("long", "length"),
    ("wide", "width"),
    ("high", "height"),
    ("tall", "height"),
    ("deep", "depth"),
    ("thick", "thick"),
    ("far", "distanc"),
    ("old", "age"),
    ("heavi", "weight"),
];

#[cfg(test)]
mod tests {
    use jarvis_plan::{Kind, Param};

    use super::Measure;

    #[test]
    fn units_stand_behind_numbers_and_in_names() {
        let said = |text: &str| {
            let start = text.find(|letter: char| letter.is_ascii_digit()).unwrap();
            let end = text.rfind(|letter: char| letter.is_ascii_digit()).unwrap() + 1;
            Measure::of_number(text, start, end)
        };
        let wants = |name: &str, description: &str| {
            Measure::of_param(&Param { description: description.to_owned(), ..Param::required(name, Kind::Text) })
        };
        for (text, name, description, suits) in [
            ("a wall of 14 square metres", "area_m2", "", true),
            ("a wall of 14 square metres", "conductivity", "Thermal conductivity in watts per metre.", false),
            ("0.08 metres thickness", "thickness_m", "", true),
            ("0.08 metres thickness", "price", "", false),
            ("120 kilograms per hectare", "rate_kg_per_ha", "", true),
            ("9.5 hectares", "rate_kg_per_ha", "", false),
            ("at 0.35 euros per cubic metre", "price_per_m3", "", true),
            ("at 0.35 euros per cubic metre", "water_mm", "", false),
            ("25 degrees", "temperature_c", "", true),
            ("18 metres per second", "velocity", "", true),
            ("2 metres per second squared", "velocity", "", false),
            ("pH 5.4", "current_ph", "Soil pH.", true),
            ("6000 newtons", "load_n", "", true),
            ("16 amperes", "current_a", "", true),
            ("under 130 euros a night", "max_price_per_night", "", true),
            ("under 130 euros a night", "amount", "Amount in euros.", true),
            ("50 dollars", "amount", "Amount in euros.", false),
            ("24 килограмма", "weight_kg", "", true),
            ("转账100元给小明", "price", "", true),
            ("5 minutes", "duration_seconds", "", false),
            ("5 minutes", "duration", "", true),
            ("5 kilometres", "distance_m", "", false),
        ] {
            let (said, wants) = (said(text).expect(text), wants(name, description).expect(name));
            assert_eq!(said.suits(&wants).is_some(), suits, "{text}, {name}: {said:?} {wants:?}");
        }
        for text in ["a table for 2", "in 2024", "3 copies"] {
            assert_eq!(said(text), None, "{text}");
        }
        for name in ["count", "current", "name", "year"] {
            assert_eq!(wants(name, ""), None, "{name}");
        }
    }
}
