//! Decoder graphs in optimum's layouts, and their key-value caches.
//!
//! | files | first step | later steps |
//! |---|---|---|
//! | `decoder_model_merged` | `use_cache_branch` false, empty caches | `use_cache_branch` true |
//! | `decoder_model`, `decoder_with_past_model` | the first, without caches | the second |
//! | `decoder_model` | all tokens again at each step | the same |
//! | `model` (decoder-only, with `past_key_values` inputs) | empty caches | the same graph |

use rten::{Value, ValueOrView};
use rten_tensor::prelude::*;
use serde_json::Value as Json;

use crate::onnx::{Session, floats, ints};
use crate::{ExpertError, ModelFiles, Resources};

const PAST: &str = "past_key_values.";
/// Most attention heads, and widest head, that a cache may announce.
const MAX_WIDTH: usize = 4096;

/// A decoder with a language-modelling head.
#[derive(Debug)]
pub(crate) struct Decoder {
    first: Session,
    /// The graph of later steps, where it is another one.
    next: Option<Session>,
    caches: Vec<Cache>,
    files: ModelFiles,
}

/// One cached tensor, `[rows, heads, length, head width]`.
#[derive(Debug)]
struct Cache {
    input: String,
    output: String,
    /// Over the encoder's states: computed by the first step and then kept.
    is_cross: bool,
    heads: usize,
    width: usize,
}

/// What an encoder made of the inputs, one row for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    /// `encoder_hidden_states`, `[rows, positions, width]`.
    pub(crate) states: &'a Value,
    /// `encoder_attention_mask`, `[rows, positions]` of 0 and 1; none for pictures and sounds.
    pub(crate) mask: Option<&'a Value>,
}

/// Rows of a decoding in progress.
pub(super) struct Progress {
    /// One a cache; empty before the first step.
    caches: Vec<Value>,
    /// Tokens that the caches cover.
    length: usize,
    /// The source of each row.
    sources: Vec<usize>,
    /// The sources' states and masks, a copy as soon as rows are other than sources.
    states: Option<Value>,
    mask: Option<Value>,
}

impl Decoder {
    /// Loads the decoder of a model.
    ///
    /// # Errors
    /// When there is no graph of a decoder, or it announces caches of a kind that is not known.
    pub(crate) fn open(files: &ModelFiles, resources: &Resources) -> Result<Decoder, ExpertError> {
        let (first, next) = if files.find_onnx("decoder_model_merged").is_some() {
            (Session::open(files, "decoder_model_merged", resources)?, None)
        } else if files.find_onnx("decoder_model").is_some() {
            let next = files.find_onnx("decoder_with_past_model");
            let next = next.map(|path| Session::open_file(files, &path, resources)).transpose()?;
            (Session::open(files, "decoder_model", resources)?, next)
        } else if files.find_onnx("encoder_model").is_none() && files.find_onnx("model").is_some() {
            (Session::open(files, "model", resources)?, None)
        } else {
            return Err(ExpertError::MissingFile {
                model: files.id.clone(),
                file: "onnx/decoder_model_merged.onnx".to_owned(),
            });
        };
        let config: Json = files.json_if_there("config.json")?.unwrap_or_default();
        let caches = next
            .as_ref()
            .unwrap_or(&first)
            .inputs()
            .iter()
            .filter(|port| port.name.starts_with(PAST))
            .map(|port| {
                let output = port.name.replacen(PAST, "present.", 1);
                let unknown = |what: &str| files.unsupported(format!("its cache `{}` {what}", port.name));
                if !first.output_names().contains(&output) {
                    return Err(unknown("has no matching output"));
                }
                // Empty where the file does not say.
                if !matches!(port.shape.len(), 0 | 4) {
                    return Err(unknown("does not have four dimensions"));
                }
                let fixed = |axis: usize| port.shape.get(axis).copied().flatten();
                let heads = fixed(1).or_else(|| heads(&config)).ok_or_else(|| unknown("has no known shape"))?;
                let width = fixed(3).or_else(|| width(&config)).ok_or_else(|| unknown("has no known shape"))?;
                if heads > MAX_WIDTH || width > MAX_WIDTH {
                    return Err(unknown("is larger than a cache can be"));
                }
                let is_cross = port.name.contains(".encoder.");
                Ok(Cache { input: port.name.clone(), output, is_cross, heads, width })
            })
            .collect::<Result<Vec<Cache>, ExpertError>>()?;
        if first.input("input_ids").is_none() || first.output_names().iter().all(|name| name != "logits") {
            return Err(files.unsupported("its decoder has no `input_ids` or no `logits`"));
        }
        Ok(Decoder { first, next, caches, files: files.clone() })
    }

