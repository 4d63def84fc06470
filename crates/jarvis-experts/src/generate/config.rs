//! Decoding parameters of a checkpoint: `generation_config.json`, the generation fields of `config.json`, and its
//! `task_specific_params`. Lengths and beams are bounded here, whatever a file announces.

use serde_json::{Map, Value};

use crate::{ExpertError, ModelFiles};

/// Longest sequence that is ever generated, prompt included.
pub(crate) const MAX_LENGTH: usize = 4096;
/// Widest beam search.
pub(crate) const MAX_BEAMS: usize = 16;
/// New tokens where neither the files nor the caller set a limit; the default of the reference's text pipelines.
const DEFAULT_NEW_TOKENS: usize = 256;
/// Most entries of a list of tokens or bad words.
const MAX_LIST: usize = 16_384;

/// When a beam search stops before the length limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EarlyStopping {
    /// `false`: when the best running beam, at its present length, cannot beat the worst finished hypothesis.
    #[default]
    Heuristic,
    /// `true`: as soon as there are as many hypotheses as beams.
    WhenFull,
    /// `"never"`: when no running beam can beat the worst finished hypothesis at any length.
    Never,
}

/// How to decode. Fields are those of transformers' `GenerationConfig`; sampling is not supported and its fields are ignored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GenerationConfig {
    pub(crate) decoder_start_token_id: Option<u32>,
    pub(crate) bos_token_id: Option<u32>,
    pub(crate) pad_token_id: Option<u32>,
    /// Any of these ends a sequence.
    pub(crate) eos_token_id: Vec<u32>,
    /// The only token allowed after a prompt of one token.
    pub(crate) forced_bos_token_id: Option<u32>,
    /// The only tokens allowed at the last position before the length limit.
    pub(crate) forced_eos_token_id: Vec<u32>,
    /// Length limit with the prompt. `max_new_tokens` takes precedence.
    pub(crate) max_length: Option<usize>,
    pub(crate) max_new_tokens: Option<usize>,
    /// Positions that the decoder has, from `config.json`; no sequence grows longer.
    pub(crate) max_positions: Option<usize>,
    /// With the prompt. `min_new_tokens` takes precedence.
    pub(crate) min_length: usize,
    pub(crate) min_new_tokens: Option<usize>,
    /// 1 is greedy search.
    pub(crate) num_beams: usize,
    /// Exponent of the length by which the score of a hypothesis is divided.
    pub(crate) length_penalty: f32,
    pub(crate) early_stopping: EarlyStopping,
    /// 0 allows repetitions.
    pub(crate) no_repeat_ngram_size: usize,
    /// 1 is no penalty.
    pub(crate) repetition_penalty: f32,
    pub(crate) suppress_tokens: Vec<u32>,
    pub(crate) begin_suppress_tokens: Vec<u32>,
    pub(crate) bad_words_ids: Vec<Vec<u32>>,
    /// Whether scores are normalised again after all rules, as Marian's checkpoints ask.
    pub(crate) renormalize_logits: bool,
    /// All fields as merged from the files, for what only one architecture has (`lang_to_id`, `no_timestamps_token_id`).
    pub(crate) fields: Map<String, Value>,
}

impl Default for GenerationConfig {
    fn default() -> GenerationConfig {
        GenerationConfig {
            decoder_start_token_id: None,
            bos_token_id: None,
            pad_token_id: None,
            eos_token_id: Vec::new(),
            forced_bos_token_id: None,
            forced_eos_token_id: Vec::new(),
            max_length: None,
            max_new_tokens: None,
            max_positions: None,
            min_length: 0,
            min_new_tokens: None,
            num_beams: 1,
            length_penalty: 1.0,
            early_stopping: EarlyStopping::Heuristic,
            no_repeat_ngram_size: 0,
            repetition_penalty: 1.0,
            suppress_tokens: Vec::new(),
            begin_suppress_tokens: Vec::new(),
            bad_words_ids: Vec::new(),
            renormalize_logits: false,
            fields: Map::new(),
        }
    }
}

