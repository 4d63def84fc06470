//! Sentence vectors, and the similarity of texts by them.
//!
//! Token states become one vector as `1_Pooling/config.json` says, else by their mean, and are normalised, so that a dot product
//! is the cosine. A text that is longer than `sentence_bert_config.json` allows is cut, as by sentence-transformers: vectors
//! that other programs stored stay comparable.

use serde::Deserialize;
use serde_json::Value;

use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Scored};

use super::config::TextConfig;
use super::encoder::{Encoder, Row, STATES};
use super::tokens::Window;
use super::{require_length, require_text, wrong_input};

/// Most texts of one call.
const MAX_TEXTS: usize = 100_000;
/// Texts that are encoded before the first of them is run: enough to find some of similar length.
const GROUP: usize = 512;

/// A sentence encoder.
#[derive(Debug)]
pub(super) struct Embedder {
    encoder: Encoder,
    /// The output that is read, and whether it is a vector for each text already.
    output: String,
    is_pooled: bool,
    pooling: Vec<Pooling>,
    window: usize,
    lowercase: bool,
    /// Put before each text, such as E5's "query: ".
    prompt: String,
    /// Whether texts are compared with the first rather than given as vectors.
    compares: bool,
}

/// How token states become one vector. Several are concatenated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    Cls,
    Mean,
    Max,
    MeanSqrtLength,
    /// Later tokens weigh more.
    WeightedMean,
    LastToken,
}

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    path: String,
}

