//! The vocabularies of OpenAI's tokenizers, compressed: a quarter of the text that tiktoken-rs carries. Each token is its length in
//! one byte and its bytes, in the order of ranks. `examples/vocabularies.rs` writes them.

use std::io::Read;

use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR};

use super::Encoding;

/// How text is cut before tokens are looked for (GPT-2 and GPT-3).
const P50K: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";

/// The same for GPT-3.5 and GPT-4.
const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";

/// How many tokens of p50k are those of r50k.
const R50K_TOKENS: usize = 50_256;

/// Unpacks a vocabulary. Special tokens are left out: texts are counted as the plain text that they are.
#[allow(clippy::expect_used, reason = "what is compiled in is compared with its source by a test")]
pub(super) fn read(encoding: Encoding) -> CoreBPE {
    let (packed, pattern, most): (&[u8], _, _) = match encoding {
        Encoding::R50k => (include_bytes!("../../data/p50k_base.bpe.gz"), P50K, R50K_TOKENS),
        Encoding::P50k => (include_bytes!("../../data/p50k_base.bpe.gz"), P50K, usize::MAX),
        Encoding::Cl100k => (include_bytes!("../../data/cl100k_base.bpe.gz"), CL100K, usize::MAX),
        Encoding::O200k | Encoding::Harmony => {
            (include_bytes!("../../data/o200k_base.bpe.gz"), O200K_BASE_PAT_STR, usize::MAX)
        }
    };
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("what is compiled in was written by gzip");
    let mut rest = bytes.as_slice();
    let mut tokens = rustc_hash::FxHashMap::default();
    let mut rank = 0;
    while let Some((length, after)) = rest.split_first().filter(|_| (rank as usize) < most) {
        let (token, after) =
            after.split_at_checked(usize::from(*length)).expect("each length is followed by its token");
        if !token.is_empty() {
            tokens.insert(token.to_vec(), rank);
        }
        rest = after;
        rank += 1;
    }
    CoreBPE::new(tokens, rustc_hash::FxHashMap::default(), pattern).expect("the patterns are fixed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_vocabulary_is_that_of_tiktoken() {
        let texts = [
            "The quick brown fox's 1234567 jumps…\n\n\tfn main() { println!(\"{}\", 42); }   \r\n  x",
            "Нарисуй кота на крыше и расскажи о нём. 请数一数图片里有几只动物。 日本語 한국어 ไทย 🦀🏽",
            "        indented\n\n\n    twice <|endoftext|> I'LL we've DON'T naïve e\u{301}",
        ];
        for (encoding, whole) in [
            (Encoding::R50k, tiktoken_rs::r50k_base_singleton()),
            (Encoding::P50k, tiktoken_rs::p50k_base_singleton()),
            (Encoding::Cl100k, tiktoken_rs::cl100k_base_singleton()),
            (Encoding::O200k, tiktoken_rs::o200k_base_singleton()),
            (Encoding::Harmony, tiktoken_rs::o200k_harmony_singleton()),
        ] {
            let ours = encoding.load();
            let special: Vec<Vec<u8>> = whole.special_tokens().iter().map(|token| token.as_bytes().to_vec()).collect();
            let mut found = 0;
            for rank in 0..210_000 {
                let want = whole.decode_bytes(&[rank]).ok().filter(|token| !special.contains(token));
                found += usize::from(want.is_some());
                assert_eq!(ours.decode_bytes(&[rank]).ok(), want, "{encoding:?}, {rank}");
            }
            assert!(found > 50_000, "{encoding:?} has {found} tokens");
            for text in texts {
                assert_eq!(ours.encode_ordinary(text), whole.encode_ordinary(text), "{encoding:?}, {text}");
            }
        }
    }
}
