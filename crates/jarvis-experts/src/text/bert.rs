//! BERT and RoBERTa encoders from `model.safetensors`, on candle: token ids to the states of one layer. Heads are not here: what a
//! model was trained to say beyond its states needs its ONNX form.

use std::fs;

use candle_core::safetensors::BufferedSafetensors;
use candle_core::{D, DType, Device, Result as CandleResult, Tensor};
use candle_nn::{Embedding, LayerNorm, Linear, Module as _, VarBuilder, ops};

use crate::{Call, ExpertError, ModelFiles, Resources};

use super::config::TextConfig;

/// The file of the weights, unless another is named.
const WEIGHTS: &str = "model.safetensors";
/// Where files keep the encoder: by itself, or beside a head.
const PREFIXES: [&str; 4] = ["", "bert", "roberta", "model"];

/// An encoder with its weights.
pub(super) struct Bert {
    words: Embedding,
    positions: Embedding,
    kinds: Embedding,
    norm: LayerNorm,
    layers: Vec<Layer>,
    heads: usize,
    /// The position of the first token.
    first: u32,
    bytes: u64,
    files: ModelFiles,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: LayerNorm,
    widened: Linear,
    activation: Activation,
    narrowed: Linear,
    norm: LayerNorm,
}

#[derive(Debug, Clone, Copy)]
enum Activation {
    /// By the error function.
    Gelu,
    /// By its approximation with the hyperbolic tangent.
    GeluTanh,
    Relu,
    Silu,
}

/// What `config.json` says of the sizes.
struct Sizes {
    hidden: usize,
    inner: usize,
    heads: usize,
    epsilon: f64,
    activation: Activation,
}

/// The file of the weights: the one that is named, or the usual one.
pub(super) fn named(files: &ModelFiles) -> &str {
    let named = files.weights.iter().find(|name| name.ends_with(".safetensors"));
    named.map_or(WEIGHTS, String::as_str)
}

/// The same where it is to be used: there is no ONNX form, or its name was given.
pub(super) fn weights(files: &ModelFiles) -> Option<&str> {
    let name = named(files);
    let is_asked_for = files.weights.iter().any(|weights| weights == name);
    (files.has(name) && (is_asked_for || files.find_onnx("model").is_none())).then_some(name)
}

