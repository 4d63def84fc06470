//! Bags of words: texts found by the words that they share with another. Two texts are as alike as the cosine of their words, each
//! weighed by how rare it is among the texts. What the texts are of is not known here.

use rustc_hash::FxHashMap;

use crate::data;
use crate::words::{self, Token};

/// Texts, read once so that they are found fast.
#[derive(Debug, Default)]
pub(crate) struct Bags {
    count: usize,
    /// For each word, how much it tells, and the texts that hold it with the share of their length that it makes up.
    words: FxHashMap<String, (f32, Vec<(usize, f32)>)>,
}

impl Bags {
    /// The texts, each by its words, no word twice.
    pub(crate) fn new(texts: impl IntoIterator<Item = Vec<String>>) -> Bags {
        let mut words: FxHashMap<String, (f32, Vec<(usize, f32)>)> = FxHashMap::default();
        let mut count = 0;
        for (at, text) in texts.into_iter().enumerate() {
            count += 1;
            for word in text {
                words.entry(word).or_default().1.push((at, 0.0));
            }
        }
        let mut lengths = vec![0.0_f32; count];
        for (rarity, holders) in words.values_mut() {
            *rarity = words::rarity(count, holders.len());
            for (at, _) in holders {
                if let Some(length) = lengths.get_mut(*at) {
                    *length += *rarity * *rarity;
                }
            }
        }
        for (rarity, holders) in words.values_mut() {
            for (at, share) in holders {
                *share = *rarity / lengths.get(*at).map_or(1.0, |length| length.sqrt());
            }
        }
        Bags { count, words }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The texts that share a word with these, each with how alike it is, 0 to 1: best first, of equals the later one.
    pub(crate) fn alike(&self, text: &[String]) -> Vec<(usize, f32)> {
        let mut likeness: FxHashMap<usize, f32> = FxHashMap::default();
        let mut length = 0.0;
        for word in text {
            let (rarity, holders) = match self.words.get(word) {
                Some((rarity, holders)) => (*rarity, holders.as_slice()),
                None => (words::rarity(self.count, 0), &[][..]),
            };
            length += rarity * rarity;
            for (at, share) in holders {
                *likeness.entry(*at).or_default() += rarity * share;
            }
        }
        let length = f32::max(length.sqrt(), f32::EPSILON);
        let mut found: Vec<(usize, f32)> =
            likeness.into_iter().map(|(at, sum)| (at, (sum / length).min(1.0))).collect();
        found.sort_by(|one, two| two.1.total_cmp(&one.1).then(two.0.cmp(&one.0)));
        found
    }
}

/// The words by which a text is known, each once.
pub(crate) fn telling(tokens: &[Token]) -> Vec<String> {
    let telling = tokens.iter().filter(|token| !data::STOP_WORDS.has(&token.lower));
    words::distinct(telling.map(|token| token.stem.clone()))
}
