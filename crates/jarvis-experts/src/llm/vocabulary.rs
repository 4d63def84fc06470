//! The tokenizer that a GGUF file describes: texts to tokens, tokens to bytes.
//!
//! Two kinds exist: byte-level BPE (`gpt2`), with a way to split texts before (`tokenizer.ggml.pre`), and SentencePiece
//! (`llama`). A way to split that is not known is an error, since wrong tokens look like a bad model.

use std::collections::{HashMap, HashSet};

use tokenizers::models::bpe::{BPE, Merges, Vocab};
use tokenizers::normalizers::{Replace, Sequence as Normalizers};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{PreTokenizerWrapper, SplitDelimiterBehavior, Tokenizer};

use super::gguf::{Checked, Fault, Gguf, damaged, unsupported};

/// The most tokens of a vocabulary; the largest known have 262,144.
const MAX_VOCABULARY: usize = 1 << 20;

/// Types of tokens in GGUF files.
const UNKNOWN: i64 = 2;
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;
const UNUSED: i64 = 5;
const BYTE: i64 = 6;

/// Names of tokens that end a reply, whatever else the file says. Several occur in one file: chat models end turns with one
/// and documents with another.
const ENDS: [&str; 8] =
    ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>", "</s>"];

/// Marks characters of untrusted text that would read as a control token. A noncharacter: it occurs in no real text.
const DISARMED: char = '\u{10FFFE}';

/// Splits of the GPT-2 family; `(?i:…)` are English contractions.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN2: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The tokens of a model.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// Knows no special tokens: those are found here, so that parts of a text can be kept from being read as such.
    tokenizer: Tokenizer,
    /// What each token stands for.
    bytes: Vec<Vec<u8>>,
    /// Names of special tokens, longest first.
    special: Vec<(String, u32)>,
    /// Control tokens only; they are never shown.
    control: HashSet<u32>,
    ends: Vec<u32>,
    begin: Option<u32>,
    sentence_piece: bool,
    /// SentencePiece: a text starts with a space.
    space_first: bool,
}

impl Vocabulary {
    pub(super) fn read(gguf: &Gguf) -> Checked<Vocabulary> {
        let Some(tokens) = gguf.texts("tokenizer.ggml.tokens") else {
            return damaged("it has no vocabulary");
        };
        if tokens.is_empty() || tokens.len() > MAX_VOCABULARY {
            return damaged(format!("its vocabulary has {} tokens", tokens.len()));
        }
        let types = gguf.integers("tokenizer.ggml.token_type").unwrap_or_default();
        if !types.is_empty() && types.len() != tokens.len() {
            return damaged(format!("it has types of {} tokens and {} tokens", types.len(), tokens.len()));
        }
        let kind_of = |id: usize| types.get(id).copied().unwrap_or(1);
        let mut names: HashMap<String, u32> = HashMap::with_capacity(tokens.len());
        for (id, name) in tokens.iter().enumerate() {
            // The first of two equal names counts; llama.cpp does the same.
            names.entry(name.clone()).or_insert(id as u32);
        }
        let model = gguf.text("tokenizer.ggml.model").unwrap_or_default();
        let sentence_piece = match model {
            "gpt2" => false,
            "llama" => true,
            other => return unsupported(format!("the tokenizer `{other}` (gpt2 and llama are)")),
        };
        let tokenizer = if sentence_piece { sentence_piece_bpe(gguf, tokens)? } else { byte_level_bpe(gguf, tokens)? };
        let alphabet = byte_alphabet();
        let mut special = Vec::new();
        let mut control = HashSet::new();
        let mut bytes = Vec::with_capacity(tokens.len());
        for (id, name) in tokens.iter().enumerate() {
            let kind = kind_of(id);
            if matches!(kind, CONTROL | USER_DEFINED | UNKNOWN) && !name.is_empty() {
                special.push((name.clone(), id as u32));
            }
            if matches!(kind, CONTROL | UNKNOWN) {
                control.insert(id as u32);
            }
            bytes.push(match kind {
                CONTROL | USER_DEFINED | UNKNOWN => name.as_bytes().to_vec(),
                UNUSED => Vec::new(),
                BYTE => byte_of(name).map_or_else(Vec::new, |byte| vec![byte]),
                _ if sentence_piece => name.replace('▁', " ").into_bytes(),
                _ => name.chars().map(|c| alphabet.get(&c).copied()).collect::<Option<_>>().unwrap_or_default(),
            });
        }
        special.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let id = |field: &str| {
            let id = gguf.integer(&format!("tokenizer.ggml.{field}_token_id"))?;
            u32::try_from(id).ok().filter(|&id| (id as usize) < tokens.len())
        };
        let mut ends: Vec<u32> = ["eos", "eot", "eom"].iter().filter_map(|field| id(field)).collect();
        let named = ENDS.iter().filter_map(|name| names.get(*name)).copied();
        ends.extend(named.filter(|&id| kind_of(id as usize) == CONTROL || types.is_empty()));
        let mut seen = HashSet::new();
        ends.retain(|&id| seen.insert(id));
        if ends.is_empty() {
            return damaged("it names no token that ends a text");
        }
        control.extend(&ends);
        let adds_begin = gguf.bool("tokenizer.ggml.add_bos_token").unwrap_or(sentence_piece);
        let space_first = sentence_piece && gguf.bool("tokenizer.ggml.add_space_prefix").unwrap_or(true);
        let begin = if adds_begin { id("bos") } else { None };
        Ok(Vocabulary { tokenizer, bytes, special, control, ends, begin, sentence_piece, space_first })
    }

