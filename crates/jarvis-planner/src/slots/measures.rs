//! Measures: what a number is a number of, told by the unit beside it in a request and by the name and the description of a
//! parameter. A number of metres is no price, whatever else speaks for it. Nothing is converted.

use std::sync::LazyLock;

use jarvis_plan::Param;
use rustc_hash::FxHashMap;

use crate::data;
use crate::words::{self, listed, slice};

/// What a number measures, `mass` or, of two units, `mass/area`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measure {
    of: &'static str,
    per: Option<&'static str>,
    /// The word behind the unit, which may say of what: "4 metres long".
    which: Option<String>,
}

struct Units {
    /// Units as they stand beside numbers and in descriptions.
    spoken: FxHashMap<&'static str, &'static str>,
    /// Those that only names of parameters end with.
    named: FxHashMap<&'static str, &'static str>,
}

static UNITS: LazyLock<Units> = LazyLock::new(|| {
    let mut units = Units { spoken: FxHashMap::default(), named: FxHashMap::default() };
    for (of, words) in data::rows(include_str!("../../data/units.tsv")) {
        for word in words.split(' ') {
            match word.strip_prefix('=') {
                Some(word) => units.named.insert(word, of),
                None => units.spoken.insert(word, of),
            };
        }
    }
    units
});

impl Measure {
    fn new(of: &'static str, per: Option<&'static str>) -> Measure {
        let (of, per) = match (of.split_once('/'), per) {
            (Some((of, per)), None) => (of, Some(per)),
            _ => (of, per),
        };
        Measure { of, per, which: None }
    }

    /// What the unit beside a number says, which stands in `text` from `start` to `end`.
    pub(super) fn of_number(text: &str, start: usize, end: usize) -> Option<Measure> {
        let number = slice(text, start, end);
        let sign = number.chars().next().filter(|sign| !sign.is_ascii_digit()).or_else(|| number.chars().last());
        let signed = sign.filter(|sign| !sign.is_ascii_digit()).map(String::from);
        let before = words::lowers(slice(text, start.saturating_sub(4), start)).last();
        let after = slice(text, end, text.len());
        // "5-metre", "5 metres"; a mark ends it.
        let after = after.trim_start_matches([' ', '-']);
        let words: Vec<String> = after.split_whitespace().take(MOST).map(|word| word.to_lowercase()).collect();
        let money = signed.as_deref().and_then(|sign| UNITS.spoken.get(sign).copied());
        if let Some(of) = money {
            let (_, per) = per(&words, 0);
            return Some(Measure::new(of, per));
        }
        read(&words).or_else(|| before.filter(|word| word == "ph").map(|_| Measure::new("acidity", None)))
    }

    /// What the name of a parameter says, or else its description.
    pub(super) fn of_param(param: &Param) -> Option<Measure> {
        let name: Vec<String> =
            words::spell_out(&param.name).to_lowercase().split_whitespace().map(str::to_owned).collect();
        by_name(&name).or_else(|| {
            let text = param.description.to_lowercase();
            let words: Vec<String> =
                text.split_whitespace().map(|word| word.trim_matches(['(', ')', '.', ',', ';']).to_owned()).collect();
            let led = words
                .iter()
                .enumerate()
                .filter(|(_, word)| *word == "in")
                .find_map(|(at, _)| read(words.get(at + 1..)?));
            let bracketed =
                || text.split_once('(').and_then(|(_, rest)| read(&[rest.split([')', ',']).next()?.trim().to_owned()]));
            let last = name.last().map(String::as_str).filter(|last| last.len() > 2 && !is_date(last));
            let named = || last.and_then(|last| UNITS.named.get(last)).map(|of| Measure::new(of, None));
            led.or_else(bracketed).or_else(named)
        })
    }

