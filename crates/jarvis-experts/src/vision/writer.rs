//! An encoder of pictures with a decoder of text: what captions, lines of writing and answers about pages have in common.

use tokenizers::Tokenizer;

use super::config::ModelConfig;
use super::preprocess::Preprocessor;
use super::texts::read_tokenizer;
use crate::generate::{Decoder, GenerationConfig, Hooks, Source};
use crate::onnx::Session;
use crate::{Call, ExpertError, ModelFiles, Picture, Resources};

/// Tokens that the reference pipelines write at most where the model does not say.
const MAX_NEW_TOKENS: usize = 256;

/// A model of the type `vision-encoder-decoder`.
pub(super) struct Writer {
    pub(super) files: ModelFiles,
    pub(super) tokenizer: Tokenizer,
    pub(super) generation: GenerationConfig,
    preprocessor: Preprocessor,
    encoder: Session,
    decoder: Decoder,
}

impl Writer {
    /// Loads the two graphs and the settings for a task, a key of `task_specific_params`.
    ///
    /// # Errors
    /// When a file is missing or not what it must be, or the graphs are too large.
    pub(super) fn open(
        files: &ModelFiles,
        config: &ModelConfig,
        task: &str,
        resources: &Resources,
    ) -> Result<Writer, ExpertError> {
        let preprocessor = Preprocessor::open(files, &config.encoder.model_type)?;
        let tokenizer = read_tokenizer(files)?;
        let mut generation = GenerationConfig::read(files, &[task])?;
        if generation.max_length.is_none() && generation.max_new_tokens.is_none() {
            generation.max_new_tokens = Some(MAX_NEW_TOKENS);
        }
        let encoder = Session::open(files, "encoder_model", resources)?;
        let left = Resources { max_memory: resources.max_memory.saturating_sub(encoder.memory()), ..resources.clone() };
        let decoder = Decoder::open(files, &left)?;
        Ok(Writer { files: files.clone(), tokenizer, generation, preprocessor, encoder, decoder })
    }

    /// Bytes that the weights take.
    pub(super) fn memory(&self) -> u64 {
        self.encoder.memory() + self.decoder.memory()
    }

    /// What follows the prompt, in tokens, for a picture.
    ///
    /// # Errors
    /// When the picture or the prompt is one it cannot take, the engine fails, or the call is over.
    pub(super) fn write(&self, picture: &Picture, prompt: Vec<u32>, call: &Call) -> Result<Vec<u32>, ExpertError> {
        call.check()?;
        let inputs = self.preprocessor.apply(picture)?.inputs(&self.files, &self.encoder)?;
        call.check()?;
        let states = self.encoder.run_first(inputs)?;
        let source = Source { states: &states, mask: None };
        let hooks = &mut Hooks::default();
        let written = self.decoder.generate(Some(source), &[prompt], &self.generation, hooks, call)?;
        let first = written.into_iter().next().ok_or_else(|| self.files.failed("it wrote nothing"))?;
        Ok(first.tokens)
    }

    /// The text of tokens, with or without those that are marks.
    ///
    /// # Errors
    /// When the tokenizer does not know one.
    pub(super) fn text(&self, tokens: &[u32], without_marks: bool) -> Result<String, ExpertError> {
        self.tokenizer.decode(tokens, without_marks).map_err(|error| self.files.failed(error))
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("model", &self.files.id).finish_non_exhaustive()
    }
}
