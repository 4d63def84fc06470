//! The states of a text's tokens in one layer of a BERT or RoBERTa encoder, from which BERTScore tells how alike texts are. ONNX files
//! give the last layer only, so this reads safetensors.

use crate::{Call, ExpertError, ModelFiles, Resources};

use super::bert::{self, Bert};
use super::config::TextConfig;
use super::require_length;
use super::tokens::TextTokenizer;

/// Most tokens of a text; the rest is cut.
const MAX_TOKENS: usize = 512;

/// Whether vectors of texts can be made with the safetensors of a model, as far as its settings and the names of its files say.
pub fn is_text_encoder(files: &ModelFiles) -> bool {
    let is_whole = files.weights.len() <= 1 && files.has(bert::named(files));
    is_whole && TextConfig::read(files).is_ok_and(|config| bert::is_known(&config.model_type))
}

/// How deep an encoder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// Whether it is of RoBERTa's family, else of BERT's.
    pub is_roberta: bool,
    pub layers: usize,
}

impl Depth {
    /// Reads it from `config.json`.
    ///
    /// # Errors
    /// When that is not there, or says no number of layers.
    pub fn of(files: &ModelFiles) -> Result<Depth, ExpertError> {
        let config = TextConfig::read(files)?;
        Ok(Depth { is_roberta: bert::is_roberta(&config.model_type), layers: bert::layers(files, &config)? })
    }
}

/// What one layer made of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenStates {
    /// Numbers of one token.
    pub width: usize,
    /// Token by token.
    pub values: Vec<f32>,
    /// For each token whether the tokenizer added it, as `[CLS]`.
    pub is_special: Vec<bool>,
}

/// An encoder up to one layer; those above are never computed.
#[derive(Debug)]
pub struct TokenEncoder {
    bert: Bert,
    tokenizer: TextTokenizer,
    /// Whether a blank is put before a text: RoBERTa has other tokens for words without one.
    blank_first: bool,
    resources: Resources,
}

impl TokenEncoder {
    /// Loads `model.safetensors` (or what [`ModelFiles::weights`] names) with its tokenizer, up to layer number `layer`, from 1.
    ///
    /// # Errors
    /// When there is no such layer, a file is missing or broken, the architecture is another, or it is too large.
    pub fn open(files: &ModelFiles, layer: usize, resources: &Resources) -> Result<TokenEncoder, ExpertError> {
        let config = TextConfig::read(files)?;
        let layers = bert::layers(files, &config)?;
        if layer == 0 || layer > layers {
            return Err(ExpertError::BadInput(format!("it has layers 1 to {layers}, not {layer}")));
        }
        let tokenizer = TextTokenizer::open(files, &config)?;
        let bert = Bert::open(files, bert::named(files), &config, Some(layer), resources)?;
        let blank_first = config.model_type == "roberta";
        Ok(TokenEncoder { bert, tokenizer, blank_first, resources: resources.clone() })
    }

    /// The states of a text's tokens, without the blanks around it. What is longer than the model reads is cut.
    ///
    /// # Errors
    /// When the text is absurdly long, a token has no row in the model's table, or the call is over.
    pub fn states(&self, text: &str, call: &Call) -> Result<TokenStates, ExpertError> {
        require_length(text, "text")?;
        let text = text.trim();
        let text = if self.blank_first && !text.is_empty() { format!(" {text}") } else { text.to_owned() };
        let limit = self.tokenizer.window.min(MAX_TOKENS);
        let windows = self.tokenizer.windows(&self.tokenizer.encode(&text)?, 0, limit, 0)?;
        let window = windows.into_iter().next().unwrap_or_default();
        let is_special = window.sequences.iter().map(Option::is_none).collect();
        let length = window.len();
        if length == 0 {
            return Ok(TokenStates { width: 0, values: Vec::new(), is_special });
        }
        let states = || self.bert.states(window.ids, window.type_ids, &[length], call);
        let (shape, values) = self.resources.pool_run(states)?;
        Ok(TokenStates { width: shape.last().copied().unwrap_or_default(), values, is_special })
    }
}