    /// Whether the parts of a text have the same tokens as the whole, as far as words go.
    pub(super) fn is_byte_level(&self) -> bool {
        !self.sentence_piece
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What a token stands for; nothing where it is not shown.
    pub(super) fn shown(&self, token: u32) -> &[u8] {
        if self.control.contains(&token) { &[] } else { self.bytes(token) }
    }

    /// What a token stands for, the names of control tokens among them.
    pub(super) fn bytes(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_control(&self, token: u32) -> bool {
        self.control.contains(&token)
    }

    pub(super) fn is_special(&self, token: u32) -> bool {
        self.special.iter().any(|&(_, id)| id == token)
    }

    /// Tokens that end a reply, the most important first.
    pub(super) fn ends(&self) -> &[u32] {
        &self.ends
    }

    pub(super) fn name(&self, token: u32) -> String {
        String::from_utf8_lossy(self.bytes(token)).into_owned()
    }

    /// Puts the token that begins every text where the file asks for it, unless it is there.
    pub(super) fn begin(&self, tokens: &mut Vec<u32>) {
        if let Some(begin) = self.begin
            && tokens.first() != Some(&begin)
        {
            tokens.insert(0, begin);
        }
    }

    /// A text in which no control token is read, for texts that others wrote.
    pub(super) fn disarm(&self, text: &str) -> String {
        let mut disarmed = String::with_capacity(text.len());
        for piece in self.pieces(text) {
            match piece {
                Piece::Special(id) if self.control.contains(&id) => {
                    let name = self.name(id);
                    let mut characters = name.chars();
                    disarmed.extend(characters.next());
                    disarmed.push(DISARMED);
                    disarmed.push_str(characters.as_str());
                }
                Piece::Special(id) => disarmed.push_str(&self.name(id)),
                Piece::Text(text) => disarmed.push_str(text),
            }
        }
        disarmed
    }

    /// The tokens of a text, names of special tokens read as such.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, String> {
        let mut tokens = Vec::new();
        for piece in self.pieces(text) {
            match piece {
                Piece::Special(id) => tokens.push(id),
                Piece::Text(text) if text.contains(DISARMED) => {
                    tokens.extend(self.encode_plain(&text.replace(DISARMED, ""))?);
                }
                Piece::Text(text) => tokens.extend(self.encode_plain(text)?),
            }
        }
        Ok(tokens)
    }

    /// The tokens of a text in which nothing is special.
    fn encode_plain(&self, text: &str) -> Result<Vec<u32>, String> {
        if self.space_first && !text.is_empty() {
            return self.encode_part(&format!(" {text}"));
        }
        self.encode_part(text)
    }

    /// As a text, without what is put in front of whole ones.
    pub(super) fn encode_part(&self, text: &str) -> Result<Vec<u32>, String> {
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Splits a text at the names of special tokens, the longest first where several begin at one place.
    fn pieces<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        let mut first: [bool; 256] = [false; 256];
        for (name, _) in &self.special {
            if let Some(flag) = name.as_bytes().first().and_then(|&byte| first.get_mut(usize::from(byte))) {
                *flag = true;
            }
        }
        let mut pieces = Vec::new();
        let (mut from, mut at) = (0, 0);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let byte = rest.as_bytes().first().copied().unwrap_or_default();
            let found = first
                .get(usize::from(byte))
                .is_some_and(|&flag| flag)
                .then(|| self.special.iter().find(|(name, _)| rest.starts_with(name.as_str())))
                .flatten();
            let Some((name, id)) = found else {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            pieces.extend(text.get(from..at).filter(|text| !text.is_empty()).map(Piece::Text));
            pieces.push(Piece::Special(*id));
            at += name.len();
            from = at;
        }
        pieces.extend(text.get(from..).filter(|text| !text.is_empty()).map(Piece::Text));
        pieces
    }
}

enum Piece<'t> {
    Text(&'t str),
    Special(u32),
}

fn damaged_tokenizer(error: impl ToString) -> Fault {
    Fault::Damaged(format!("its tokenizer is damaged: {}", error.to_string()))
}

fn vocab(tokens: &[String]) -> Vocab {
    let mut vocab = Vocab::default();
    for (id, name) in tokens.iter().enumerate() {
        vocab.entry(name.clone()).or_insert(id as u32);
    }
    vocab
}

fn byte_level_bpe(gguf: &Gguf, tokens: &[String]) -> Checked<Tokenizer> {
    let pre = gguf.text("tokenizer.ggml.pre").unwrap_or("default");
    let split = |pattern: &str| -> Checked<PreTokenizerWrapper> {
        let pattern = SplitPattern::Regex(pattern.to_owned());
        let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false).map_err(damaged_tokenizer)?;
        Ok(Sequence::new(vec![split.into(), ByteLevel::new(false, true, false).into()]).into())
    };
    let by_words = ByteLevel::new(false, true, true);
    let (pre_tokenizer, whole_words): (PreTokenizerWrapper, bool) = match pre {
        "default" | "gpt-2" => (by_words.into(), false),
        "llama-bpe" | "llama3" | "llama-v3" | "dbrx" | "smaug-bpe" | "falcon3" => {
            (split(LLAMA3)?, matches!(pre, "llama-bpe" | "llama3" | "llama-v3" | "falcon3"))
        }
        "qwen2" | "deepseek-r1-qwen" | "stablelm2" => (split(QWEN2)?, false),
        "tekken" => (split(TEKKEN)?, true),
        "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" => {
            (Sequence::new(vec![Digits::new(true).into(), by_words.into()]).into(), false)
        }
        other => return unsupported(format!("texts split as `{other}` (tokenizer.ggml.pre)")),
    };
    let Some(lines) = gguf.texts("tokenizer.ggml.merges") else {
        return damaged("its vocabulary has no merges");
    };
    let mut merges: Merges = Vec::with_capacity(lines.len());
    for line in lines {
        let Some((left, right)) = line.split_once(' ') else {
            return damaged(format!("`{line}` is no merge of two tokens"));
        };
        merges.push((left.to_owned(), right.to_owned()));
    }
    let model = BPE::builder().vocab_and_merges(vocab(tokens), merges).ignore_merges(whole_words);
    let mut tokenizer = Tokenizer::new(model.build().map_err(damaged_tokenizer)?);
    tokenizer.with_pre_tokenizer(Some(pre_tokenizer));
    Ok(tokenizer)
}

