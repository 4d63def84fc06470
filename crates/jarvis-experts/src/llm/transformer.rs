//! A decoder-only transformer over quantised weights: the llama, Qwen2, Qwen3, Phi-3 and Gemma 3 families in one.
//!
//! candle-transformers has these models too. They keep one sequence each, grow its keys and values by copying at every token,
//! and stop at 4,096 positions (llama). Here the state of a sequence ([`Sequence`]) is a value of its own that can be cut back to
//! a prefix, copied, and kept for later prompts.

use std::sync::Arc;

use candle_core::{Device, Result, Tensor};
use candle_nn::ops;

use super::gguf::{Checked, Gguf};
use super::matrix::{Linear, Matrix, Weights};
use super::rope::{Angles, Rope};
use super::settings::{Architecture, Settings};
use super::vectors::InPlace;

/// Positions by which the state of a sequence grows at least.
const GROWTH: usize = 256;

/// A model that is loaded.
#[derive(Debug)]
pub(super) struct Transformer {
    pub(super) settings: Settings,
    embeddings: Arc<Matrix>,
    layers: Vec<Layer>,
    norm: Tensor,
    head: Arc<Matrix>,
}

#[derive(Debug)]
struct Layer {
    attention_norm: Tensor,
    query: Linear,
    key: Linear,
    value: Linear,
    query_norm: Option<Tensor>,
    key_norm: Option<Tensor>,
    output: Linear,
    attention_post_norm: Option<Tensor>,
    feed_forward_norm: Tensor,
    gate: Linear,
    up: Linear,
    down: Linear,
    feed_forward_post_norm: Option<Tensor>,
}

impl Layer {
    fn load(weights: &Weights, index: usize, settings: &Settings) -> Checked<Layer> {
        let Settings { hidden, feed_forward, head_dim, .. } = *settings;
        let (queries, keys) = (settings.heads * head_dim, settings.kv_heads * head_dim);
        let name = |part: &str| format!("blk.{index}.{part}");
        let architecture = settings.architecture;
        let norm_if = |there: bool, part: &str, length: usize| {
            there.then(|| weights.vector(&name(&format!("{part}.weight")), length)).transpose()
        };
        let norms_heads = matches!(architecture, Architecture::Qwen3 | Architecture::Gemma3);
        let norms_twice = architecture == Architecture::Gemma3;
        let linear = |part: &str, rows: usize| weights.linear(&name(part), rows, hidden);
        let ([query, key, value], [gate, up]) = match architecture {
            Architecture::Phi3 => (
                weights.fused(&name("attn_qkv"), [queries, keys, keys], hidden)?,
                weights.fused(&name("ffn_up"), [feed_forward; 2], hidden)?,
            ),
            _ => (
                [linear("attn_q", queries)?, linear("attn_k", keys)?, linear("attn_v", keys)?],
                [linear("ffn_gate", feed_forward)?, linear("ffn_up", feed_forward)?],
            ),
        };
        Ok(Layer {
            attention_norm: weights.vector(&name("attn_norm.weight"), hidden)?,
            query,
            key,
            value,
            query_norm: norm_if(norms_heads, "attn_q_norm", head_dim)?,
            key_norm: norm_if(norms_heads, "attn_k_norm", head_dim)?,
            output: weights.linear(&name("attn_output"), hidden, queries)?,
            attention_post_norm: norm_if(norms_twice, "post_attention_norm", hidden)?,
            feed_forward_norm: weights.vector(&name("ffn_norm.weight"), hidden)?,
            gate,
            up,
            down: weights.linear(&name("ffn_down"), hidden, feed_forward)?,
            feed_forward_post_norm: norm_if(norms_twice, "post_ffw_norm", hidden)?,
        })
    }
}

impl Transformer {
    /// `threads` are those that share the work on one matrix.
    pub(super) fn load(gguf: &Gguf, settings: Settings, threads: usize) -> Checked<Transformer> {
        let weights = Weights::new(gguf, threads);
        let Settings { vocabulary, hidden, .. } = settings;
        let embeddings = Arc::new(weights.matrix("token_embd.weight", vocabulary, hidden)?);
        // Small models use the embeddings as the last layer too, and the file holds them once.
        let head = match gguf.has("output.weight") {
            true => Arc::new(weights.matrix("output.weight", vocabulary, hidden)?),
            false => Arc::clone(&embeddings),
        };
        head.prepare()?;
        let layers =
            (0..settings.layers).map(|index| Layer::load(&weights, index, &settings)).collect::<Checked<_>>()?;
        let norm = weights.vector("output_norm.weight", hidden)?;
        Ok(Transformer { embeddings, layers, norm, head, settings })
    }

