//! Tokenizers: `tokenizer.json` with its special tokens, and windows over long texts.
//!
//! Truncation and padding that a file has baked in are dropped: files of sentence encoders cut at 128 tokens, whatever the model
//! reads. A text is encoded whole, and cut into windows afterwards.

use serde_json::{Map, Value};
use tokenizers::{Encoding, Tokenizer};

use crate::{ExpertError, ModelFiles};

use super::config::TextConfig;

/// A tokenizer and what its files say of it.
pub(super) struct TextTokenizer {
    tokenizer: Tokenizer,
    settings: Map<String, Value>,
    special: Map<String, Value>,
    files: ModelFiles,
    /// Tokens that the encoder reads at once, special tokens included.
    pub(super) window: usize,
    bytes: u64,
}

impl std::fmt::Debug for TextTokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextTokenizer")
            .field("model", &self.files.id)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

/// A piece of an encoded text with its special tokens, ready for a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Window {
    pub(super) ids: Vec<u32>,
    pub(super) type_ids: Vec<u32>,
    /// Characters of the text that each token covers.
    pub(super) offsets: Vec<(usize, usize)>,
    /// Which of the texts each token belongs to: 0, 1, or none for special tokens.
    pub(super) sequences: Vec<Option<usize>>,
    /// The word of its text that each token belongs to.
    pub(super) words: Vec<Option<u32>>,
}

impl Window {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    fn push(&mut self, whole: &Encoding, sequences: &[Option<usize>], index: usize) {
        let token = |values: &[u32]| values.get(index).copied().unwrap_or_default();
        self.ids.push(token(whole.get_ids()));
        self.type_ids.push(token(whole.get_type_ids()));
        self.offsets.push(whole.get_offsets().get(index).copied().unwrap_or_default());
        self.sequences.push(sequences.get(index).copied().flatten());
        self.words.push(whole.get_word_ids().get(index).copied().flatten());
    }
}