/// SentencePiece merges the pair whose token has the highest score. That is BPE with the merges in the order of scores, which
/// `tokenizers` has.
fn sentence_piece_bpe(gguf: &Gguf, tokens: &[String]) -> Checked<Tokenizer> {
    let scores = match gguf.floats("tokenizer.ggml.scores") {
        Some(scores) if scores.len() == tokens.len() => scores,
        Some(_) | None => return damaged("its vocabulary has no score for each token"),
    };
    let vocab = vocab(tokens);
    let mut merges: Vec<(f64, u32, u32, (String, String))> = Vec::new();
    for (name, score) in tokens.iter().zip(scores) {
        let splits = name.char_indices().skip(1).filter_map(|(at, _)| name.split_at_checked(at));
        for (left, right) in splits {
            if let (Some(&a), Some(&b)) = (vocab.get(left), vocab.get(right)) {
                merges.push((*score, a, b, (left.to_owned(), right.to_owned())));
            }
        }
    }
    merges.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let merges: Merges = merges.into_iter().map(|(.., pair)| pair).collect();
    let unknown = gguf.integer("tokenizer.ggml.unknown_token_id").unwrap_or(0);
    let unknown = usize::try_from(unknown).ok().and_then(|id| tokens.get(id));
    let mut model = BPE::builder().vocab_and_merges(vocab, merges).byte_fallback(true).fuse_unk(true);
    if let Some(unknown) = unknown {
        model = model.unk_token(unknown.clone());
    }
    let mut tokenizer = Tokenizer::new(model.build().map_err(damaged_tokenizer)?);
    let spaces = Replace::new(" ", "▁").map_err(damaged_tokenizer)?;
    tokenizer.with_normalizer(Some(Normalizers::new(vec![spaces.into()]))).map_err(damaged_tokenizer)?;
    Ok(tokenizer)
}

/// `<0x0A>` to 10.
fn byte_of(name: &str) -> Option<u8> {
    u8::from_str_radix(name.strip_prefix("<0x")?.strip_suffix('>')?, 16).ok()
}

/// GPT-2's letters for bytes: printable bytes of Latin-1 stand for themselves, the others follow from U+0100 on.
fn byte_alphabet() -> HashMap<char, u8> {
    let mut next = 0x100;
    let mut letter = |byte: u8| match byte {
        b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF => char::from(byte),
        _ => {
            next += 1;
            char::from_u32(next - 1).unwrap_or_default()
        }
    };
    (0..=255).map(|byte| (letter(byte), byte)).collect()
}