    /// Appends tokens to a sequence. The logits of the next token come back where they are wanted.
    ///
    /// The caller keeps the tokens within the vocabulary and the sequence within the context.
    pub(super) fn append(&self, sequence: &mut Sequence, tokens: &[u32], logits: bool) -> Result<Option<Vec<f32>>> {
        let states = self.states(sequence, tokens)?;
        if !logits {
            return Ok(None);
        }
        let last = states.narrow(0, tokens.len().saturating_sub(1), 1)?;
        Ok(Some(self.logits(&last)?.flatten_all()?.to_vec1()?))
    }

    /// The logits after each of these tokens, [tokens, vocabulary].
    #[cfg(test)]
    pub(super) fn append_all(&self, sequence: &mut Sequence, tokens: &[u32]) -> Result<Tensor> {
        self.logits(&self.states(sequence, tokens)?)
    }

    fn logits(&self, states: &Tensor) -> Result<Tensor> {
        self.head.forward(&ops::rms_norm(&states.contiguous()?, &self.norm, self.settings.epsilon)?)
    }

    fn states(&self, sequence: &mut Sequence, tokens: &[u32]) -> Result<Tensor> {
        let count = tokens.len();
        let start = sequence.length;
        sequence.reserve(start + count)?;
        let sight = Sight::new(&self.settings.rope, None, start, count)?;
        let local = self.settings.local.as_ref();
        let local = local.map(|local| Sight::new(&local.rope, Some(local.window), start, count)).transpose()?;
        let is_gemma = self.settings.architecture == Architecture::Gemma3;
        let activation = if is_gemma { InPlace::Gelu } else { InPlace::Silu };
        let norm = |states: &Tensor, weight: &Tensor| ops::rms_norm(states, weight, self.settings.epsilon);
        let norm_if_there = |states: Tensor, weight: &Option<Tensor>| match weight {
            Some(weight) => norm(&states, weight),
            None => Ok(states),
        };
        let mut states = self.embeddings.rows(tokens)?;
        if is_gemma {
            states = (states * (self.settings.hidden as f64).sqrt())?;
        }
        for (index, (layer, state)) in self.layers.iter().zip(&sequence.layers).enumerate() {
            let sight = local.as_ref().filter(|_| self.settings.local_of(index).is_some()).unwrap_or(&sight);
            let attended = self.attend(layer, state, &norm(&states, &layer.attention_norm)?, sight)?;
            states = (norm_if_there(attended, &layer.attention_post_norm)? + states)?;
            let normed = norm(&states, &layer.feed_forward_norm)?;
            let gate = layer.gate.forward(&normed)?;
            let gate = activation.on(gate)?;
            let output = layer.down.forward(&(gate * layer.up.forward(&normed)?)?)?;
            states = (norm_if_there(output, &layer.feed_forward_post_norm)? + states)?;
        }
        sequence.length = start + count;
        Ok(states)
    }

    fn attend(&self, layer: &Layer, state: &LayerState, input: &Tensor, sight: &Sight) -> Result<Tensor> {
        let Settings { heads, kv_heads, head_dim, epsilon, .. } = self.settings;
        let count = input.dim(0)?;
        let split = |projected: Tensor, heads: usize, norm: Option<&Tensor>| {
            let mut split = projected.reshape((count, heads, head_dim))?;
            if let Some(norm) = norm {
                split = ops::rms_norm(&split, norm, epsilon)?;
            }
            // For a single token this is the same order of numbers, and nothing is copied.
            if count == 1 { split.reshape((heads, 1, head_dim)) } else { split.transpose(0, 1)?.contiguous() }
        };
        let turn = |states: Tensor| sight.angles.turn(&states.unsqueeze(0)?)?.squeeze(0);
        let query = turn(split(layer.query.forward(input)?, heads, layer.query_norm.as_ref())?)?;
        let key = turn(split(layer.key.forward(input)?, kv_heads, layer.key_norm.as_ref())?)?;
        let value = split(layer.value.forward(input)?, kv_heads, None)?;
        state.keys.slice_set(&key, 1, sight.end - count)?;
        state.values.slice_set(&value, 1, sight.end - count)?;
        let length = sight.end - sight.from;
        let keys = state.keys.narrow(1, sight.from, length)?;
        let values = state.values.narrow(1, sight.from, length)?;
        // Queries that share a key head are rows of one matrix, so that keys and values are not repeated for them.
        let query = (query * self.settings.query_scale())?.reshape((kv_heads, (), head_dim))?;
        let mut scores = query.matmul(&keys.transpose(1, 2)?)?;
        if let Some(mask) = &sight.mask {
            scores = scores.reshape((heads, count, length))?.broadcast_add(mask)?;
            scores = scores.reshape((kv_heads, (), length))?;
        }
        let mixed = InPlace::Softmax.on(scores)?.matmul(&values)?;
        let mixed = if count == 1 {
            mixed.reshape((1, heads * head_dim))?
        } else {
            mixed.reshape((heads, count, head_dim))?.transpose(0, 1)?.reshape((count, heads * head_dim))?
        };
        layer.output.forward(&mixed)
    }

