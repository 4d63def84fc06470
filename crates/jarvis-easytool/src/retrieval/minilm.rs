//! Sentence vectors of a BERT model in this process: all-MiniLM-L6-v2 and similar ones, from a directory in the layout of
//! Hugging Face and sentence-transformers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use jarvis_chat::{EmbedError, Embedder};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokenizers::{Encoding, Tokenizer, TruncationParams};

/// Tokens of a text that are read unless the directory says otherwise.
const MAX_TOKENS: usize = 256;

const BATCH: usize = 32;

/// A loaded model. It runs on the processor, on threads that may block.
#[derive(Clone)]
pub struct MiniLm {
    shared: Arc<Shared>,
}

struct Shared {
    model: BertModel,
    tokenizer: Tokenizer,
    lower: bool,
    pooling: Pooling,
    normalize: bool,
    dimension: usize,
    padding: u32,
    id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    Mean,
    First,
}

/// `1_Pooling/config.json`.
#[derive(Deserialize)]
struct PoolingConfig {
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_cls_token: bool,
}

/// `sentence_bert_config.json`.
#[derive(Deserialize, Default)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

/// A row of `modules.json`.
#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
}

impl MiniLm {
    /// Loads `config.json`, `tokenizer.json` and `model.safetensors`. `sentence_bert_config.json`, `modules.json` and
    /// `1_Pooling/config.json` are followed where they are; without them vectors are the mean over the tokens, of length 1.
    /// Takes a tenth of a second or more: call it where blocking is allowed.
    ///
    /// # Errors
    /// [`EmbedError::Model`] when the directory holds no BERT model in safetensors, or one whose vectors are made otherwise.
    pub fn open(dir: &Path) -> Result<MiniLm, EmbedError> {
        let files = Files { dir };
        let bad = |reason: String| files.bad(&reason);
        let bytes = files.read("config.json")?;
        let kind: serde_json::Value = files.json("config.json", &bytes)?;
        if let Some(kind) = kind.get("model_type").and_then(serde_json::Value::as_str).filter(|kind| *kind != "bert") {
            return Err(bad(format!("its type is `{kind}`, not `bert`")));
        }
        let config: Config = files.json("config.json", &bytes)?;
        let sentences: SentenceConfig = files.maybe("sentence_bert_config.json")?.unwrap_or_default();
        let modules: Option<Vec<Module>> = files.maybe("modules.json")?;
        let strange = modules.iter().flatten().map(|module| module.kind.rsplit('.').next().unwrap_or_default());
        if let Some(other) = strange.into_iter().find(|kind| !matches!(*kind, "Transformer" | "Pooling" | "Normalize"))
        {
            return Err(bad(format!("modules.json: its vectors also go through `{other}`, which is not known")));
        }
        let normalize = modules.is_none_or(|modules| modules.iter().any(|module| module.kind.ends_with(".Normalize")));
        let pooling = match files.maybe::<PoolingConfig>("1_Pooling/config.json")? {
            None => Pooling::Mean,
            Some(PoolingConfig { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }) => Pooling::Mean,
            Some(PoolingConfig { pooling_mode_mean_tokens: false, pooling_mode_cls_token: true }) => Pooling::First,
            Some(_) => return Err(bad("1_Pooling/config.json: neither the mean nor the first token alone".to_owned())),
        };

        let tokens = files.read("tokenizer.json")?;
        let mut tokenizer = Tokenizer::from_bytes(&tokens).map_err(|error| bad(format!("tokenizer.json: {error}")))?;
        let most = sentences.max_seq_length.unwrap_or(MAX_TOKENS).min(config.max_position_embeddings);
        let cut = TruncationParams { max_length: most, ..TruncationParams::default() };
        // The file may hold paddings and cuts of its own, which belong to another use.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(Some(cut)).map_err(|error| bad(format!("tokenizer.json: {error}")))?;

        let weights = files.read("model.safetensors")?;
        let mut hash = Sha256::new();
        hash.update(&bytes);
        hash.update(&tokens);
        hash.update((weights.len() as u64).to_le_bytes());
        // Hashing all of it takes longer than loading it, and models that differ do so nearly everywhere.
        for block in weights.chunks(4096).step_by(64) {
            hash.update(block);
        }
        let hash = format!("{:x}", hash.finalize());
        let name = dir.file_name().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned());
        let settings = format!("{most} {pooling:?} {normalize} {}", sentences.do_lower_case);
        let id = format!("local:{name}:{} ({settings})", hash.get(..16).unwrap_or_default());
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
            .map_err(|error| bad(format!("model.safetensors: {error}")))?;
        let weights = if weights.contains_tensor("bert.embeddings.word_embeddings.weight") {
            weights.pp("bert")
        } else {
            weights
        };
        let model = BertModel::load(weights, &config).map_err(|error| bad(format!("model.safetensors: {error}")))?;
        let shared = Shared {
            model,
            tokenizer,
            lower: sentences.do_lower_case,
            pooling,
            normalize,
            dimension: config.hidden_size,
            padding: u32::try_from(config.pad_token_id)
                .map_err(|_| bad("config.json: `pad_token_id` is no token".to_owned()))?,
            id,
        };
        Ok(MiniLm { shared: Arc::new(shared) })
    }
}