impl Bert {
    /// Loads the layers up to number `last`, all without it.
    ///
    /// # Errors
    /// When the architecture is another, the file is broken or has other shapes than `config.json` says, or it is too large.
    pub(super) fn open(
        files: &ModelFiles,
        name: &str,
        config: &TextConfig,
        last: Option<usize>,
        resources: &Resources,
    ) -> Result<Bert, ExpertError> {
        let kind = config.model_type.as_str();
        let is_roberta = is_roberta(kind);
        if !is_known(kind) {
            return Err(
                files.unsupported(format!("only BERT and RoBERTa are read from safetensors, and its type is `{kind}`"))
            );
        }
        if let Some(other) = config.text("position_embedding_type").filter(|kind| *kind != "absolute") {
            return Err(files.unsupported(format!("its positions are `{other}`, not absolute")));
        }
        let sizes = Sizes::read(files, config)?;
        let layers = layers(files, config)?;
        let path = files.path(name)?;
        let of_file = fs::metadata(&path).map_err(|error| files.bad(name, error))?.len();
        let check = |needed: u64| match needed > resources.max_memory {
            true => {
                let (needed, allowed) = (needed >> 20, resources.max_memory >> 20);
                Err(ExpertError::TooLarge { model: files.id.clone(), needed, allowed })
            }
            false => Ok(()),
        };
        check(of_file)?;
        let data = fs::read(&path).map_err(|error| files.bad(name, error))?;
        let weights = BufferedSafetensors::new(data).map_err(|error| files.bad(name, error))?;
        // They are computed with in 32 bits, and while they are made from it the file is held too.
        let numbers =
            weights.tensors().iter().map(|(_, tensor)| tensor.shape().iter().product::<usize>() as u64).sum::<u64>();
        let bytes = numbers.saturating_mul(4);
        check(of_file.saturating_add(bytes))?;
        let weights = VarBuilder::from_backend(Box::new(weights), DType::F32, Device::Cpu);
        let table = "embeddings.word_embeddings.weight";
        let within = |prefix: &str| if prefix.is_empty() { weights.clone() } else { weights.pp(prefix) };
        let mut places = PREFIXES.into_iter().map(within);
        let Some(weights) = places.find(|weights| weights.contains_tensor(table)) else {
            return Err(files.bad(name, format!("it holds no `{table}`")));
        };
        let count = |name: &str| config.count(name).ok_or_else(|| files.bad("config.json", format!("no `{name}`")));
        let tables =
            [count("vocab_size")?, count("max_position_embeddings")?, config.count("type_vocab_size").unwrap_or(2)];
        // RoBERTa counts positions from behind that of the padding.
        let pad = config.count("pad_token_id").unwrap_or(1);
        let first = if is_roberta { u32::try_from(pad).unwrap_or_default().saturating_add(1) } else { 0 };
        let load = || -> CandleResult<Bert> {
            let embeddings = weights.pp("embeddings");
            let table = |rows: usize, name: &str| {
                let table = embeddings.get((rows, sizes.hidden), &format!("{name}.weight"))?;
                CandleResult::Ok(Embedding::new(table, sizes.hidden))
            };
            let [words, positions, kinds] = tables;
            let layers = (0..last.unwrap_or(layers).min(layers))
                .map(|number| Layer::load(&weights.pp(format!("encoder.layer.{number}")), &sizes))
                .collect::<CandleResult<Vec<Layer>>>()?;
            Ok(Bert {
                words: table(words, "word_embeddings")?,
                positions: table(positions, "position_embeddings")?,
                kinds: table(kinds, "token_type_embeddings")?,
                norm: candle_nn::layer_norm(sizes.hidden, sizes.epsilon, embeddings.pp("LayerNorm"))?,
                layers,
                heads: sizes.heads,
                first,
                bytes,
                files: files.clone(),
            })
        };
        load().map_err(|error| files.bad(name, error))
    }

    pub(super) fn memory(&self) -> u64 {
        self.bytes
    }

    /// The states of the last layer that is loaded, row by row: as many as `ids` has tokens, each of the hidden size. Rows of
    /// `lengths` tokens are padded to `width`.
    ///
    /// # Errors
    /// When a token has no row in the table, or the call is over.
    pub(super) fn states(
        &self,
        ids: Vec<u32>,
        kinds: Vec<u32>,
        lengths: &[usize],
        call: &Call,
    ) -> Result<(Vec<usize>, Vec<f32>), ExpertError> {
        let rows = lengths.len().max(1);
        let width = ids.len() / rows;
        let failed = |error: candle_core::Error| self.files.failed(error);
        let embedded = || -> CandleResult<(Tensor, Option<Tensor>)> {
            let table = |values: Vec<u32>| Tensor::from_vec(values, (rows, width), &Device::Cpu);
            let positions: Vec<u32> = (self.first..).take(width).collect();
            let positions = self.positions.forward(&Tensor::new(positions, &Device::Cpu)?)?;
            let sum = (self.words.forward(&table(ids)?)? + self.kinds.forward(&table(kinds)?)?)?;
            Ok((self.norm.forward(&sum.broadcast_add(&positions)?)?, mask(lengths, width)?))
        };
        let (mut states, mask) = embedded().map_err(failed)?;
        for layer in &self.layers {
            call.check()?;
            states = layer.forward(&states, self.heads, mask.as_ref()).map_err(failed)?;
        }
        let values = states.flatten_all().and_then(|states| states.to_vec1()).map_err(failed)?;
        Ok((states.dims().to_vec(), values))
    }
}

