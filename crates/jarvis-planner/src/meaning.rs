//! Meaning: how near two English words are, by vectors that are compiled in.
//!
//! `data/words.vec` holds 48 numbers for each of some 16,000 words: the sentence encoder all-MiniLM-L6-v2 (Apache-2.0) was given
//! each word alone, and what it gave was centred and turned onto its 48 principal axes, as Model2Vec (MinishLab) does. No model
//! runs here; a word that is not in the list means nothing.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// How many numbers a vector has.
pub(crate) const DIMENSIONS: usize = 48;

/// A direction of length one.
pub(crate) type Vector = [f32; DIMENSIONS];

/// What a number of the file is a multiple of.
const UNIT: f32 = 127.0;

struct Words {
    places: FxHashMap<&'static str, usize>,
    rows: &'static [u8],
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let bytes: &'static [u8] = include_bytes!("../data/words.vec");
    let number = |at: usize| {
        let four =
            bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).expect("the file begins with three numbers");
        usize::try_from(u32::from_le_bytes(four)).expect("a count of words fits")
    };
    assert_eq!(number(4), DIMENSIONS, "the file was made with as many numbers");
    let (from, length) = (12, number(8));
    let names = bytes.get(from..from + length).and_then(|names| std::str::from_utf8(names).ok());
    let places =
        names.expect("the words follow, in UTF-8").split('\n').enumerate().map(|(at, word)| (word, at)).collect();
    Words { places, rows: bytes.get(from + length..).unwrap_or_default() }
});

/// What a word in lower case means; an inflected form that is not in the list means what its base does.
pub(crate) fn of(word: &str) -> Option<Vector> {
    let Words { places, rows } = &*WORDS;
    let base = |ending: &str| word.strip_suffix(ending).and_then(|base| places.get(base));
    let at =
        places.get(word).or_else(|| base("s")).or_else(|| base("es")).or_else(|| base("ed")).or_else(|| base("ing"))?;
    let row = rows.get(at * DIMENSIONS..(at + 1) * DIMENSIONS)?;
    let mut vector = [0.0; DIMENSIONS];
    for (to, from) in vector.iter_mut().zip(row) {
        *to = f32::from(from.cast_signed()) / UNIT;
    }
    Some(vector)
}

/// True for a word of the list.
pub(crate) fn is_word(word: &str) -> bool {
    WORDS.places.contains_key(word)
}

/// How near two directions are: 1 for the same, 0 for nothing in common.
pub(crate) fn near(one: &Vector, two: &Vector) -> f32 {
    one.iter().zip(two).map(|(a, b)| a * b).sum()
}

/// The direction of weighed words together; `None` where none means anything.
pub(crate) fn together<'v>(words: impl IntoIterator<Item = (f32, &'v Vector)>) -> Option<Vector> {
    let mut sum = [0.0; DIMENSIONS];
    for (weight, vector) in words {
        for (to, from) in sum.iter_mut().zip(vector) {
            *to += weight * from;
        }
    }
    let length = near(&sum, &sum).sqrt();
    (length > f32::EPSILON).then(|| sum.map(|number| number / length))
}

#[cfg(test)]
mod tests {
    use super::{is_word, near, of, together};

    #[test]
    fn words_of_one_meaning_are_near() {
        let likeness = |one: &str, two: &str| near(&of(one).unwrap(), &of(two).unwrap());
        for (one, two, other) in [
            ("film", "movie", "weather"),
            ("logo", "crest", "price"),
            ("raining", "weather", "lawyer"),
            ("emails", "mail", "train"),
        ] {
            assert!(likeness(one, two) > likeness(one, other) + 0.2, "{one}: {two} and {other}");
        }
        assert!(likeness("film", "film") > 0.95);
        assert!(of("qqxz").is_none() && !is_word("qqxz") && is_word("film"));
    }

    #[test]
    fn a_direction_of_several_lies_between() {
        let (rain, snow) = (of("rain").unwrap(), of("snow").unwrap());
        let both = together([(1.0, &rain), (1.0, &snow)]).unwrap();
        assert!(near(&both, &rain) > near(&rain, &snow) && (near(&both, &both) - 1.0).abs() < 1e-4);
        assert_eq!(together([]), None);
    }
}
