//! Encoders of texts on this machine, for the benchmarks: a folder, or a model that `jarvis models` knows.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use jarvis_chat::{EmbedError, Embedder, OpenAiEmbeddings};
use jarvis_experts::{Call, Input, LocalModels, ModelFiles, Output};
use jarvis_models::{Engine, Store};
use sha2::{Digest as _, Sha256};

use super::local::{LocalRuntime, PREFIX, hub_environment};
use super::{Folders, local};
use crate::config::Config;
use crate::failure::Failure;

const TASK: &str = "feature-extraction";

/// Files that the vectors depend on beside the weights.
const SETTINGS: [&str; 7] = [
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
];
/// Of the weights so many bytes are hashed in every [`STRIDE`]: models that differ do so nearly everywhere.
const BLOCK: u64 = 4096;
const STRIDE: u64 = 64 * BLOCK;

/// The files of a model that is named as `local/NAME`, or by its folder. A folder of that name comes first.
///
/// # Errors
/// When no model of the name is on this machine, or it is a language model.
pub(crate) fn encoder_files(name: &str, config: &Config) -> Result<ModelFiles, Failure> {
    let folder = Path::new(name);
    let Some(known) = name.strip_prefix(PREFIX).filter(|_| !folder.is_dir()) else {
        let id = folder.file_name().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned());
        return Ok(ModelFiles::new(id, folder));
    };
    match Store::new(&hub_environment(config)?, &Folders::of(config)?.data).resolve(known) {
        Some(local) if local.engine == Engine::Gguf => {
            Err(Failure::usage(format!("`{known}` is a language model, and gives no vectors of texts"))
                .hint("`jarvis models ls` says what each model is for"))
        }
        Some(local) => Ok(local::files_of(&local)),
        None => Err(Failure::usage(format!("the model `{known}` is not on this machine"))
            .hint(format!(
                "`jarvis models ls` lists those that are; `jarvis models pull {known}` gets one of the catalogue, and `jarvis models \
                 import DIR --name {known}` takes one from a folder"
            ))),
    }
}

/// Sentence vectors of a model: `local/NAME` or `local:DIR` on this machine, else one at an OpenAI-compatible endpoint, at `url` unless it
/// is that of the chat model. `instead` says what else may be done where that endpoint cannot be asked.
///
/// # Errors
/// When it cannot be loaded, or no endpoint is known.
pub(crate) async fn by_name(
    name: &str,
    url: Option<&str>,
    config: &Config,
    instead: &str,
) -> Result<Arc<dyn Embedder>, Failure> {
    match name.strip_prefix("local:").or_else(|| name.starts_with(PREFIX).then_some(name)) {
        Some(model) => on_this_machine(model, config).await,
        None => {
            let config = super::embeddings_config(config, name, url)
                .map_err(|failure| failure.hint(format!("set it, or {instead}")))?;
            Ok(Arc::new(OpenAiEmbeddings::new(config).map_err(Failure::usage)?))
        }
    }
}

async fn on_this_machine(name: &str, config: &Config) -> Result<Arc<dyn Embedder>, Failure> {
    if cfg!(not(feature = "experts")) {
        return Err(Failure::usage("this jarvis was built without local embedding models")
            .hint("build it with `cargo build --release --features experts,llm`"));
    }
    let files = encoder_files(name, config)?;
    let runtime = LocalRuntime::open(config, &Folders::of(config)?)?;
    let opened = LocalEmbedder::open(runtime.models, files).await;
    let hint = "name a directory with config.json, tokenizer.json and model.safetensors or onnx/model.onnx";
    Ok(Arc::new(opened.map_err(|error| Failure::usage(error).hint(hint))?))
}

struct LocalEmbedder {
    models: LocalModels,
    files: ModelFiles,
    id: String,
}