impl GenerationConfig {
    /// Reads the parameters for a task. Where `generation_config.json` exists, `config.json` only adds token ids that it lacks,
    /// as in transformers. `tasks` are keys of `task_specific_params` (`summarization`, `translation_en_to_de`); the first that
    /// is there applies.
    ///
    /// # Errors
    /// When a file is not valid JSON, or a field has a type or value that it cannot have.
    pub(crate) fn read(files: &ModelFiles, tasks: &[&str]) -> Result<GenerationConfig, ExpertError> {
        let model: Map<String, Value> = files.json_if_there("config.json")?.unwrap_or_default();
        let generation: Option<Map<String, Value>> = files.json_if_there("generation_config.json")?;
        let has_generation = generation.is_some();
        let mut fields = Map::new();
        let mut merge = |source: &Map<String, Value>, wanted: &dyn Fn(&str) -> bool| {
            for (name, value) in source {
                if !value.is_null() && wanted(name) {
                    fields.insert(name.clone(), value.clone());
                }
            }
        };
        let from_model = |name: &str| TOKENS.contains(&name) || (!has_generation && FIELDS.contains(&name));
        for nested in ["text_config", "decoder"] {
            if let Some(Value::Object(decoder)) = model.get(nested) {
                merge(decoder, &from_model);
            }
        }
        merge(&model, &from_model);
        merge(&generation.unwrap_or_default(), &|_| true);
        let specific = model.get("task_specific_params");
        if let Some(Value::Object(specific)) = tasks.iter().find_map(|task| specific?.get(task)) {
            merge(specific, &|_| true);
        }
        let mut config = GenerationConfig::from_fields(fields).map_err(|reason| {
            files.bad(if has_generation { "generation_config.json" } else { "config.json" }, reason)
        })?;
        config.max_positions = max_positions(&model);
        Ok(config)
    }

    pub(super) fn from_fields(fields: Map<String, Value>) -> Result<GenerationConfig, String> {
        let default = GenerationConfig::default();
        let id = |name: &str| tokens(&fields, name).map(|ids| ids.first().copied());
        let early_stopping = match fields.get("early_stopping") {
            None | Some(Value::Bool(false)) => EarlyStopping::Heuristic,
            Some(Value::Bool(true)) => EarlyStopping::WhenFull,
            Some(Value::String(never)) if never == "never" => EarlyStopping::Never,
            Some(other) => return Err(format!("early_stopping is {other}, not a boolean or \"never\"")),
        };
        let bad_words_ids = match fields.get("bad_words_ids") {
            None => Vec::new(),
            Some(value) => serde_json::from_value::<Vec<Vec<u32>>>(value.clone())
                .map_err(|_| "bad_words_ids is not a list of lists of token ids".to_owned())?,
        };
        if bad_words_ids.len() > MAX_LIST || bad_words_ids.iter().any(|word| word.is_empty() || word.len() > MAX_LIST) {
            return Err("bad_words_ids has an empty or too long entry".to_owned());
        }
        Ok(GenerationConfig {
            decoder_start_token_id: id("decoder_start_token_id")?,
            bos_token_id: id("bos_token_id")?,
            pad_token_id: id("pad_token_id")?,
            eos_token_id: tokens(&fields, "eos_token_id")?,
            forced_bos_token_id: id("forced_bos_token_id")?,
            forced_eos_token_id: tokens(&fields, "forced_eos_token_id")?,
            max_length: count(&fields, "max_length")?,
            max_new_tokens: count(&fields, "max_new_tokens")?,
            max_positions: None,
            min_length: count(&fields, "min_length")?.unwrap_or(default.min_length),
            min_new_tokens: count(&fields, "min_new_tokens")?,
            num_beams: count(&fields, "num_beams")?.unwrap_or(default.num_beams).clamp(1, MAX_BEAMS),
            length_penalty: number(&fields, "length_penalty")?.unwrap_or(default.length_penalty),
            early_stopping,
            no_repeat_ngram_size: count(&fields, "no_repeat_ngram_size")?.unwrap_or(default.no_repeat_ngram_size),
            repetition_penalty: match number(&fields, "repetition_penalty")? {
                Some(penalty) if penalty > 0.0 => penalty,
                Some(penalty) => return Err(format!("repetition_penalty is {penalty}, not above 0")),
                None => default.repetition_penalty,
            },
            suppress_tokens: tokens(&fields, "suppress_tokens")?,
            begin_suppress_tokens: tokens(&fields, "begin_suppress_tokens")?,
            bad_words_ids,
            renormalize_logits: fields.get("renormalize_logits").and_then(Value::as_bool).unwrap_or(false),
            fields,
        })
    }