    /// Bytes that the weights take.
    pub(crate) fn memory(&self) -> u64 {
        self.first.memory() + self.next.as_ref().map_or(0, Session::memory)
    }

    /// The files it was loaded from.
    pub(crate) fn files(&self) -> &ModelFiles {
        &self.files
    }

    /// Starts with one row for each source.
    pub(super) fn begin(&self, rows: usize) -> Progress {
        Progress { caches: Vec::new(), length: 0, sources: (0..rows).collect(), states: None, mask: None }
    }

    /// Appends tokens to the rows and gives the scores of the token after each: `sequences` are whole, prompt included, one a
    /// row, of one length.
    pub(super) fn step(
        &self,
        progress: &mut Progress,
        source: Option<Source<'_>>,
        sequences: &[&[u32]],
    ) -> Result<Vec<Vec<f32>>, ExpertError> {
        let rows = sequences.len();
        let length = sequences.first().map_or(0, |tokens| tokens.len());
        let is_first = progress.caches.is_empty();
        let from = if is_first { 0 } else { progress.length };
        let mut ids = Vec::with_capacity(rows * (length - from.min(length)));
        for tokens in sequences {
            let new = tokens.get(from..length).ok_or_else(|| self.files.failed("rows of different lengths"))?;
            ids.extend(new.iter().map(|id| i32::try_from(*id).unwrap_or(i32::MAX)));
        }
        let new = length - from;
        let session = if is_first { &self.first } else { self.next.as_ref().unwrap_or(&self.first) };
        let positions = (0..rows).flat_map(|_| from..length).map(|position| position as i32).collect();
        let (states, mask) = (progress.states.take(), progress.mask.take());
        let mut inputs: Vec<(&str, ValueOrView<'_>)> = vec![
            ("input_ids", ints(&[rows, new], ids).into()),
            ("position_ids", ints(&[rows, new], positions).into()),
            ("attention_mask", ints(&[rows, length], vec![1; rows * length]).into()),
            ("decoder_attention_mask", ints(&[rows, length], vec![1; rows * length]).into()),
            ("use_cache_branch", ints(&[1], vec![i32::from(!is_first)]).into()),
            ("cache_position", ints(&[new], (from..length).map(|position| position as i32).collect()).into()),
            ("num_logits_to_keep", ints(&[], vec![1]).into()),
        ];
        if let Some(source) = source {
            let states = states.as_ref().unwrap_or(source.states);
            inputs.push(("encoder_hidden_states", states.into()));
            if let Some(mask) = mask.as_ref().or(source.mask) {
                inputs.push(("encoder_attention_mask", mask.into()));
            }
        }
        let mut outputs = vec!["logits"];
        let mut kept = Vec::new();
        for (index, cache) in self.caches.iter().enumerate() {
            if is_first {
                // Graphs of a pair have no caches in the first step, and `Session::run` leaves them out.
                inputs.push((&cache.input, floats(&[rows, cache.heads, 0, cache.width], Vec::new()).into()));
                outputs.push(&cache.output);
            } else if !cache.is_cross {
                outputs.push(&cache.output);
                if let Some(kept_value) = progress.caches.get_mut(index) {
                    inputs.push((&cache.input, std::mem::replace(kept_value, floats(&[0], Vec::new())).into()));
                }
                kept.push(index);
            }
        }
        if !is_first {
            for (cache, value) in self.caches.iter().zip(&progress.caches).filter(|(cache, _)| cache.is_cross) {
                inputs.push((&cache.input, value.into()));
            }
        }
        let mut values = session.run(inputs, &outputs)?.into_iter();
        let logits = values.next().ok_or_else(|| self.files.failed("the decoder gave no logits"))?;
        if is_first {
            progress.caches = values.collect();
        } else {
            for (index, value) in kept.into_iter().zip(values) {
                if let Some(kept) = progress.caches.get_mut(index) {
                    *kept = value;
                }
            }
        }
        progress.states = states;
        progress.mask = mask;
        progress.length = length;
        self.last_scores(&logits, rows)
    }

