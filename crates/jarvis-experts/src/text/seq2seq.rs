//! Encoder-decoder models that write: summaries, instructions followed, and the ground of translation.
//!
//! A text that is longer than the encoder reads is summarised piece by piece, see [`super::sentences`], and the summaries are
//! joined. An instruction is never cut or split: one that is too long is refused.

use crate::generate::{Decoder, Generated, GenerationConfig, Hooks, Source};
use crate::onnx::{Session, ints};
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

use super::config::TextConfig;
use super::sentences::pieces;
use super::tokens::TextTokenizer;
use super::{require_text, wrong_input};

/// Rows of a batch, beams included: more take memory without being faster.
const BATCH_ROWS: usize = 32;
/// Beams where the files do not say, as in transformers' pipelines.
const BEAMS: usize = 4;
/// Longest instruction for models with relative positions, which have no limit of their own.
const LONGEST_INSTRUCTION: usize = 2048;

/// An encoder, a decoder and their tokenizer.
#[derive(Debug)]
pub(super) struct Seq2Seq {
    encoder: Session,
    decoder: Decoder,
    pub(super) tokenizer: TextTokenizer,
    pub(super) files: ModelFiles,
    pad: u32,
}

impl Seq2Seq {
    pub(super) fn open(files: &ModelFiles, config: &TextConfig, resources: &Resources) -> Result<Seq2Seq, ExpertError> {
        let encoder = Session::open(files, "encoder_model", resources)?;
        if encoder.input("input_ids").is_none() {
            return Err(files.unsupported("its encoder does not take `input_ids`"));
        }
        let tokenizer = TextTokenizer::open(files, config)?;
        let from_config = || config.count("pad_token_id").and_then(|pad| u32::try_from(pad).ok());
        let pad = tokenizer.special_id("pad_token").or_else(from_config).unwrap_or_default();
        Ok(Seq2Seq { encoder, decoder: Decoder::open(files, resources)?, tokenizer, files: files.clone(), pad })
    }

    pub(super) fn memory(&self) -> u64 {
        self.encoder.memory() + self.decoder.memory() + self.tokenizer.memory()
    }

    /// The tokens of a text with special tokens, as the encoder takes them.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, ExpertError> {
        Ok(self.tokenizer.encode(text)?.get_ids().to_vec())
    }

    /// Writes something for each of the inputs, which are whole with their special tokens. `each` receives the number and the
    /// result as soon as its batch is done.
    pub(super) fn write(
        &self,
        inputs: &[Vec<u32>],
        start: u32,
        config: &GenerationConfig,
        call: &Call,
        mut each: impl FnMut(usize, Generated) -> Result<(), ExpertError>,
    ) -> Result<(), ExpertError> {
        let rows = (BATCH_ROWS / config.num_beams.max(1)).max(1);
        for (number, batch) in inputs.chunks(rows).enumerate() {
            call.check()?;
            let width = batch.iter().map(Vec::len).max().unwrap_or_default();
            let (mut ids, mut mask) =
                (Vec::with_capacity(batch.len() * width), Vec::with_capacity(batch.len() * width));
            for input in batch {
                let end = ids.len() + width;
                ids.extend(input.iter().map(|id| i32::try_from(*id).unwrap_or(i32::MAX)));
                mask.resize(ids.len(), 1);
                ids.resize(end, i32::try_from(self.pad).unwrap_or_default());
                mask.resize(end, 0);
            }
            let (ids, mask) = (ints(&[batch.len(), width], ids), ints(&[batch.len(), width], mask));
            let states =
                self.encoder.run_first(vec![("input_ids", (&ids).into()), ("attention_mask", (&mask).into())])?;
            let source = Source { states: &states, mask: Some(&mask) };
            let prompts = vec![vec![start]; batch.len()];
            let written = self.decoder.generate(Some(source), &prompts, config, &mut Hooks::default(), call)?;
            for (row, generated) in written.into_iter().enumerate() {
                each(number * rows + row, generated)?;
            }
        }
        Ok(())
    }
}

/// What the files say of generation, with the defaults of transformers' pipelines where they say nothing.
pub(super) fn generation(files: &ModelFiles, tasks: &[&str]) -> Result<GenerationConfig, ExpertError> {
    let mut config = GenerationConfig::read(files, tasks)?;
    if !config.fields.contains_key("num_beams") {
        config.num_beams = BEAMS;
    }
    Ok(config)
}

/// A model of summaries or instructions.
#[derive(Debug)]
pub(super) struct Rewriter {
    model: Seq2Seq,
    generation: GenerationConfig,
    prefix: String,
    summarises: bool,
    has_positions: bool,
}

impl Rewriter {
    pub(super) fn open(
        files: &ModelFiles,
        config: &TextConfig,
        task: &str,
        resources: &Resources,
    ) -> Result<Rewriter, ExpertError> {
        let generation = generation(files, &[task])?;
        let specific =
            config.fields.get("task_specific_params").and_then(|tasks| tasks.get(task)?.get("prefix")?.as_str());
        let prefix = specific.or_else(|| config.text("prefix")).unwrap_or_default().to_owned();
        let has_positions = config.count("relative_attention_num_buckets").is_none();
        let model = Seq2Seq::open(files, config, resources)?;
        Ok(Rewriter { model, generation, prefix, summarises: task == "summarization", has_positions })
    }
}

impl LocalModel for Rewriter {
    fn memory(&self) -> u64 {
        self.model.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Text(text) = input else { return Err(wrong_input("this model", "a text")) };
        require_text(text, "text")?;
        let limit = self.model.tokenizer.window;
        let ids = |piece: &str| self.model.ids(&format!("{}{piece}", self.prefix));
        let inputs: Vec<Vec<u32>> = if self.summarises {
            let pieces = pieces(text, limit, &|piece| Ok(ids(piece)?.len()), call)?;
            pieces.into_iter().map(ids).collect::<Result<_, ExpertError>>()?
        } else {
            let ids = ids(text)?;
            let limit = if self.has_positions { limit } else { limit.max(LONGEST_INSTRUCTION) };
            if ids.len() > limit {
                return Err(ExpertError::BadInput(format!(
                    "the text has {} tokens, and the model `{}` reads {limit} at once",
                    ids.len(),
                    self.model.files.id
                )));
            }
            vec![ids]
        };
        let start = self.generation.start(&self.model.files)?;
        let mut written: Vec<String> = Vec::new();
        self.model.write(&inputs, start, &self.generation, call, |_, generated| {
            let text = self.model.tokenizer.decode(&generated.tokens)?.trim().to_owned();
            if !text.is_empty() {
                call.tell(&if written.is_empty() { text.clone() } else { format!(" {text}") });
                written.push(text);
            }
            Ok(())
        })?;
        Ok(Output::Text(written.join(" ")))
    }
}