    /// Length limit, with a prompt of so many tokens. Never above [`MAX_LENGTH`] or the decoder's positions.
    pub(crate) fn length_limit(&self, prompt: usize) -> usize {
        let wanted = match (self.max_new_tokens, self.max_length) {
            (Some(new), _) => prompt.saturating_add(new),
            (None, Some(all)) => all,
            (None, None) => prompt.saturating_add(DEFAULT_NEW_TOKENS),
        };
        wanted.min(self.max_positions.unwrap_or(MAX_LENGTH)).min(MAX_LENGTH)
    }

    /// Length below which no sequence may end, with a prompt of so many tokens.
    pub(crate) fn least_length(&self, prompt: usize) -> usize {
        self.min_new_tokens.map_or(self.min_length, |new| prompt.saturating_add(new))
    }

    /// The prompt of an encoder-decoder model: its start token.
    pub(crate) fn start(&self, files: &ModelFiles) -> Result<u32, ExpertError> {
        self.decoder_start_token_id
            .or(self.bos_token_id)
            .ok_or_else(|| files.bad("config.json", "neither decoder_start_token_id nor bos_token_id is set"))
    }
}

/// Tokens that `config.json` names for the model as a whole.
const TOKENS: [&str; 4] = ["decoder_start_token_id", "bos_token_id", "pad_token_id", "eos_token_id"];

/// Generation fields that `config.json` of older checkpoints may hold.
const FIELDS: [&str; 17] = [
    "forced_bos_token_id",
    "forced_eos_token_id",
    "max_length",
    "max_new_tokens",
    "min_length",
    "min_new_tokens",
    "num_beams",
    "length_penalty",
    "early_stopping",
    "no_repeat_ngram_size",
    "repetition_penalty",
    "suppress_tokens",
    "begin_suppress_tokens",
    "bad_words_ids",
    "renormalize_logits",
    "forced_decoder_ids",
    "lang_to_id",
];

/// Positions of the decoder: learned position embeddings end there. Absent for relative positions.
fn max_positions(model: &Map<String, Value>) -> Option<usize> {
    let nested = ["decoder", "text_config"].iter().find_map(|name| model.get(*name)?.as_object());
    let config = nested.unwrap_or(model);
    // T5's `n_positions` is the length of its training texts; its positions are relative.
    if config.get("relative_attention_num_buckets").is_some() {
        return None;
    }
    ["max_target_positions", "max_position_embeddings", "n_positions", "n_ctx"]
        .iter()
        .find_map(|name| config.get(*name)?.as_u64())
        .and_then(|positions| usize::try_from(positions).ok())
        .filter(|positions| *positions > 0)
}

/// Token ids: a number or a list of them. Negative ids mean none.
fn tokens(fields: &Map<String, Value>, name: &str) -> Result<Vec<u32>, String> {
    let wrong = || format!("{name} is not a token id or a list of them");
    let values = match fields.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
    };
    if values.len() > MAX_LIST {
        return Err(format!("{name} has {} entries", values.len()));
    }
    let mut ids = Vec::with_capacity(values.len());
    for value in values {
        let id = value.as_i64().ok_or_else(wrong)?;
        if id >= 0 {
            ids.push(u32::try_from(id).map_err(|_| wrong())?);
        }
    }
    Ok(ids)
}

fn count(fields: &Map<String, Value>, name: &str) -> Result<Option<usize>, String> {
    let Some(value) = fields.get(name) else { return Ok(None) };
    let number = value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0);
    let number = number.ok_or_else(|| format!("{name} is {value}, not a count"))?;
    // Casting saturates, and whoever uses a count bounds it.
    Ok(Some(number as usize))
}

fn number(fields: &Map<String, Value>, name: &str) -> Result<Option<f32>, String> {
    let Some(value) = fields.get(name) else { return Ok(None) };
    let number = value.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
    number.map(Some).ok_or_else(|| format!("{name} is {value}, not a number"))
}