impl LocalEmbedder {
    async fn open(models: LocalModels, files: ModelFiles) -> Result<LocalEmbedder, EmbedError> {
        let bad = |reason: String| {
            EmbedError::Model(format!("the model in {} cannot be used: {reason}", files.folder.display()))
        };
        models.load(&files, TASK, &Call::default()).await.map_err(|error| bad(error.to_string()))?;
        let of_files = files.clone();
        let hash = tokio::task::spawn_blocking(move || fingerprint(&of_files)).await;
        let hash = hash.map_err(|error| bad(error.to_string()))?.map_err(|error| bad(error.to_string()))?;
        let id = format!("local:{}:{}", files.id, hash.get(..16).unwrap_or_default());
        Ok(LocalEmbedder { models, files, id })
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn dimension(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let made = self.models.run(&self.files, TASK, Input::Texts(texts.to_vec()), Call::default()).await;
        match made.map_err(|error| EmbedError::Model(error.to_string()))? {
            Output::Vectors(vectors) if vectors.iter().flatten().all(|value| value.is_finite()) => Ok(vectors),
            Output::Vectors(_) => Err(EmbedError::Model("the local model gave a number that is not finite".to_owned())),
            _ => Err(EmbedError::Model("the local model gave no vectors".to_owned())),
        }
    }
}

/// A hash of what the vectors depend on.
fn fingerprint(files: &ModelFiles) -> io::Result<String> {
    let mut hash = Sha256::new();
    for name in SETTINGS {
        let mut text = Vec::new();
        if files.has(name) {
            File::open(files.folder.join(name))?.read_to_end(&mut text)?;
        }
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    let named = files.weights.first().map(|name| files.folder.join(name));
    let weights = named.or_else(|| files.find_onnx("model")).unwrap_or_else(|| files.folder.join("model.safetensors"));
    // A graph may keep its weights in a file beside it.
    let beside = ["_data", ".data"].map(|end| {
        let mut name = weights.clone().into_os_string();
        name.push(end);
        std::path::PathBuf::from(name)
    });
    for path in std::iter::once(weights).chain(beside.into_iter().filter(|path| path.is_file())) {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        hash.update(length.to_le_bytes());
        let mut at = 0;
        while at < length {
            let mut block = Vec::new();
            file.seek(SeekFrom::Start(at))?;
            file.by_ref().take(BLOCK).read_to_end(&mut block)?;
            hash.update(block);
            at += STRIDE;
        }
    }
    Ok(format!("{:x}", hash.finalize()))
}

#[cfg(test)]
#[cfg(all(feature = "experts", feature = "llm"))]
mod tests {
    use jarvis_easytool::retrieval::Retriever;
    use serde_json::Value;

    use super::*;

    fn tiny() -> ModelFiles {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jarvis-experts/tests/models");
        ModelFiles::new("tiny", models.join("text-sentences"))
    }

    fn models() -> LocalModels {
        LocalModels::new(jarvis_experts::LocalModelsConfig {
            max_memory: 1 << 30,
            keep_alive: std::time::Duration::from_secs(600),
            threads: 1,
            at_once: 1,
        })
        .unwrap()
    }

    fn texts() -> Vec<String> {
        let rows: Vec<Value> =
            serde_json::from_slice(&std::fs::read(tiny().folder.join("vectors.json")).unwrap()).unwrap();
        rows.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
    }

    #[tokio::test]
    async fn tools_are_found_with_it() {
        let model = LocalEmbedder::open(models(), tiny()).await.unwrap();
        assert_eq!(model.id(), LocalEmbedder::open(models(), tiny()).await.unwrap().id());
        assert_eq!(model.embed(&[]).await.unwrap(), Vec::<Vec<f32>>::new());
        let tools: Vec<(i64, String)> = (0..).zip(texts()).collect();
        let dir = tempfile::tempdir().unwrap();
        let retriever = Retriever::by_vectors(tools, Arc::new(model), Some(dir.path().to_owned())).await.unwrap();
        let found = retriever.retrieve("weather in a city?", 2).await.unwrap();
        assert_eq!((found[0].id, (found[0].score * 1e5).round()), (1, 1e5));
    }

    #[tokio::test]
    async fn ids_differ_where_files_do() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            std::fs::copy(tiny().folder.join(name), dir.path().join(name)).unwrap();
        }
        let copy = || LocalEmbedder::open(models(), ModelFiles::new("tiny", dir.path()));
        let first = copy().await.unwrap().id();
        assert_ne!(first, LocalEmbedder::open(models(), tiny()).await.unwrap().id());
        std::fs::write(dir.path().join("sentence_bert_config.json"), r#"{"max_seq_length": 4}"#).unwrap();
        assert_ne!(copy().await.unwrap().id(), first);
        std::fs::remove_file(dir.path().join("model.safetensors")).unwrap();
        let error = copy().await.err().unwrap().to_string();
        assert!(error.starts_with("the model in ") && error.contains("lacks the file"), "{error}");
    }
}
