//! Chooses the next token from the logits.

use std::collections::{BTreeMap, VecDeque};

use toktrie::SimpleVob;

use crate::ChatInput;

/// Temperature and nucleus where a call asks for neither: between those of the cards of SmolLM2 (0.2, 0.9) and Qwen3 (0.7, 0.8).
const USUAL: (f32, f32) = (0.3, 0.9);

/// How much less likely a repeated token is where a call asks for nothing: small models repeat themselves without end. The usual
/// value of Ollama, over as many different tokens as there.
const PENALTY: f32 = 1.1;
const RECENT: usize = 64;

/// How tokens are chosen for one reply.
#[derive(Debug)]
pub(super) struct Sampler {
    /// 0 is greedy.
    temperature: f32,
    top_p: f32,
    bias: BTreeMap<u32, f32>,
    /// By how much a token that was chosen lately is made less likely; 1 leaves it as it is.
    penalty: f32,
    /// The tokens chosen lately, the last one last.
    recent: VecDeque<u32>,
    state: u64,
}

impl Sampler {
    pub(super) fn new(input: &ChatInput) -> Sampler {
        let seed = input.seed.unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            now.map_or(0, |time| time.as_nanos() as u64)
        });
        // Who asks for one of them leaves the other as it is; who asks for nothing gets what small models write best with.
        let is_asked = input.temperature.is_some() || input.top_p.is_some();
        let (temperature, top_p) = match is_asked {
            false => USUAL,
            true => (input.temperature.unwrap_or(1.0), input.top_p.unwrap_or(1.0)),
        };
        let valid = |value: f32| if value.is_finite() { value } else { 1.0 };
        Sampler {
            temperature: valid(temperature).clamp(0.0, 10.0),
            top_p: valid(top_p).clamp(0.0, 1.0),
            bias: input.logit_bias.clone(),
            penalty: if is_asked || input.schema.is_some() { 1.0 } else { PENALTY },
            recent: VecDeque::new(),
            state: seed,
        }
    }

    /// The next token, of those that are allowed.
    pub(super) fn choose(&mut self, logits: &mut [f32], allowed: Option<&SimpleVob>) -> Result<u32, String> {
        if self.penalty != 1.0 {
            for token in &self.recent {
                if let Some(logit) = logits.get_mut(*token as usize) {
                    *logit = if *logit > 0.0 { *logit / self.penalty } else { *logit * self.penalty };
                }
            }
        }
        let chosen = self.of_weights(logits, allowed)?;
        if self.penalty != 1.0 {
            self.recent.retain(|token| *token != chosen);
            if self.recent.len() == RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back(chosen);
        }
        Ok(chosen)
    }

    fn of_weights(&mut self, logits: &mut [f32], allowed: Option<&SimpleVob>) -> Result<u32, String> {
        for (&token, bias) in &self.bias {
            if let Some(logit) = logits.get_mut(token as usize) {
                *logit += bias;
            }
        }
        let mut candidates: Vec<(f32, u32)> = Vec::new();
        let mut consider = |token: usize| {
            if let Some(&logit) = logits.get(token)
                && logit.is_finite()
            {
                candidates.push((logit, token as u32));
            }
        };
        match allowed {
            Some(allowed) => allowed.iter_set_entries(&mut consider),
            None => (0..logits.len()).for_each(&mut consider),
        }
        // The first of equal ones, so that greedy replies are the same everywhere.
        let best = candidates.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let best = best.ok_or_else(|| "no token has a logit that is a number".to_owned())?;
        if self.temperature <= 0.0 || self.top_p <= 0.0 {
            return Ok(best.1);
        }
        for (logit, _) in &mut candidates {
            *logit = ((*logit - best.0) / self.temperature).exp();
        }
        if self.top_p < 1.0 {
            let total: f32 = candidates.iter().map(|(weight, _)| weight).sum();
            candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let mut sum = 0.0;
            let kept = candidates.iter().take_while(|(weight, _)| {
                let goes_on = sum < self.top_p * total;
                sum += weight;
                goes_on
            });
            let kept = kept.count();
            candidates.truncate(kept.max(1));
        }
        let total: f64 = candidates.iter().map(|&(weight, _)| f64::from(weight)).sum();
        let mut point = self.uniform() * total;
        for &(weight, token) in &candidates {
            point -= f64::from(weight);
            if point < 0.0 {
                return Ok(token);
            }
        }
        Ok(best.1)
    }

    /// 0 to 1, by SplitMix64 (<https://prng.di.unimi.it/splitmix64.c>).
    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(input: &ChatInput, logits: &[f32], allowed: Option<&SimpleVob>) -> BTreeMap<u32, usize> {
        let mut sampler = Sampler::new(input);
        let mut counts = BTreeMap::new();
        for _ in 0..1000 {
            *counts.entry(sampler.choose(&mut logits.to_vec(), allowed).unwrap()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn choices() {
        let logits = [0.0, 2.0, 2.0, f32::NAN, 1.0];
        let input = |temperature, top_p| ChatInput {
            temperature: Some(temperature),
            top_p: Some(top_p),
            seed: Some(7),
            ..ChatInput::default()
        };
        let mut allowed = SimpleVob::alloc(5);
        allowed.allow_token(0);
        allowed.allow_token(4);
        let keys = |counts: BTreeMap<u32, usize>| counts.into_keys().collect::<Vec<_>>();
        assert_eq!(keys(chosen(&input(0.0, 1.0), &logits, None)), [1], "greedy takes the first of equal ones");
        assert_eq!(keys(chosen(&input(0.0, 1.0), &logits, Some(&allowed))), [4]);
        assert_eq!(keys(chosen(&input(1.0, 1.0), &logits, None)), [0, 1, 2, 4]);
        assert_eq!(keys(chosen(&input(1.0, 0.5), &logits, None)), [1, 2]);
        assert_eq!(keys(chosen(&input(1.0, 1.0), &logits, Some(&allowed))), [0, 4]);
        let counts = chosen(&input(1.0, 1.0), &[0.0, 3.0_f32.ln()], None);
        assert!((700..800).contains(&counts[&1]), "{counts:?}");
        let biased = ChatInput { logit_bias: BTreeMap::from([(0, 100.0), (99, 5.0)]), ..input(1.0, 1.0) };
        assert_eq!(keys(chosen(&biased, &logits, None)), [0]);
        // Who asks for nothing gets the likely ones, and no token again and again.
        let usual = ChatInput { seed: Some(7), ..ChatInput::default() };
        let mut shares = [0; 2];
        for seed in 0..1000 {
            let mut sampler = Sampler { state: seed, ..Sampler::new(&usual) };
            sampler.recent.push_back(0);
            shares[sampler.choose(&mut [2.0, 2.0], None).unwrap() as usize] += 1;
        }
        // 2.0 / 1.1 against 2.0 at a temperature of 0.3: one to 1.83.
        assert!((300..410).contains(&shares[0]), "{shares:?}");
        let mut sampler = Sampler::new(&input(1.0, 1.0));
        assert!(sampler.choose(&mut [f32::NAN, f32::INFINITY], None).is_err());
    }
}
