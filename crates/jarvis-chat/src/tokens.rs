//! Tokenizers and context sizes by model name. Tokenizers are inside the program and loaded when first used.

mod vocabulary;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tiktoken_rs::CoreBPE;

use crate::family::{Family, UNKNOWN_CONTEXT};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    encoding: Option<Encoding>,
    context: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Encoding {
    R50k,
    P50k,
    Cl100k,
    O200k,
    Harmony,
}

const ENCODINGS: [Encoding; 5] = [Encoding::R50k, Encoding::P50k, Encoding::Cl100k, Encoding::O200k, Encoding::Harmony];

impl Tokens {
    /// What is known of a model by its name; an owner before it (`openai/gpt-4o`) and `ft:` are passed over.
    pub fn of(model: &str) -> Tokens {
        let family = Family::of(model);
        let encoding = family.and_then(|family| family.encoding);
        let encoding = encoding.and_then(|name| ENCODINGS.into_iter().find(|known| known.name() == name));
        Tokens { encoding, context: family.and_then(|family| family.context).unwrap_or(UNKNOWN_CONTEXT) }
    }

    /// The context size in tokens; 8192 for an unknown model.
    pub fn context(&self) -> usize {
        self.context
    }

    /// Whether [`Tokens::count`] is an estimate, because the tokenizer is not known.
    pub fn is_estimate(&self) -> bool {
        self.encoding.is_none()
    }

    pub fn name(&self) -> &'static str {
        self.encoding.map_or("estimate", Encoding::name)
    }

    /// The tokens of a text; special tokens in it count as the plain text they are. About 0.2 ms for a thousand tokens.
    /// Exact up to 32 KiB, within a token for each 32 KiB up to 1 MiB, and above that an estimate.
    /// Long texts that are counted again, such as the parts of a prompt that stay the same, are known.
    pub fn count(&self, text: &str) -> usize {
        if text.len() < WORTH_KEEPING {
            return self.counted(text);
        }
        let key = (self.encoding, KNOWN.hasher.hash_one(text));
        if let Some(count) = KNOWN.counts().get(&key) {
            return *count;
        }
        let count = self.counted(text);
        let mut counts = KNOWN.counts();
        if counts.len() >= MOST_KEPT {
            counts.clear();
        }
        counts.insert(key, count);
        count
    }

    fn counted(&self, text: &str) -> usize {
        match self.encoding {
            Some(encoding) if text.len() <= LONGEST => slices(text).map(|slice| encoding.encode(slice).len()).sum(),
            Some(_) | None => estimate(text),
        }
    }

    /// The set of the token ids of a text, ascending; empty when the tokenizer is not known.
    pub fn ids(&self, text: &str) -> Vec<u32> {
        let Some(encoding) = self.encoding else { return Vec::new() };
        let mut ids: Vec<u32> = slices(text).flat_map(|slice| encoding.encode(slice)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Loads the tokenizer, which takes 50 to 130 ms once.
    pub fn preload(&self) {
        if let Some(encoding) = self.encoding {
            encoding.load();
        }
    }
}

/// The shortest text whose count is kept, in bytes.
const WORTH_KEEPING: usize = 512;

/// Counts that are kept at most, at 32 bytes each.
const MOST_KEPT: usize = 4_096;

/// Counts by hashes of their texts; the hashes cannot be foreseen, so that no text can be made to have another's.
struct Known {
    hasher: RandomState,
    counts: Mutex<HashMap<(Option<Encoding>, u64), usize>>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| Known { hasher: RandomState::new(), counts: Mutex::default() });

impl Known {
    fn counts(&self) -> MutexGuard<'_, HashMap<(Option<Encoding>, u64), usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Encoding {
    fn name(self) -> &'static str {
        match self {
            Encoding::R50k => "r50k_base",
            Encoding::P50k => "p50k_base",
            Encoding::Cl100k => "cl100k_base",
            Encoding::O200k => "o200k_base",
            Encoding::Harmony => "o200k_harmony",
        }
    }

    fn load(self) -> &'static CoreBPE {
        static P50K: LazyLock<CoreBPE> = LazyLock::new(|| vocabulary::read(Encoding::P50k));
        static R50K: LazyLock<CoreBPE> = LazyLock::new(|| vocabulary::read(Encoding::R50k));
        static CL100K: LazyLock<CoreBPE> = LazyLock::new(|| vocabulary::read(Encoding::Cl100k));
        static O200K: LazyLock<CoreBPE> = LazyLock::new(|| vocabulary::read(Encoding::O200k));
        match self {
            Encoding::R50k => &R50K,
            Encoding::P50k => &P50K,
            Encoding::Cl100k => &CL100K,
            // They differ in special tokens alone.
            Encoding::O200k | Encoding::Harmony => &O200K,
        }
    }

    fn encode(self, slice: &str) -> Vec<u32> {
        self.load().encode_ordinary(slice)
    }
}

