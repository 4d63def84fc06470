//! Text generation with a decoder-only ONNX model, such as GPT-2: a text is continued, greedily.
//!
//! Larger language models come as GGUF files and have their own module.

use crate::generate::{Decoder, GenerationConfig, Hooks};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

use super::config::TextConfig;
use super::tokens::TextTokenizer;
use super::{require_text, wrong_input};

/// A causal language model.
#[derive(Debug)]
pub(super) struct Continuer {
    decoder: Decoder,
    tokenizer: TextTokenizer,
    generation: GenerationConfig,
}

impl Continuer {
    pub(super) fn open(
        files: &ModelFiles,
        config: &TextConfig,
        resources: &Resources,
    ) -> Result<Continuer, ExpertError> {
        let generation = GenerationConfig::read(files, &["text-generation"])?;
        Ok(Continuer {
            decoder: Decoder::open(files, resources)?,
            tokenizer: TextTokenizer::open(files, config)?,
            generation,
        })
    }
}

impl LocalModel for Continuer {
    fn memory(&self) -> u64 {
        self.decoder.memory() + self.tokenizer.memory()
    }

    /// Gives the text with its continuation, as transformers' pipeline does; the listener hears the continuation.
    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Text(text) = input else { return Err(wrong_input("text generation", "a text")) };
        require_text(text, "text")?;
        let prompt = self.tokenizer.encode(text)?.get_ids().to_vec();
        let mut written: Vec<u32> = Vec::new();
        let mut given = String::new();
        let mut on_token = |token: u32| {
            written.push(token);
            // A character may take several tokens, and is incomplete before the last of them.
            if let Ok(so_far) = self.tokenizer.decode(&written)
                && !so_far.ends_with('\u{fffd}')
                && let Some(new) = so_far.strip_prefix(&given)
            {
                call.tell(new);
                given = so_far;
            }
        };
        let mut hooks = Hooks { on_token: Some(&mut on_token), ..Hooks::default() };
        let generated =
            self.decoder.generate(None, std::slice::from_ref(&prompt), &self.generation, &mut hooks, call)?;
        let before = self.tokenizer.decode(&prompt)?;
        let mut whole = prompt;
        whole.extend(generated.into_iter().flat_map(|generated| generated.tokens));
        // Decoding need not give back what was encoded, and a space may depend on what stands before it.
        let after = self.tokenizer.decode(&whole)?;
        Ok(Output::Text(format!("{text}{}", after.strip_prefix(&before).unwrap_or(&after))))
    }
}
