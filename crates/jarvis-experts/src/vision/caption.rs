//! Text from pictures: captions (ViT-GPT2) and lines of writing (TrOCR), by an encoder of pictures and a decoder of text.

use rten::Value;
use tokenizers::Tokenizer;

use super::config::ModelConfig;
use super::picture::only_picture;
use super::preprocess::Preprocessor;
use super::texts::read_tokenizer;
use crate::generate::{Decoder, GenerationConfig, Hooks, Source};
use crate::onnx::Session;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Picture, Resources};

/// Tokens that the reference pipeline writes at most where the model does not say.
const MAX_NEW_TOKENS: usize = 256;

/// An encoder of pictures with a decoder of text.
struct Captioner {
    files: ModelFiles,
    preprocessor: Preprocessor,
    encoder: Session,
    decoder: Decoder,
    tokenizer: Tokenizer,
    generation: GenerationConfig,
    start: u32,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if config.model_type != "vision-encoder-decoder" {
        return Ok(None);
    }
    let preprocessor = Preprocessor::open(files, &config.encoder.model_type)?;
    let tokenizer = read_tokenizer(files)?;
    let mut generation = GenerationConfig::read(files, &["image-to-text"])?;
    if generation.max_length.is_none() && generation.max_new_tokens.is_none() {
        generation.max_new_tokens = Some(MAX_NEW_TOKENS);
    }
    let start = generation.start(files)?;
    let encoder = Session::open(files, "encoder_model", resources)?;
    let left = Resources { max_memory: resources.max_memory.saturating_sub(encoder.memory()), ..resources.clone() };
    let decoder = Decoder::open(files, &left)?;
    Ok(Some(Box::new(Captioner { files: files.clone(), preprocessor, encoder, decoder, tokenizer, generation, start })))
}

impl std::fmt::Debug for Captioner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Captioner").field("model", &self.files.id).finish_non_exhaustive()
    }
}

impl Captioner {
    /// What the encoder makes of a picture.
    fn look(&self, picture: &Picture, call: &Call) -> Result<Value, ExpertError> {
        call.check()?;
        let inputs = self.preprocessor.apply(picture)?.inputs(&self.files, &self.encoder)?;
        call.check()?;
        self.encoder.run_first(inputs)
    }
}

impl LocalModel for Captioner {
    fn memory(&self) -> u64 {
        self.encoder.memory() + self.decoder.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let states = self.look(only_picture(input)?, call)?;
        let source = Source { states: &states, mask: None };
        let written =
            self.decoder.generate(Some(source), &[vec![self.start]], &self.generation, &mut Hooks::default(), call)?;
        let tokens = written.first().ok_or_else(|| self.files.failed("it wrote nothing"))?;
        let text = self.tokenizer.decode(&tokens.tokens, true).map_err(|error| self.files.failed(error))?;
        Ok(Output::Text(text))
    }
}