    /// A sequence without tokens.
    pub(super) fn empty_sequence(&self, capacity: usize) -> Result<Sequence> {
        let Settings { layers, kv_heads, head_dim, .. } = self.settings;
        let mut sequence = Sequence { layers: Vec::with_capacity(layers), length: 0, capacity: 0 };
        for _ in 0..layers {
            let empty = || Tensor::zeros((kv_heads, 0, head_dim), candle_core::DType::F32, &Device::Cpu);
            sequence.layers.push(LayerState { keys: empty()?, values: empty()? });
        }
        sequence.reserve(capacity)?;
        Ok(sequence)
    }
}

/// What the new positions of a sequence see of it.
struct Sight {
    angles: Angles,
    /// The first position that any of them sees.
    from: usize,
    /// The position after the last.
    end: usize,
    /// [new positions, positions seen]; none where one position sees all.
    mask: Option<Tensor>,
}

impl Sight {
    /// `count` positions from `start` see those before and themselves, as far as the window reaches.
    fn new(rope: &Rope, window: Option<usize>, start: usize, count: usize) -> Result<Sight> {
        let end = start + count;
        let first_of = |position: usize| window.map_or(0, |window| (position + 1).saturating_sub(window));
        let from = first_of(start);
        let mask = if count > 1 {
            let sees = |position: usize, other: usize| (first_of(position)..=position).contains(&other);
            let row = |position: usize| {
                (from..end).map(move |other| if sees(position, other) { 0.0 } else { f32::NEG_INFINITY })
            };
            let mask: Vec<f32> = (start..end).flat_map(row).collect();
            Some(Tensor::from_vec(mask, (count, end - from), &Device::Cpu)?)
        } else {
            None
        };
        Ok(Sight { angles: rope.angles(start, count)?, from, end, mask })
    }
}

/// The keys and values of the tokens so far.
#[derive(Debug)]
pub(super) struct Sequence {
    layers: Vec<LayerState>,
    length: usize,
    capacity: usize,
}

/// [key heads, capacity, channels] each; positions beyond the length hold nothing.
#[derive(Debug)]
struct LayerState {
    keys: Tensor,
    values: Tensor,
}

impl Sequence {
    /// Tokens.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Tokens for which it holds memory.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The capacity that it gets when it must hold so many tokens.
    pub(super) fn capacity_for(&self, tokens: usize) -> usize {
        if tokens <= self.capacity {
            return self.capacity;
        }
        tokens.next_multiple_of(GROWTH)
    }

    /// Forgets all tokens but the first.
    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Makes room for so many tokens in all.
    pub(super) fn reserve(&mut self, tokens: usize) -> Result<()> {
        let capacity = self.capacity_for(tokens);
        if capacity > self.capacity {
            self.layers = self.resized(self.length, capacity)?;
            self.capacity = capacity;
        }
        Ok(())
    }

    /// A copy of the first tokens, with room for `tokens` in all.
    pub(super) fn prefix(&self, length: usize, tokens: usize) -> Result<Sequence> {
        let length = length.min(self.length);
        let capacity = tokens.max(length).next_multiple_of(GROWTH);
        Ok(Sequence { layers: self.resized(length, capacity)?, length, capacity })
    }

    fn resized(&self, length: usize, capacity: usize) -> Result<Vec<LayerState>> {
        let resize = |old: &Tensor| -> Result<Tensor> {
            let (heads, _, channels) = old.dims3()?;
            let new = Tensor::zeros((heads, capacity, channels), old.dtype(), old.device())?;
            if length > 0 {
                new.slice_set(&old.narrow(1, 0, length)?.contiguous()?, 1, 0)?;
            }
            Ok(new)
        };
        let resized =
            |state: &LayerState| Ok(LayerState { keys: resize(&state.keys)?, values: resize(&state.values)? });
        self.layers.iter().map(resized).collect()
    }
}
