//! Encoders with a head: one graph, `model.onnx`, from token ids to scores or states; or `model.safetensors`, to states only. Windows
//! are run in padded batches.

use crate::onnx::{Session, ints, numbers};
use crate::{Call, ExpertError, ModelFiles, Resources};

#[cfg(feature = "llm")]
use super::bert::{self, Bert};
use super::config::TextConfig;
use super::tokens::{TextTokenizer, Window};

/// Padded tokens of one batch: large batches only take memory.
const BATCH_TOKENS: usize = 4096;
/// Rows of one batch.
const BATCH_ROWS: usize = 32;

/// The output that is the states of the last layer.
pub(super) const STATES: &str = "last_hidden_state";

/// A model with its tokenizer.
#[derive(Debug)]
pub(super) struct Encoder {
    engine: Engine,
    pub(super) tokenizer: TextTokenizer,
    pub(super) files: ModelFiles,
    pad: u32,
    /// Whether padding leaves the other tokens alone. MobileBERT's embeddings look at their neighbours, padding included.
    may_pad: bool,
}

/// What runs the model.
#[derive(Debug)]
enum Engine {
    Graph(Box<Session>),
    #[cfg(feature = "llm")]
    States(Box<Bert>),
}

/// The shape of an output, and its numbers.
type Values = (Vec<usize>, Vec<f32>);

/// One output for one window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    /// Without the batch.
    pub(super) shape: &'a [usize],
    pub(super) values: &'a [f32],
}

impl<'a> Row<'a> {
    /// The row of a matrix, such as the scores of a token.
    pub(super) fn at(&self, index: usize) -> Option<&'a [f32]> {
        let width = *self.shape.last()?;
        self.values.get(index * width..(index + 1) * width)
    }
}

impl Encoder {
    /// Loads `model.onnx` and its tokenizer.
    ///
    /// # Errors
    /// When a file is missing or broken, or the graph does not take token ids.
    pub(super) fn open(files: &ModelFiles, config: &TextConfig, resources: &Resources) -> Result<Encoder, ExpertError> {
        let session = Session::open(files, "model", resources)?;
        if session.input("input_ids").is_none() {
            return Err(files.unsupported("its graph does not take `input_ids`"));
        }
        Encoder::with(Engine::Graph(Box::new(session)), files, config)
    }

    /// As [`Encoder::open`], for the states alone: `model.safetensors` does too where there is no `model.onnx`.
    ///
    /// # Errors
    /// As [`Encoder::open`]; when the safetensors are of an architecture that is not run.
    pub(super) fn open_states(
        files: &ModelFiles,
        config: &TextConfig,
        resources: &Resources,
    ) -> Result<Encoder, ExpertError> {
        #[cfg(feature = "llm")]
        if let Some(name) = bert::weights(files) {
            let bert = Bert::open(files, name, config, None, resources)?;
            return Encoder::with(Engine::States(Box::new(bert)), files, config);
        }
        Encoder::open(files, config, resources)
    }

    fn with(engine: Engine, files: &ModelFiles, config: &TextConfig) -> Result<Encoder, ExpertError> {
        let tokenizer = TextTokenizer::open(files, config)?;
        let from_config = || config.count("pad_token_id").and_then(|pad| u32::try_from(pad).ok());
        let pad = tokenizer.special_id("pad_token").or_else(from_config).unwrap_or_default();
        let may_pad = config.model_type != "mobilebert";
        Ok(Encoder { engine, tokenizer, files: files.clone(), pad, may_pad })
    }

    pub(super) fn memory(&self) -> u64 {
        let weights = match &self.engine {
            Engine::Graph(session) => session.memory(),
            #[cfg(feature = "llm")]
            Engine::States(bert) => bert.memory(),
        };
        weights + self.tokenizer.memory()
    }

    /// Whether the model has this output.
    pub(super) fn gives(&self, output: &str) -> bool {
        match &self.engine {
            Engine::Graph(session) => session.output_names().iter().any(|name| name == output),
            #[cfg(feature = "llm")]
            Engine::States(_) => output == STATES,
        }
    }

    /// The name of its first output.
    pub(super) fn first_output(&self) -> Result<&str, ExpertError> {
        match &self.engine {
            Engine::Graph(session) => {
                let first = session.output_names().first();
                first.map(String::as_str).ok_or_else(|| self.files.unsupported("its graph has no output"))
            }
            #[cfg(feature = "llm")]
            Engine::States(_) => Ok(STATES),
        }
    }