    /// Whether a number that measures this can be one of those.
    pub(super) fn suits(&self, other: &Measure) -> bool {
        let degrees = |one: &str, two: &str| one == "degree" && matches!(two, "temperature" | "angle");
        self.per == other.per && (self.of == other.of || degrees(self.of, other.of) || degrees(other.of, self.of))
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

/// So many words behind a number may belong to its unit.
const MOST: usize = 6;

/// The unit at the start of words: "square metres", "kilograms per hectare".
fn read(words: &[String]) -> Option<Measure> {
    let (of, next) = unit(words, 0)?;
    let (next, per) = per(words, next);
    let ends = next
        .checked_sub(1)
        .and_then(|last| words.get(last))
        .is_some_and(|word| word.ends_with([',', ';', '.', ':', '?', '!', ')']));
    let which = words
        .get(next)
        .filter(|_| !ends)
        .map(|word| words::stem(word.trim_end_matches([',', ';', '.', ':', '?', '!', ')'])));
    Some(Measure { which, ..Measure::new(of, per) })
}

/// "Per hectare", "a night", "/kg".
fn per(words: &[String], at: usize) -> (usize, Option<&'static str>) {
    let joins = words.get(at).is_some_and(|word| listed("per a an each every pro je za в", word));
    match joins.then(|| unit_of_one(words, at + 1)).flatten() {
        Some((of, next)) => (next, Some(of)),
        None => (at, None),
    }
}

/// The unit that begins at a word, and the place behind it.
fn unit(words: &[String], at: usize) -> Option<(&'static str, usize)> {
    let word = words.get(at)?.trim_end_matches(['.', ',', ';', ':', '?', '!', ')']);
    if listed("square cubic", word) {
        let (of, next) = unit(words, at + 1)?;
        let of = if of == "length" { if word == "square" { "area" } else { "volume" } } else { of };
        return Some((of, next));
    }
    if let Some((of, over)) = word.split_once('/') {
        let known = |word: &str| UNITS.spoken.get(word).or_else(|| UNITS.named.get(word)).copied();
        return match (known(of)?, known(over)?) {
            ("length", "time") => Some(("length/time", at + 1)),
            (of, _) => Some((of, at + 1)),
        };
    }
    let of = *UNITS.spoken.get(word)?;
    // "Metres per second" is one unit; what it is per may be squared.
    let next = at + 1;
    let second = words.get(next).is_some_and(|word| word == "per") && of == "length";
    match second.then(|| unit_of_one(words, next + 1)).flatten() {
        Some(("time", next)) if words.get(next).is_some_and(|word| word.starts_with("squared")) => {
            Some(("length/time2", next + 1))
        }
        Some(("time", next)) => Some(("length/time", next)),
        _ => Some((of, next)),
    }
}

/// The same of one thing: "hectare", "night".
fn unit_of_one(words: &[String], at: usize) -> Option<(&'static str, usize)> {
    let word = words.get(at)?.trim_end_matches(['.', ',', ';', ':', '?', '!', ')']);
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
        let short = word.len() > 2 || at + 1 == name.len() && at > 0;
        UNITS
            .spoken
            .get(word)
            .or_else(|| UNITS.named.get(word))
            .copied()
            .filter(|_| short || UNITS.spoken.contains_key(word) && at > 0)
    };
    let last = name.len().checked_sub(1)?;
    let of_last = known(last)?;
    let before = |at: usize| at.checked_sub(1).and_then(known);
    if last > 0 && name.get(last - 1).is_some_and(|word| word == "per") {
        let of = before(last - 1).or_else(|| by_name(name.get(..last - 1)?).map(|measure| measure.of))?;
        return Some(Measure::new(of, Some(of_last)));
    }
    match before(last) {
        _ if name.get(last).is_some_and(|last| is_date(last)) => None,
        // `kg_m3`, and not `weight_kg`.
        Some(of) if of != of_last && name.get(last - 1).is_some_and(|word| word.len() <= 2) => {
            Some(Measure::new(of, Some(of_last)))
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
            ("24 килограмма", "weight_kg", "", true),
        ] {
            let (said, wants) = (said(text).expect(text), wants(name, description).expect(name));
            assert_eq!(said.suits(&wants), suits, "{text}, {name}: {said:?} {wants:?}");
        }
        for text in ["a table for 2", "in 2024", "3 copies"] {
            assert_eq!(said(text), None, "{text}");
        }
        for name in ["count", "current", "name", "year"] {
            assert_eq!(wants(name, ""), None, "{name}");
        }
    }
}