/// The tokenizer's expressions overflow their stack on megabytes of blanks, so a text is cut into slices of about this many
/// bytes.
const SLICE: usize = 32 << 10;

/// The longest text that is counted rather than estimated, in bytes.
const LONGEST: usize = 1 << 20;

/// A text in slices, cut before a space or a line where the end of a slice has one, so that the cut costs no token.
fn slices(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = text.floor_char_boundary(SLICE);
        let tail = text.floor_char_boundary(end.saturating_sub(1024));
        let blank = text.get(tail..end).and_then(|tail| tail.rfind([' ', '\n']));
        let cut = match blank.map(|at| tail + at) {
            _ if text.len() <= SLICE => text.len(),
            Some(at) if at > 0 => at,
            Some(_) | None => end,
        };
        let (slice, rest) = text.split_at_checked(cut)?;
        text = rest;
        (!slice.is_empty()).then_some(slice)
    })
}

/// An estimate on the safe side: four Latin letters are a token, two signs and digits or letters of another alphabet, one
/// of Chinese, Japanese, Korean and symbols.
fn estimate(text: &str) -> usize {
    let quarters: usize = text
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | ' ' => 1,
            // Hangul letters, then everything from the CJK blocks upwards, emoji among them.
            '\u{1100}'..='\u{11ff}' | '\u{2e80}'.. => 4,
            _ => 2,
        })
        .sum();
    quarters.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    const CASES: &str = include_str!("cases.yaml");

    #[test]
    fn families_by_name() {
        for (model, name, context) in rows::<(String, String, usize)>(CASES, "families") {
            let tokens = Tokens::of(&model);
            assert_eq!(tokens.is_estimate(), name == "estimate", "{model}");
            assert_eq!((tokens.name(), tokens.context()), (name.as_str(), context), "{model}");
        }
    }

    #[test]
    fn highlight_ids_of_the_choice() {
        let text = r#"{"id": "reason"}"#;
        for (model, expected) in [
            ("gpt-4", vec![307, 330, 794, 5018, 9388, 20489]),
            ("text-davinci-003", vec![312, 366, 1298, 4895, 20662, 41181]),
            ("davinci", vec![312, 366, 1298, 4895, 20662, 41181]),
            ("qwen3:8b", vec![]),
        ] {
            assert_eq!(Tokens::of(model).ids(text), expected, "{model}");
        }
    }

    #[test]
    fn counts_are_exact_or_safe_estimates() {
        for text in [
            "The quick brown fox jumps over the lazy dog, and then it rests.",
            "Нарисуй кота на крыше и расскажи о нём.",
            "请数一数图片里有几只动物，然后画一张类似的图。",
            r#"[{"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "/images/a.jpg"}}]"#,
        ] {
            let exact = Tokens::of("gpt-4o").count(text);
            let estimate = Tokens::of("unknown").count(text);
            assert!(estimate * 5 >= exact * 4, "{text}: {estimate} is far below {exact}");
            assert!(estimate <= exact * 3, "{text}: {estimate} is far above {exact}");
        }
        assert_eq!(Tokens::of("gpt-4").count(""), 0);
        assert_eq!(Tokens::of("unknown").count("abcde"), 2);
        assert_eq!(Tokens::of("unknown").count("日本語"), 3);
        // Beyond the longest text, only an estimate is made.
        assert_eq!(Tokens::of("gpt-4").count(&" ".repeat(LONGEST + 4)), LONGEST / 4 + 1);
        // Special tokens are plain text to us: more than the one token they would be.
        assert!(Tokens::of("gpt-4").count("<|endoftext|>") > 1);
    }

    #[test]
    fn long_texts_are_counted_in_slices() {
        for (text, expected) in [
            ("word ".repeat(40_000), 40_001),
            // Nowhere to cut; a megabyte of blanks overflows the tokenizer's stack in one piece.
            ("日本".repeat(30_000), Tokens::of("gpt-4o").count("日本") * 30_000),
            (" ".repeat(LONGEST), LONGEST / 128),
            (format!("{}a", " ".repeat(LONGEST - 1)), LONGEST / 128),
        ] {
            let got = Tokens::of("gpt-4o").count(&text);
            let most = text.len() / SLICE + 2;
            assert!(got.abs_diff(expected) <= most, "{got} for {expected} of {:?}…", &text[..9]);
            assert_eq!(slices(&text).collect::<String>(), text);
        }
        assert_eq!(slices("").count(), 0);
    }
}