    /// Runs windows in batches of similar length, and gives the outputs of each with its number. Outputs have this rank, the
    /// batch included.
    ///
    /// # Errors
    /// When the engine fails, an output has another shape, or the call is over.
    pub(super) fn run(
        &self,
        windows: &[Window],
        outputs: &[&str],
        rank: usize,
        call: &Call,
        mut each: impl FnMut(usize, &[Row<'_>]) -> Result<(), ExpertError>,
    ) -> Result<(), ExpertError> {
        let mut order: Vec<(usize, &Window)> = windows.iter().enumerate().collect();
        order.sort_by_key(|(_, window)| std::cmp::Reverse(window.len()));
        let mut rest = order.as_slice();
        while let Some((_, longest)) = rest.first() {
            call.check()?;
            let width = longest.len();
            let rows = (BATCH_TOKENS / width.max(1)).clamp(1, BATCH_ROWS).min(rest.len());
            let fits = |(_, window): &&(usize, &Window)| self.may_pad || window.len() == width;
            let (batch, later) = rest.split_at(rest.iter().take(rows).take_while(fits).count().max(1));
            rest = later;
            self.run_batch(batch, width, outputs, rank, call, &mut each)?;
        }
        Ok(())
    }

    fn run_batch(
        &self,
        batch: &[(usize, &Window)],
        width: usize,
        outputs: &[&str],
        rank: usize,
        call: &Call,
        each: &mut impl FnMut(usize, &[Row<'_>]) -> Result<(), ExpertError>,
    ) -> Result<(), ExpertError> {
        let tensors = match &self.engine {
            Engine::Graph(session) => self.run_graph(session, batch, width, outputs)?,
            #[cfg(feature = "llm")]
            Engine::States(bert) => {
                let ids = padded(batch, width, self.pad, |window| window.ids.clone());
                let kinds = padded(batch, width, 0, |window| window.type_ids.clone());
                let lengths: Vec<usize> = batch.iter().map(|(_, window)| window.len()).collect();
                vec![bert.states(ids, kinds, &lengths, call)?]
            }
        };
        #[cfg(not(feature = "llm"))]
        let _ = call;
        for (shape, _) in &tensors {
            if shape.len() != rank || shape.first() != Some(&batch.len()) || shape.contains(&0) {
                return Err(self
                    .files
                    .unsupported(format!("an output has the shape {shape:?}, not one of rank {rank}")));
            }
            // Only outputs of rank 3 have a position for each token, except those of answers.
            if rank == 3 && shape.get(1) != Some(&width) {
                return Err(self.files.unsupported(format!("an output has {shape:?} values for {width} tokens")));
            }
        }
        for (row, (number, _)) in batch.iter().enumerate() {
            let rows: Vec<Row<'_>> = tensors
                .iter()
                .filter_map(|(shape, values)| {
                    let shape = shape.get(1..)?;
                    let size: usize = shape.iter().product();
                    Some(Row { shape, values: values.get(row * size..(row + 1) * size)? })
                })
                .collect();
            each(*number, &rows)?;
        }
        Ok(())
    }

    fn run_graph(
        &self,
        session: &Session,
        batch: &[(usize, &Window)],
        width: usize,
        outputs: &[&str],
    ) -> Result<Vec<Values>, ExpertError> {
        let shape = [batch.len(), width];
        let input = |pad: u32, values: &dyn Fn(&Window) -> Vec<u32>| {
            let whole = padded(batch, width, pad, values).into_iter();
            ints(&shape, whole.map(|value| i32::try_from(value).unwrap_or(i32::MAX)).collect()).into()
        };
        let inputs = vec![
            ("input_ids", input(self.pad, &|window| window.ids.clone())),
            ("attention_mask", input(0, &|window| vec![1; window.len()])),
            ("token_type_ids", input(0, &|window| window.type_ids.clone())),
            ("position_ids", input(0, &|window| (0..window.len() as u32).collect())),
        ];
        session.run(inputs, outputs)?.iter().map(|value| numbers(&self.files, value)).collect()
    }
}

/// Values of each token, row by row, with padding at the end of each row.
fn padded(batch: &[(usize, &Window)], width: usize, pad: u32, values: impl Fn(&Window) -> Vec<u32>) -> Vec<u32> {
    let mut flat = Vec::with_capacity(batch.len() * width);
    for (_, window) in batch {
        let end = flat.len() + width;
        flat.extend(values(window));
        flat.resize(end, pad);
    }
    flat
}