impl TextTokenizer {
    /// Reads `tokenizer.json`, `tokenizer_config.json` and `special_tokens_map.json`.
    ///
    /// # Errors
    /// When there is no `tokenizer.json`, or one of them is broken.
    pub(super) fn open(files: &ModelFiles, config: &TextConfig) -> Result<TextTokenizer, ExpertError> {
        let text = files.text("tokenizer.json")?;
        let bytes = text.len() as u64;
        // A vocabulary in another form than its model says makes the library panic.
        let parsed = std::panic::catch_unwind(|| Tokenizer::from_bytes(text.as_bytes()));
        let mut tokenizer = match parsed {
            Ok(Ok(tokenizer)) => tokenizer,
            Ok(Err(error)) => return Err(files.bad("tokenizer.json", error)),
            Err(_) => return Err(files.bad("tokenizer.json", "it is not consistent")),
        };
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| files.bad("tokenizer.json", error))?;
        let settings: Map<String, Value> = files.json_if_there("tokenizer_config.json")?.unwrap_or_default();
        let special = files.json_if_there("special_tokens_map.json")?.unwrap_or_default();
        // "No limit" is written as 10^30.
        let limit = settings.get("model_max_length").and_then(Value::as_f64);
        let limit = limit.filter(|limit| (1.0..1e9).contains(limit)).map(|limit| limit as usize);
        Ok(TextTokenizer { window: config.window(limit), tokenizer, settings, special, files: files.clone(), bytes })
    }

    /// Bytes that it takes, roughly: those of its file.
    pub(super) fn memory(&self) -> u64 {
        self.bytes
    }

    pub(super) fn setting(&self, name: &str) -> Option<&Value> {
        self.settings.get(name)
    }

    /// A special token (`mask_token`, `pad_token`, `eos_token`) as text.
    pub(super) fn special(&self, name: &str) -> Option<&str> {
        [&self.settings, &self.special].into_iter().find_map(|tokens| {
            let token = tokens.get(name)?;
            token.as_str().or_else(|| token.get("content")?.as_str())
        })
    }

    pub(super) fn special_id(&self, name: &str) -> Option<u32> {
        self.id(self.special(name)?)
    }

    pub(super) fn id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// The tokens that were added to the vocabulary, special ones and language codes among them.
    pub(super) fn added(&self) -> Vec<String> {
        self.tokenizer.get_added_tokens_decoder().values().map(|token| token.content.clone()).collect()
    }

    /// Encodes a text whole, with special tokens. Offsets count characters.
    pub(super) fn encode(&self, text: &str) -> Result<Encoding, ExpertError> {
        self.checked(|| self.tokenizer.encode_char_offsets(text, true))
    }

    /// Encodes a text without special tokens.
    pub(super) fn encode_plain(&self, text: &str) -> Result<Encoding, ExpertError> {
        self.checked(|| self.tokenizer.encode_char_offsets(text, false))
    }

    /// Encodes two texts as one input.
    pub(super) fn encode_pair(&self, first: &str, second: &str) -> Result<Encoding, ExpertError> {
        self.checked(|| self.tokenizer.encode_char_offsets((first, second), true))
    }

    fn checked(&self, encode: impl FnOnce() -> tokenizers::Result<Encoding>) -> Result<Encoding, ExpertError> {
        encode().map_err(|error| self.files.bad("tokenizer.json", error))
    }

    /// The text of tokens, without special ones.
    pub(super) fn decode(&self, ids: &[u32]) -> Result<String, ExpertError> {
        self.tokenizer.decode(ids, true).map_err(|error| self.files.bad("tokenizer.json", error))
    }

    /// The text of tokens, special ones included.
    pub(super) fn decode_all(&self, ids: &[u32]) -> Result<String, ExpertError> {
        self.tokenizer.decode(ids, false).map_err(|error| self.files.bad("tokenizer.json", error))
    }

    /// Cuts an encoding into windows that fit the model: the text number `long` is cut, with so many tokens of overlap, and
    /// everything else is repeated around each piece. A text that fits is one window.
    ///
    /// # Errors
    /// When what is repeated leaves no room for the text.
    pub(super) fn windows(
        &self,
        whole: &Encoding,
        long: usize,
        limit: usize,
        overlap: usize,
    ) -> Result<Vec<Window>, ExpertError> {
        let sequences = whole.get_sequence_ids();
        let special = whole.get_special_tokens_mask();
        let is_cut = |index: usize| {
            sequences.get(index).copied().flatten() == Some(long)
                && special.get(index).is_none_or(|special| *special == 0)
        };
        let cut: Vec<usize> = (0..whole.len()).filter(|index| is_cut(*index)).collect();
        let (first, last) = match (cut.first(), cut.last()) {
            (Some(first), Some(last)) => (*first, *last + 1),
            _ => (whole.len(), whole.len()),
        };
        let around = whole.len() - (last - first);
        let room = limit.saturating_sub(around);
        if room == 0 && first < last {
            return Err(ExpertError::BadInput(format!(
                "the model `{}` reads {limit} tokens at once, and the other text alone has {around}",
                self.files.id
            )));
        }
        // A step of at least a quarter bounds the number of windows.
        let step = (room - overlap.min(room / 4 * 3)).max(1);
        let mut windows = Vec::new();
        let mut start = first;
        loop {
            let end = start.saturating_add(room).min(last);
            let mut window = Window::default();
            for index in (0..first).chain(start..end).chain(last..whole.len()) {
                let inside = (start..end).contains(&index);
                window.push(whole, &sequences, index);
                // Special tokens may carry the number of a text.
                if !inside
                    && special.get(index).is_some_and(|special| *special == 1)
                    && let Some(sequence) = window.sequences.last_mut()
                {
                    *sequence = None;
                }
            }
            windows.push(window);
            if end >= last {
                return Ok(windows);
            }
            start += step;
        }
    }
}
