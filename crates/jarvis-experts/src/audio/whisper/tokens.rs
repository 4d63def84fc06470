//! The special tokens of a Whisper checkpoint: from `generation_config.json`, or for older checkpoints from the tokenizer.

use std::collections::BTreeMap;

use serde_json::Value;
use tokenizers::Tokenizer;

use crate::generate::GenerationConfig;
use crate::{ExpertError, ModelFiles};

/// Tokens that steer the decoder.
#[derive(Debug)]
pub(super) struct WhisperTokens {
    /// `<|startoftranscript|>`
    pub(super) start: u32,
    /// `<|endoftext|>`
    pub(super) end: u32,
    /// `<|notimestamps|>`
    pub(super) no_timestamps: u32,
    /// `<|0.00|>`; later times follow, 20 ms apart.
    pub(super) timestamp_begin: u32,
    /// The latest time of the first timestamp, counted from `<|0.00|>`.
    pub(super) max_initial_timestamp: Option<usize>,
    /// Languages by code (`en`); empty for an English-only model.
    languages: BTreeMap<String, u32>,
    transcribe: Option<u32>,
    translate: Option<u32>,
}

/// A code as tokens wrap it: `<|en|>`.
fn unwrapped(token: &str) -> Option<&str> {
    token.strip_prefix("<|")?.strip_suffix("|>")
}

impl WhisperTokens {
    pub(super) fn read(
        files: &ModelFiles,
        config: &GenerationConfig,
        tokenizer: &Tokenizer,
    ) -> Result<WhisperTokens, ExpertError> {
        let number = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        let field = |name: &str| config.fields.get(name).and_then(number);
        let missing =
            |token: &str| files.bad("generation_config.json", format!("neither it nor the tokenizer has {token}"));
        let start = config.decoder_start_token_id.or_else(|| tokenizer.token_to_id("<|startoftranscript|>"));
        let start = start.ok_or_else(|| missing("<|startoftranscript|>"))?;
        let end = config.eos_token_id.first().copied().or_else(|| tokenizer.token_to_id("<|endoftext|>"));
        let end = end.ok_or_else(|| missing("<|endoftext|>"))?;
        let no_timestamps = field("no_timestamps_token_id").or_else(|| tokenizer.token_to_id("<|notimestamps|>"));
        let no_timestamps = no_timestamps.ok_or_else(|| missing("<|notimestamps|>"))?;
        let task = |name: &str| {
            let given = config.fields.get("task_to_id").and_then(|tasks| number(tasks.get(name)?));
            given.or_else(|| tokenizer.token_to_id(&format!("<|{name}|>")))
        };
        let translate = task("translate");
        // English-only models end their text one token earlier than the multilingual ones; fine-tuned ones keep the flag.
        let is_multilingual = match config.fields.get("is_multilingual").and_then(Value::as_bool) {
            Some(flag) => flag,
            None => config.fields.contains_key("lang_to_id") || end != 50_256,
        };
        let mut languages = BTreeMap::new();
        if is_multilingual {
            if let Some(Value::Object(given)) = config.fields.get("lang_to_id") {
                let known = given.iter().filter_map(|(token, id)| Some((unwrapped(token)?.to_owned(), number(id)?)));
                languages.extend(known);
            } else {
                // The languages lie between the start and the tasks.
                let ids = start.saturating_add(1)..translate.unwrap_or(0).min(start.saturating_add(1_000));
                languages.extend(ids.filter_map(|id| Some((unwrapped(&tokenizer.id_to_token(id)?)?.to_owned(), id))));
            }
            if languages.is_empty() {
                return Err(missing("languages"));
            }
        }
        Ok(WhisperTokens {
            start,
            end,
            no_timestamps,
            timestamp_begin: no_timestamps.saturating_add(1),
            max_initial_timestamp: field("max_initial_timestamp_index").map(|index| index as usize),
            languages,
            transcribe: task("transcribe"),
            translate,
        })
    }

    pub(super) fn is_multilingual(&self) -> bool {
        !self.languages.is_empty()
    }

    /// `<|nospeech|>`, which every checkpoint has before `<|notimestamps|>`.
    pub(super) fn no_speech(&self) -> Option<u32> {
        self.no_timestamps.checked_sub(1)
    }

    /// The code of the language that a caller named: `en`, `EN`, `en-GB` or `<|en|>`.
    ///
    /// # Errors
    /// When the model does not know it, or cannot translate.
    pub(super) fn language(
        &self,
        files: &ModelFiles,
        language: Option<&str>,
        translate: bool,
    ) -> Result<Option<String>, ExpertError> {
        let id = &files.id;
        if translate && (!self.is_multilingual() || self.translate.is_none()) {
            return Err(ExpertError::BadInput(format!("`{id}` cannot translate speech")));
        }
        let Some(named) = language else { return Ok(None) };
        let code = unwrapped(named).unwrap_or(named).to_lowercase();
        let code = code.split(['-', '_']).next().unwrap_or_default().to_owned();
        let is_known = if self.is_multilingual() { self.languages.contains_key(&code) } else { code == "en" };
        if !is_known {
            return Err(ExpertError::BadInput(match self.is_multilingual() {
                true => format!("`{id}` does not know the language `{named}`"),
                false => format!("`{id}` knows English only, and the speech is said to be in `{named}`"),
            }));
        }
        Ok(Some(code))
    }

    /// The likeliest language by the logits after the start token.
    pub(super) fn detect(&self, logits: &[f32]) -> Option<String> {
        let score = |id: &u32| logits.get(*id as usize).copied().unwrap_or(f32::NEG_INFINITY);
        self.languages.iter().max_by(|(_, a), (_, b)| score(a).total_cmp(&score(b))).map(|(code, _)| code.clone())
    }

    /// The tokens that a window's text follows.
    pub(super) fn prompt(&self, language: Option<&str>, translate: bool) -> Vec<u32> {
        let language = language.and_then(|code| self.languages.get(code).copied());
        let task = if translate { self.translate } else { self.transcribe };
        let task = task.filter(|_| self.is_multilingual());
        [Some(self.start), language, task].into_iter().flatten().collect()
    }
}