    /// The scores at the last position of each row of `[rows, positions, vocabulary]`.
    fn last_scores(&self, logits: &Value, rows: usize) -> Result<Vec<Vec<f32>>, ExpertError> {
        let wrong =
            || self.files.failed("the logits of the decoder do not have the shape [rows, positions, vocabulary]");
        let logits = logits.as_tensor_view::<f32>().ok_or_else(wrong)?;
        let &[given, positions, vocabulary] = logits.shape() else { return Err(wrong()) };
        if given != rows || positions == 0 || vocabulary == 0 {
            return Err(wrong());
        }
        let numbers = logits.to_slice();
        Ok(numbers
            .chunks_exact(positions * vocabulary)
            .filter_map(|row| row.rchunks_exact(vocabulary).next())
            .map(<[f32]>::to_vec)
            .collect())
    }

    /// Makes the rows continue those of these numbers: caches are copied only where rows change.
    pub(super) fn select(
        &self,
        progress: &mut Progress,
        source: Option<Source<'_>>,
        parents: &[usize],
    ) -> Result<(), ExpertError> {
        let unchanged = |now: &[usize]| now.len() == progress.sources.len() && now.iter().copied().eq(0..now.len());
        if unchanged(parents) {
            return Ok(());
        }
        let sources: Vec<usize> = parents.iter().filter_map(|parent| progress.sources.get(*parent).copied()).collect();
        let same_sources = sources == progress.sources;
        for (cache, value) in self.caches.iter().zip(&mut progress.caches) {
            if !(cache.is_cross && same_sources) {
                *value = self.rows(value, parents)?;
            }
        }
        // The states stay needed only where the later graph reads them.
        let graph = self.next.as_ref().unwrap_or(&self.first);
        if let Some(source) = source
            && !same_sources
        {
            if graph.input("encoder_hidden_states").is_some() {
                progress.states = Some(self.rows(source.states, &sources)?);
            }
            if graph.input("encoder_attention_mask").is_some() {
                progress.mask = source.mask.map(|mask| self.int_rows(mask, &sources)).transpose()?;
            }
        }
        progress.sources = sources;
        Ok(())
    }

    fn rows(&self, value: &Value, rows: &[usize]) -> Result<Value, ExpertError> {
        let view = value.as_tensor_view::<f32>().ok_or_else(|| self.files.failed("a cache is no tensor of numbers"))?;
        let mut shape = view.shape().to_vec();
        let gathered =
            gather(&mut shape, &view.to_slice(), rows).ok_or_else(|| self.files.failed("a cache lacks rows"))?;
        Ok(floats(&shape, gathered))
    }

    fn int_rows(&self, value: &Value, rows: &[usize]) -> Result<Value, ExpertError> {
        let view = value.as_tensor_view::<i32>().ok_or_else(|| self.files.failed("a mask is no tensor of integers"))?;
        let mut shape = view.shape().to_vec();
        let gathered =
            gather(&mut shape, &view.to_slice(), rows).ok_or_else(|| self.files.failed("a mask lacks rows"))?;
        Ok(ints(&shape, gathered))
    }
}

/// These rows of a tensor, along its first axis.
fn gather<T: Copy>(shape: &mut [usize], values: &[T], rows: &[usize]) -> Option<Vec<T>> {
    let (first, rest) = shape.split_first_mut()?;
    let size: usize = rest.iter().product();
    let mut gathered = Vec::with_capacity(size * rows.len());
    for row in rows {
        if row >= first {
            return None;
        }
        gathered.extend_from_slice(values.get(row * size..(row + 1) * size)?);
    }
    *first = rows.len();
    Some(gathered)
}

fn decoder_field(config: &Json, names: &[&str]) -> Option<usize> {
    let config = config.get("decoder").or_else(|| config.get("text_config")).unwrap_or(config);
    let number = names.iter().find_map(|name| config.get(*name)?.as_u64())?;
    usize::try_from(number).ok().filter(|number| *number > 0)
}

fn heads(config: &Json) -> Option<usize> {
    decoder_field(
        config,
        &["decoder_attention_heads", "num_key_value_heads", "num_attention_heads", "num_heads", "n_head"],
    )
}

fn width(config: &Json) -> Option<usize> {
    decoder_field(config, &["d_kv", "head_dim"]).or_else(|| {
        let all = decoder_field(config, &["decoder_attention_heads", "num_attention_heads", "num_heads", "n_head"])?;
        Some(decoder_field(config, &["d_model", "hidden_size", "n_embd"])? / all)
    })
}