#[async_trait]
impl Embedder for MiniLm {
    fn id(&self) -> String {
        self.shared.id.clone()
    }

    fn dimension(&self) -> Option<usize> {
        Some(self.shared.dimension)
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let (shared, texts) = (Arc::clone(&self.shared), texts.to_vec());
        let embedded = tokio::task::spawn_blocking(move || shared.embed(&texts)).await;
        embedded.map_err(|_| EmbedError::Model("the local model was interrupted".to_owned()))?
    }
}

impl std::fmt::Debug for MiniLm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MiniLm").field("id", &self.shared.id).finish_non_exhaustive()
    }
}

impl Shared {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let encode = |text: &String| {
            let text = if self.lower { text.to_lowercase() } else { text.clone() };
            self.tokenizer.encode(text, true).map_err(|error| EmbedError::Model(format!("the local model: {error}")))
        };
        let encodings: Vec<Encoding> = texts.iter().map(encode).collect::<Result<_, _>>()?;
        // Texts of like length together, so that little is padding.
        let mut order: Vec<(usize, &Encoding)> = encodings.iter().enumerate().collect();
        order.sort_by_key(|(_, encoding)| encoding.len());
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in order.chunks(BATCH) {
            let rows: Vec<&Encoding> = batch.iter().map(|(_, encoding)| *encoding).collect();
            let found = self.forward(&rows).map_err(|error| EmbedError::Model(format!("the local model: {error}")))?;
            for ((at, _), vector) in batch.iter().zip(found) {
                if !vector.iter().all(|value| value.is_finite()) {
                    return Err(EmbedError::Model("the local model gave a number that is not finite".to_owned()));
                }
                if let Some(place) = vectors.get_mut(*at) {
                    *place = vector;
                }
            }
        }
        Ok(vectors)
    }

    fn forward(&self, rows: &[&Encoding]) -> candle_core::Result<Vec<Vec<f32>>> {
        let longest = rows.iter().map(|row| row.len()).max().unwrap_or_default().max(1);
        let filled = |values: &[u32], with: u32| -> Vec<u32> {
            values.iter().copied().chain(std::iter::repeat(with)).take(longest).collect()
        };
        let tensor = |of: &dyn Fn(&Encoding) -> Vec<u32>| {
            let values: Vec<u32> = rows.iter().flat_map(|row| of(row)).collect();
            Tensor::from_vec(values, (rows.len(), longest), &Device::Cpu)
        };
        let ids = tensor(&|row| filled(row.get_ids(), self.padding))?;
        let types = tensor(&|row| filled(row.get_type_ids(), 0))?;
        let mask = tensor(&|row| filled(row.get_attention_mask(), 0))?;
        let states = self.model.forward(&ids, &types, Some(&mask))?;
        let pooled = match self.pooling {
            Pooling::First => states.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let mask = mask.to_dtype(DType::F32)?;
                let count = mask.sum_keepdim(1)?.maximum(1e-9)?;
                states.broadcast_mul(&mask.unsqueeze(2)?)?.sum(1)?.broadcast_div(&count)?
            }
        };
        if !self.normalize {
            return pooled.to_vec2();
        }
        let length = pooled.sqr()?.sum_keepdim(1)?.sqrt()?.maximum(1e-12)?;
        pooled.broadcast_div(&length)?.to_vec2()
    }
}

struct Files<'a> {
    dir: &'a Path,
}

impl Files<'_> {
    fn bad(&self, reason: &str) -> EmbedError {
        EmbedError::Model(format!("the model in {} cannot be used: {reason}", self.dir.display()))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, EmbedError> {
        fs::read(self.path(name)).map_err(|error| self.bad(&format!("{name}: {error}")))
    }

    fn json<T: DeserializeOwned>(&self, name: &str, bytes: &[u8]) -> Result<T, EmbedError> {
        serde_json::from_slice(bytes).map_err(|error| self.bad(&format!("{name}: {error}")))
    }

    fn maybe<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, EmbedError> {
        if !self.path(name).is_file() {
            return Ok(None);
        }
        self.json(name, &self.read(name)?).map(Some)
    }
}
