//! Rotary position embeddings, with the ways to stretch them to longer contexts.

use std::f64::consts::PI;

use candle_core::{Device, Result, Tensor};
use candle_nn::rotary_emb;

use super::gguf::{Checked, Gguf, damaged, unsupported};

/// How positions turn queries and keys.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rope {
    /// The angle of one position for each pair of channels.
    frequencies: Vec<f32>,
    /// Factor on sine and cosine: YaRN raises the attention with it.
    magnitude: f32,
    /// Pairs are neighbours (the layout of llama files), else the two halves of the channels.
    interleaved: bool,
}

/// Sines and cosines of consecutive positions.
pub(super) struct Angles {
    cos: Tensor,
    sin: Tensor,
    interleaved: bool,
}

impl Rope {
    /// With it comes a bound on the context, where the file announces a scaling that is not implemented.
    pub(super) fn read(
        gguf: &Gguf,
        architecture: &str,
        head_dim: usize,
        interleaved: bool,
    ) -> Checked<(Rope, Option<usize>)> {
        let key = |field: &str| format!("{architecture}.rope.{field}");
        let channels = gguf.integer(&key("dimension_count")).map_or(Ok(head_dim), usize::try_from);
        let channels = match channels {
            Ok(channels) if channels > 0 && channels <= head_dim && channels.is_multiple_of(2) => channels,
            Ok(_) | Err(_) => return damaged("the number of its rotated channels is impossible"),
        };
        let base = gguf.float(&key("freq_base")).unwrap_or(10_000.0);
        if !(base > 1.0 && base.is_finite()) {
            return damaged(format!("{base} is no base of rotary embeddings"));
        }
        let mut frequencies: Vec<f64> =
            (0..channels / 2).map(|pair| base.powf(-2.0 * pair as f64 / channels as f64)).collect();
        // A factor for each pair is stored as a tensor: by Llama 3.1 and later for all contexts, by Phi-3 for its original one.
        let factors = ["rope_freqs.weight", "rope_factors_short.weight"].into_iter().find(|name| gguf.has(name));
        if let Some(name) = factors {
            let factors = gguf.tensor(name, &[channels / 2])?.dequantize(&Device::Cpu)?;
            for (frequency, factor) in frequencies.iter_mut().zip(factors.to_vec1::<f32>()?) {
                if !(factor.is_finite() && factor > 0.0) {
                    return damaged(format!("the tensor `{name}` has an impossible factor"));
                }
                *frequency /= f64::from(factor);
            }
        }
        let factor = gguf.float(&key("scaling.factor")).unwrap_or(1.0);
        let original = gguf.integer(&key("scaling.original_context_length"));
        let original = original.and_then(|original| usize::try_from(original).ok()).filter(|&original| original > 0);
        let mut magnitude = gguf.float(&key("scaling.attn_factor")).unwrap_or(1.0);
        if !(magnitude > 0.0 && magnitude < 100.0) {
            return damaged(format!("{magnitude} is no factor of attention"));
        }
        // The factors for longer contexts are not used.
        let mut bound = if gguf.has("rope_factors_short.weight") { original } else { None };
        match gguf.text(&key("scaling.type")) {
            None | Some("none") => {}
            Some(_) if !(factor.is_finite() && (1.0..=1024.0).contains(&factor)) => {
                return damaged(format!("{factor} is no factor of a longer context"));
            }
            Some("linear") => frequencies.iter_mut().for_each(|frequency| *frequency /= factor),
            Some("yarn") => {
                let Some(original) = original else {
                    return damaged("it does not say which context YaRN starts from");
                };
                stretch_yarn(&mut frequencies, base, factor, original as f64);
                magnitude *= 1.0 + 0.1 * factor.ln();
            }
            Some("longrope") if bound.is_some() => {}
            Some(other) => {
                let Some(original) = original else {
                    return unsupported(format!("the rotary scaling `{other}`"));
                };
                tracing::info!(scaling = other, context = original, "unknown rotary scaling: the context stays short");
                bound = Some(original);
            }
        }
        let frequencies = frequencies.into_iter().map(|frequency| frequency as f32).collect();
        Ok((Rope { frequencies, magnitude: magnitude as f32, interleaved }, bound))
    }

    /// The unscaled rotation of all channels, in halves.
    pub(super) fn plain(head_dim: usize, base: f64) -> Rope {
        let frequency = |pair: usize| base.powf(-2.0 * pair as f64 / head_dim as f64) as f32;
        Rope { frequencies: (0..head_dim / 2).map(frequency).collect(), magnitude: 1.0, interleaved: false }
    }

    /// Sines and cosines of so many positions from `start`.
    pub(super) fn angles(&self, start: usize, count: usize) -> Result<Angles> {
        let mut cos = Vec::with_capacity(count * self.frequencies.len());
        let mut sin = Vec::with_capacity(count * self.frequencies.len());
        for position in start..start + count {
            for frequency in &self.frequencies {
                let (s, c) = (position as f32 * frequency).sin_cos();
                cos.push(c * self.magnitude);
                sin.push(s * self.magnitude);
            }
        }
        let shape = (count, self.frequencies.len());
        let tensor = |values| Tensor::from_vec(values, shape, &Device::Cpu);
        Ok(Angles { cos: tensor(cos)?, sin: tensor(sin)?, interleaved: self.interleaved })
    }
}

impl Angles {
    /// Turns queries or keys of the shape [1, heads, positions, channels].
    pub(super) fn turn(&self, states: &Tensor) -> Result<Tensor> {
        let (channels, all) = (2 * self.cos.dim(1)?, states.dim(3)?);
        if channels < all {
            let turned = self.turn(&states.narrow(3, 0, channels)?.contiguous()?)?;
            return Tensor::cat(&[&turned, &states.narrow(3, channels, all - channels)?.contiguous()?], 3);
        }
        if self.interleaved {
            rotary_emb::rope_i(states, &self.cos, &self.sin)
        } else {
            rotary_emb::rope(states, &self.cos, &self.sin)
        }
    }
}

/// YaRN (<https://arxiv.org/abs/2309.00071>): frequencies that turn often within the original context stay, slow ones are
/// divided by the factor, those between are mixed.
fn stretch_yarn(frequencies: &mut [f64], base: f64, factor: f64, original: f64) {
    const FAST: f64 = 32.0;
    const SLOW: f64 = 1.0;
    let channels = 2.0 * frequencies.len() as f64;
    let pair_of = |turns: f64| channels * (original / (turns * 2.0 * PI)).ln() / (2.0 * base.ln());
    let low = pair_of(FAST).floor().max(0.0);
    let high = pair_of(SLOW).ceil().min(channels - 1.0);
    for (pair, frequency) in frequencies.iter_mut().enumerate() {
        let slow = ((pair as f64 - low) / (high - low).max(0.001)).clamp(0.0, 1.0);
        *frequency = *frequency / factor * slow + *frequency * (1.0 - slow);
    }
}