impl std::fmt::Debug for Bert {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bert")
            .field("model", &self.files.id)
            .field("layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}

/// Whether models of this type are read here.
pub(super) fn is_known(kind: &str) -> bool {
    is_roberta(kind) || matches!(kind, "bert" | "")
}

/// Whether models of this type count positions from behind the padding.
pub(super) fn is_roberta(kind: &str) -> bool {
    matches!(kind, "roberta" | "xlm-roberta" | "camembert")
}

/// How many layers the encoder has.
pub(super) fn layers(files: &ModelFiles, config: &TextConfig) -> Result<usize, ExpertError> {
    config.count("num_hidden_layers").ok_or_else(|| files.bad("config.json", "no `num_hidden_layers`"))
}

/// What is added to the scores of attention: nothing for tokens, and for padding what leaves it no weight.
fn mask(lengths: &[usize], width: usize) -> CandleResult<Option<Tensor>> {
    if lengths.iter().all(|length| *length == width) {
        return Ok(None);
    }
    let values: Vec<f32> =
        lengths.iter().flat_map(|length| (0..width).map(move |at| if at < *length { 0.0 } else { f32::MIN })).collect();
    Tensor::from_vec(values, (lengths.len(), 1, 1, width), &Device::Cpu).map(Some)
}

impl Sizes {
    fn read(files: &ModelFiles, config: &TextConfig) -> Result<Sizes, ExpertError> {
        let bad = |reason: String| files.bad("config.json", reason);
        let count =
            |name: &str| config.count(name).filter(|count| *count > 0).ok_or_else(|| bad(format!("no `{name}`")));
        let (hidden, heads) = (count("hidden_size")?, count("num_attention_heads")?);
        if hidden % heads != 0 {
            return Err(bad(format!("{heads} heads do not share a hidden size of {hidden}")));
        }
        let activation = match config.text("hidden_act").unwrap_or("gelu") {
            "gelu" => Activation::Gelu,
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Activation::GeluTanh,
            "relu" => Activation::Relu,
            "silu" | "swish" => Activation::Silu,
            other => return Err(files.unsupported(format!("its activation is `{other}`"))),
        };
        let epsilon = config.fields.get("layer_norm_eps").and_then(serde_json::Value::as_f64).unwrap_or(1e-12);
        Ok(Sizes { hidden, inner: count("intermediate_size")?, heads, epsilon, activation })
    }
}

impl Layer {
    fn load(weights: &VarBuilder<'_>, sizes: &Sizes) -> CandleResult<Layer> {
        let (hidden, inner) = (sizes.hidden, sizes.inner);
        let linear = |from: usize, to: usize, name: &str| candle_nn::linear(from, to, weights.pp(name));
        let norm = |name: &str| candle_nn::layer_norm(hidden, sizes.epsilon, weights.pp(name));
        Ok(Layer {
            query: linear(hidden, hidden, "attention.self.query")?,
            key: linear(hidden, hidden, "attention.self.key")?,
            value: linear(hidden, hidden, "attention.self.value")?,
            attended: linear(hidden, hidden, "attention.output.dense")?,
            attended_norm: norm("attention.output.LayerNorm")?,
            widened: linear(hidden, inner, "intermediate.dense")?,
            activation: sizes.activation,
            narrowed: linear(inner, hidden, "output.dense")?,
            norm: norm("output.LayerNorm")?,
        })
    }

    fn forward(&self, states: &Tensor, heads: usize, mask: Option<&Tensor>) -> CandleResult<Tensor> {
        let (rows, width, hidden) = states.dims3()?;
        let size = hidden / heads;
        let split = |linear: &Linear| -> CandleResult<Tensor> {
            linear.forward(states)?.reshape((rows, width, heads, size))?.transpose(1, 2)?.contiguous()
        };
        // Numbers scaled before they are multiplied are fewer than their products.
        let query = (split(&self.query)? / (size as f64).sqrt())?;
        let scores = query.matmul(&split(&self.key)?.transpose(D::Minus2, D::Minus1)?.contiguous()?)?;
        let scores = match mask {
            Some(mask) => scores.broadcast_add(mask)?,
            None => scores,
        };
        let attended = ops::softmax_last_dim(&scores)?.matmul(&split(&self.value)?)?;
        let attended = attended.transpose(1, 2)?.reshape((rows, width, hidden))?;
        let states = self.attended_norm.forward(&(self.attended.forward(&attended)? + states)?)?;
        let widened = self.widened.forward(&states)?;
        let active = match self.activation {
            Activation::Gelu => widened.gelu_erf()?,
            Activation::GeluTanh => widened.gelu()?,
            Activation::Relu => widened.relu()?,
            Activation::Silu => widened.silu()?,
        };
        self.norm.forward(&(self.narrowed.forward(&active)? + states)?)
    }
}
