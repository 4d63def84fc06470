//! Tokenizers and context sizes by model name. Tokenizers are inside the program and loaded when first used.

use tiktoken_rs::CoreBPE;

/// How a model counts tokens, and how many it can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    encoding: Option<Encoding>,
    context: usize,
}

/// A tokenizer that is inside the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    R50k,
    P50k,
    Cl100k,
    O200k,
    Harmony,
}

/// The context size of a model that is not known, in tokens.
const UNKNOWN_CONTEXT: usize = 8192;

/// Families of models: the start of the name, the tokenizer where it is known, the context size in tokens. The longest
/// start that fits is taken. Up to `gpt-3.5-turbo-0301` as HuggingGPT has them (`get_token_ids.py`), then as the vendors
/// publish them; for open models the size that is safe to assume.
const FAMILIES: &[(&str, Option<Encoding>, usize)] = &[
    ("gpt-4", Some(Encoding::Cl100k), 8192),
    ("gpt-4-32k", Some(Encoding::Cl100k), 32_768),
    ("text-davinci-003", Some(Encoding::P50k), 4096),
    ("text-davinci-002", Some(Encoding::P50k), 4096),
    ("text-davinci-001", Some(Encoding::R50k), 2049),
    ("text-curie-001", Some(Encoding::R50k), 2049),
    ("text-babbage-001", Some(Encoding::R50k), 2049),
    ("text-ada-001", Some(Encoding::R50k), 2049),
    ("davinci", Some(Encoding::R50k), 2049),
    ("curie", Some(Encoding::R50k), 2049),
    ("babbage", Some(Encoding::R50k), 2049),
    ("ada", Some(Encoding::R50k), 2049),
    ("gpt-3.5-turbo", Some(Encoding::Cl100k), 4096),
    ("gpt-3.5-turbo-0301", Some(Encoding::Cl100k), 4096),
    ("gpt-3.5-turbo-16k", Some(Encoding::Cl100k), 16_385),
    ("gpt-3.5-turbo-1106", Some(Encoding::Cl100k), 16_385),
    ("gpt-3.5-turbo-0125", Some(Encoding::Cl100k), 16_385),
    ("gpt-3.5-turbo-instruct", Some(Encoding::Cl100k), 4096),
    ("gpt-35-turbo", Some(Encoding::Cl100k), 4096),
    ("gpt-35-turbo-16k", Some(Encoding::Cl100k), 16_385),
    ("davinci-002", Some(Encoding::Cl100k), 16_384),
    ("babbage-002", Some(Encoding::Cl100k), 16_384),
    ("gpt-4-1106", Some(Encoding::Cl100k), 128_000),
    ("gpt-4-0125", Some(Encoding::Cl100k), 128_000),
    ("gpt-4-vision", Some(Encoding::Cl100k), 128_000),
    ("gpt-4-turbo", Some(Encoding::Cl100k), 128_000),
    ("gpt-4o", Some(Encoding::O200k), 128_000),
    ("chatgpt-4o", Some(Encoding::O200k), 128_000),
    ("gpt-4.1", Some(Encoding::O200k), 1_047_576),
    ("gpt-4.5", Some(Encoding::O200k), 128_000),
    ("gpt-5", Some(Encoding::O200k), 400_000),
    ("gpt-5-chat", Some(Encoding::O200k), 128_000),
    ("o1", Some(Encoding::O200k), 200_000),
    ("o1-mini", Some(Encoding::O200k), 128_000),
    ("o1-preview", Some(Encoding::O200k), 128_000),
    ("o3", Some(Encoding::O200k), 200_000),
    ("o4-mini", Some(Encoding::O200k), 200_000),
    ("codex-mini", Some(Encoding::O200k), 200_000),
    ("gpt-oss", Some(Encoding::Harmony), 131_072),
    ("claude", None, 200_000),
    ("gemini", None, 1_000_000),
    ("deepseek", None, 65_536),
    ("llama-3", None, 8192),
    ("llama-3.1", None, 131_072),
    ("llama-3.2", None, 131_072),
    ("llama-3.3", None, 131_072),
    ("llama3", None, 8192),
    ("llama3.1", None, 131_072),
    ("llama3.2", None, 131_072),
    ("llama3.3", None, 131_072),
    ("qwen2.5", None, 32_768),
    ("qwen3", None, 32_768),
    ("mistral", None, 32_768),
    ("gemma-3", None, 131_072),
    ("gemma3", None, 131_072),
];

