//! One sample to be generated. All that chance decides about it follows from the run's seed and the sample's number.

use crate::graph::{Method, SampleError, SampledGraph, Sampler, SeededRng, random_method, random_size};

/// The ids that eight digits without a leading zero allow.
const IDS: u64 = 90_000_000;
/// A number without a common divisor with [`IDS`], so that numbers and ids are one to one.
const STRIDE: u64 = 48_271_337;
/// Draws of method and size before a graph is found too poor for all of them.
const DRAWS: usize = 30;

/// Draws that fail before a size is found out of reach.
const TRIES: u64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSpec {
    pub seed: u64,
    /// The method; drawn for each sample when not given.
    pub method: Option<Method>,
    /// The number of tools; drawn for each sample when not given.
    pub size: Option<usize>,
}

impl SampleSpec {
    /// Whether samples of the wanted size can be drawn at all, in the wanted way or, where none is named, in one that gives
    /// more than a single tool.
    pub fn check(&self, sampler: &Sampler) -> Result<(), SampleError> {
        let Some(size) = self.size else { return Ok(()) };
        let methods: &[Method] = match &self.method {
            Some(method) => std::slice::from_ref(method),
            None => &[Method::Chain, Method::Dag],
        };
        let mut found = Ok(());
        for method in methods {
            for number in 0..TRIES {
                found = sampler.sample(*method, size, &mut SeededRng::new(self.seed, number)).map(|_| ());
                if found.is_ok() {
                    return found;
                }
            }
        }
        found
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its number in the run, from 0.
    pub number: u64,
    /// Its id: eight digits, of no other number of the run.
    pub id: String,
    /// The number that the prompt shows.
    pub prompt_seed: u32,
    pub method: Method,
    /// Its tools and links, in alphabetical order.
    pub sampled: SampledGraph,
}

impl Job {
    pub fn draw(spec: &SampleSpec, sampler: &Sampler, number: u64) -> Result<Job, SampleError> {
        let mut rng = SeededRng::new(spec.seed, number);
        let prompt_seed = u32::try_from(rng.below(1_000_001)).expect("at most a million");
        let mut draws = 0;
        let (method, sampled) = loop {
            let method = spec.method.unwrap_or_else(|| random_method(&mut rng));
            let size = spec.size.unwrap_or_else(|| random_size(&mut rng));
            draws += 1;
            match sampler.sample(method, size, &mut rng) {
                Ok(sampled) => break (method, sampled.sorted()),
                Err(SampleError::NotReachable { .. } | SampleError::TooMany { .. })
                    if draws < DRAWS && (spec.method.is_none() || spec.size.is_none()) => {}
                Err(error) => return Err(error),
            }
        };
        Ok(Job { number, id: sample_id(spec.seed, number), prompt_seed, method, sampled })
    }
}

/// The id of the sample with this number in the run with this seed: eight digits, and another for each of the first
/// 90 million numbers.
pub fn sample_id(seed: u64, number: u64) -> String {
    let offset = SeededRng::new(seed, u64::MAX).below(IDS as usize) as u64;
    let place = ((number % IDS) * STRIDE + offset) % IDS;
    format!("{:08}", place + 10_000_000)
}
