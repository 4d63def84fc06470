//! Text from pictures: captions (ViT-GPT2) and lines of writing (TrOCR), by an encoder of pictures and a decoder of text.

use super::config::ModelConfig;
use super::picture::only_picture;
use super::writer::Writer;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

#[derive(Debug)]
struct Captioner {
    writer: Writer,
    /// The token that a text begins after.
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
    let writer = Writer::open(files, config, "image-to-text", resources)?;
    let start = writer.generation.start(files)?;
    Ok(Some(Box::new(Captioner { writer, start })))
}

impl LocalModel for Captioner {
    fn memory(&self) -> u64 {
        self.writer.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let tokens = self.writer.write(only_picture(input)?, vec![self.start], call)?;
        self.writer.text(&tokens, true).map(Output::Text)
    }
}