impl Tokens {
    /// What is known of a model by its name; an owner before it (`openai/gpt-4o`) and `ft:` are passed over.
    pub fn of(model: &str) -> Tokens {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let name = name.strip_prefix("ft:").unwrap_or(&name);
        // `gpt-4` is the family of `gpt-4-0613`, but neither of `gpt-4o` nor of `gpt-4all`.
        let fits = |start: &str| {
            let rest = name.strip_prefix(start)?;
            (!rest.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(start.len())
        };
        let best = FAMILIES
            .iter()
            .filter_map(|family| fits(family.0).map(|length| (length, family)))
            .max_by_key(|(length, _)| *length);
        match best {
            Some((_, &(_, encoding, context))) => Tokens { encoding, context },
            None => Tokens { encoding: None, context: UNKNOWN_CONTEXT },
        }
    }

    /// The context size in tokens; 8192 for an unknown model.
    pub fn context(&self) -> usize {
        self.context
    }

    /// Whether [`Tokens::count`] is an estimate, because the tokenizer is not known.
    pub fn is_estimate(&self) -> bool {
        self.encoding.is_none()
    }

    /// The tokenizer's name, or `estimate`.
    pub fn name(&self) -> &'static str {
        match self.encoding {
            Some(Encoding::R50k) => "r50k_base",
            Some(Encoding::P50k) => "p50k_base",
            Some(Encoding::Cl100k) => "cl100k_base",
            Some(Encoding::O200k) => "o200k_base",
            Some(Encoding::Harmony) => "o200k_harmony",
            None => "estimate",
        }
    }

    /// The tokens of a text; special tokens in it count as the plain text they are. About 0.2 ms for a thousand tokens.
    /// Exact up to 32 KiB, within a token for each 32 KiB up to 1 MiB, and above that an estimate.
    pub fn count(&self, text: &str) -> usize {
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

impl Encoding {
    fn load(self) -> &'static CoreBPE {
        match self {
            Encoding::R50k => tiktoken_rs::r50k_base_singleton(),
            Encoding::P50k => tiktoken_rs::p50k_base_singleton(),
            Encoding::Cl100k => tiktoken_rs::cl100k_base_singleton(),
            Encoding::O200k => tiktoken_rs::o200k_base_singleton(),
            Encoding::Harmony => tiktoken_rs::o200k_harmony_singleton(),
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
    use super::*;

    #[test]
    fn families_by_name() {
        for (model, name, context) in [
            ("gpt-4", "cl100k_base", 8192),
            ("gpt-4-0613", "cl100k_base", 8192),
            ("gpt-4-32k", "cl100k_base", 32_768),
            ("gpt-4-32k-0314", "cl100k_base", 32_768),
            ("gpt-4-turbo-2024-04-09", "cl100k_base", 128_000),
            ("gpt-3.5-turbo", "cl100k_base", 4096),
            ("gpt-3.5-turbo-0301", "cl100k_base", 4096),
            ("text-davinci-003", "p50k_base", 4096),
            ("text-ada-001", "r50k_base", 2049),
            ("davinci", "r50k_base", 2049),
            ("davinci-002", "cl100k_base", 16_384),
            ("gpt-4o-mini", "o200k_base", 128_000),
            ("openai/gpt-4o", "o200k_base", 128_000),
            ("ft:gpt-4o-mini:org::id", "o200k_base", 128_000),
            ("GPT-4.1-nano", "o200k_base", 1_047_576),
            ("gpt-5", "o200k_base", 400_000),
            ("gpt-5.1", "o200k_base", 400_000),
            ("o3-mini", "o200k_base", 200_000),
            ("o1-mini", "o200k_base", 128_000),
            ("gpt-oss:20b", "o200k_harmony", 131_072),
            ("meta-llama/Llama-3.1-8B-Instruct", "estimate", 131_072),
            ("qwen3:8b", "estimate", 32_768),
            ("gpt-4all", "estimate", 8192),
            ("o1x", "estimate", 8192),
            ("my-own", "estimate", 8192),
            ("", "estimate", 8192),
        ] {
            let tokens = Tokens::of(model);
            assert_eq!((tokens.name(), tokens.context()), (name, context), "{model}");
            assert_eq!(tokens.is_estimate(), name == "estimate", "{model}");
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