impl Embedder {
    pub(super) fn open(
        files: &ModelFiles,
        config: &TextConfig,
        task: &str,
        resources: &Resources,
    ) -> Result<Embedder, ExpertError> {
        let encoder = Encoder::open_states(files, config, resources)?;
        let is_pooled = encoder.gives("sentence_embedding");
        let states = [STATES, "token_embeddings"].into_iter().find(|output| encoder.gives(output));
        let output = match states {
            _ if is_pooled => "sentence_embedding",
            Some(output) => output,
            None => return Err(files.unsupported("its graph gives no token states")),
        };
        let modules: Vec<Module> = files.json_if_there("modules.json")?.unwrap_or_default();
        if !is_pooled && let Some(dense) = modules.iter().find(|module| module.kind.ends_with(".Dense")) {
            return Err(files.unsupported(format!("its layer `{}` is not part of its graph", dense.path)));
        }
        let folder = modules.iter().find(|module| module.kind.ends_with(".Pooling")).map(|module| module.path.as_str());
        let settings: Value = files.json_if_there("sentence_bert_config.json")?.unwrap_or_default();
        let limit =
            settings.get("max_seq_length").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        let window = encoder.tokenizer.window.min(limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX));
        Ok(Embedder {
            output: output.to_owned(),
            is_pooled,
            pooling: pooling(files, folder.unwrap_or("1_Pooling"))?,
            window,
            lowercase: settings.get("do_lower_case").and_then(Value::as_bool).unwrap_or(false),
            prompt: prompt(files)?,
            compares: task == "sentence-similarity",
            encoder,
        })
    }

    fn window(&self, text: &str) -> Result<Window, ExpertError> {
        let has_prompt = ["query: ", "passage: "].iter().any(|prompt| text.starts_with(prompt));
        let prompt = if has_prompt { "" } else { self.prompt.as_str() };
        let text = format!("{prompt}{text}");
        let text = if self.lowercase { text.to_lowercase() } else { text };
        let tokenizer = &self.encoder.tokenizer;
        let windows = tokenizer.windows(&tokenizer.encode(&text)?, 0, self.window, 0)?;
        Ok(windows.into_iter().next().unwrap_or_default())
    }

    fn vectors(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ExpertError> {
        if texts.is_empty() || texts.len() > MAX_TEXTS {
            return Err(ExpertError::BadInput(format!("a call takes 1 to {MAX_TEXTS} texts, not {}", texts.len())));
        }
        let mut vectors = Vec::with_capacity(texts.len());
        for group in texts.chunks(GROUP) {
            vectors.extend(self.group(group, call)?);
        }
        Ok(vectors)
    }

    fn group(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ExpertError> {
        let mut windows = Vec::with_capacity(texts.len());
        for text in texts {
            require_length(text, "text")?;
            call.check()?;
            let window = self.window(text)?;
            // An empty text has the vector of its special tokens, where there are any.
            if window.len() == 0 {
                require_text("", "text")?;
            }
            windows.push(window);
        }
        let mut vectors = vec![Vec::new(); texts.len()];
        let rank = if self.is_pooled { 2 } else { 3 };
        self.encoder.run(&windows, &[self.output.as_str()], rank, call, |number, rows| {
            if let (Some(place), Some(window), Some(row)) = (vectors.get_mut(number), windows.get(number), rows.first())
            {
                *place = normalised(if self.is_pooled { row.values.to_vec() } else { self.pool(*row, window.len()) });
            }
            Ok(())
        })?;
        Ok(vectors)
    }

    fn pool(&self, states: Row<'_>, length: usize) -> Vec<f32> {
        let width = states.shape.last().copied().unwrap_or_default();
        let tokens = || (0..length).filter_map(|index| states.at(index));
        let weighted = |weight: &dyn Fn(usize) -> f32, divisor: f32| {
            let mut sum = vec![0.0; width];
            for (index, state) in tokens().enumerate() {
                for (sum, value) in sum.iter_mut().zip(state) {
                    *sum += value * weight(index) / divisor;
                }
            }
            sum
        };
        let length = length as f32;
        let mut vector = Vec::with_capacity(width * self.pooling.len());
        for pooling in &self.pooling {
            vector.extend(match pooling {
                Pooling::Cls => tokens().next().unwrap_or_default().to_vec(),
                Pooling::LastToken => tokens().next_back().unwrap_or_default().to_vec(),
                Pooling::Mean => weighted(&|_| 1.0, length),
                Pooling::MeanSqrtLength => weighted(&|_| 1.0, length.sqrt()),
                Pooling::WeightedMean => weighted(&|index| (index + 1) as f32, length * (length + 1.0) / 2.0),
                Pooling::Max => {
                    let mut largest = vec![f32::NEG_INFINITY; width];
                    for state in tokens() {
                        for (largest, value) in largest.iter_mut().zip(state) {
                            *largest = largest.max(*value);
                        }
                    }
                    largest
                }
            });
        }
        vector
    }
}

/// Reads `config.json` of the pooling module. Repositories for transformers.js leave it out: then BGE and Arctic take the first
/// token, and all others the mean.
fn pooling(files: &ModelFiles, folder: &str) -> Result<Vec<Pooling>, ExpertError> {
    // The folder comes from a file, and names one beside it.
    let is_plain = folder.chars().all(|character| character.is_ascii_alphanumeric() || "_-.".contains(character));
    let name = format!("{folder}/config.json");
    if !is_plain || folder.starts_with('.') {
        return Err(files.bad("modules.json", format!("its pooling is at `{folder}`")));
    }
    let Some(settings) = files.json_if_there::<Value>(&name)? else {
        let id = files.id.to_lowercase();
        let takes_first = ["bge-", "arctic-embed", "mxbai-embed"].iter().any(|mark| id.contains(mark));
        return Ok(vec![if takes_first { Pooling::Cls } else { Pooling::Mean }]);
    };
    let modes = [
        ("pooling_mode_cls_token", Pooling::Cls),
        ("pooling_mode_max_tokens", Pooling::Max),
        ("pooling_mode_mean_tokens", Pooling::Mean),
        ("pooling_mode_mean_sqrt_len_tokens", Pooling::MeanSqrtLength),
        ("pooling_mode_weightedmean_tokens", Pooling::WeightedMean),
        ("pooling_mode_lasttoken", Pooling::LastToken),
    ];
    let is_set = |mode: &str| settings.get(mode).and_then(Value::as_bool) == Some(true);
    let found: Vec<Pooling> = modes.into_iter().filter(|(mode, _)| is_set(mode)).map(|(_, pooling)| pooling).collect();
    if found.is_empty() {
        return Err(files.bad(&name, "it names no way of pooling"));
    }
    Ok(found)
}

/// What the model was trained to see before a text: the default prompt of `config_sentence_transformers.json`, or E5's.
fn prompt(files: &ModelFiles) -> Result<String, ExpertError> {
    let settings: Value = files.json_if_there("config_sentence_transformers.json")?.unwrap_or_default();
    let name = settings.get("default_prompt_name").and_then(Value::as_str);
    if let Some(name) = name {
        let prompt = settings.get("prompts").and_then(|prompts| prompts.get(name)?.as_str());
        return prompt.map(str::to_owned).ok_or_else(|| {
            files.bad("config_sentence_transformers.json", format!("it has no prompt called `{name}`"))
        });
    }
    let id = files.id.to_lowercase();
    let is_e5 = ["e5-small", "e5-base", "e5-large"].iter().any(|mark| id.contains(mark)) && !id.contains("instruct");
    Ok(if is_e5 { "query: ".to_owned() } else { String::new() })
}

fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-12);
    for value in &mut vector {
        *value /= length;
    }
    vector
}

impl LocalModel for Embedder {
    fn memory(&self) -> u64 {
        self.encoder.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        match input {
            Input::Texts(texts) if self.compares => {
                if texts.len() < 2 {
                    return Err(wrong_input("sentence similarity", "a text and others to compare it with"));
                }
                for text in texts {
                    require_text(text, "text")?;
                }
                let vectors = self.vectors(texts, call)?;
                let Some((first, others)) = vectors.split_first() else { return Ok(Output::Labels(Vec::new())) };
                let cosine = |other: &[f32]| first.iter().zip(other).map(|(one, other)| one * other).sum();
                let mut scored: Vec<Scored> = texts
                    .iter()
                    .skip(1)
                    .zip(others)
                    .map(|(text, other)| Scored { label: text.clone(), score: cosine(other) })
                    .collect();
                scored.sort_by(|one, other| other.score.total_cmp(&one.score));
                Ok(Output::Labels(scored))
            }
            Input::Texts(texts) => self.vectors(texts, call).map(Output::Vectors),
            Input::Text(text) if !self.compares => {
                require_text(text, "text")?;
                self.vectors(std::slice::from_ref(text), call).map(Output::Vectors)
            }
            _ if self.compares => Err(wrong_input("sentence similarity", "a text and others to compare it with")),
            _ => Err(wrong_input("feature extraction", "one or more texts")),
        }
    }
}
