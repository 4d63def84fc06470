//! A person's machine: a cache, a data folder, and a Hub that it asks.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use jarvis_models::{
    Catalogue, Environment, Hub, HubOptions, Local, ModelError, PullEvent, PullPlan, Reference, Store,
};
use jarvis_net::Secret;
use jarvis_net::retry::Retries;
use jarvis_testing::weights::{WeightsHub, WeightsRepo, content};

/// The catalogue of the tests.
pub(crate) const CATALOGUE: &str = r#"[
  {"name": "caption", "aliases": ["cap"], "about": "Describes pictures", "tasks": ["image-to-text"],
   "default_for": ["image-to-text"], "engine": "onnx", "repo": "org/caption", "parameters": 1.0,
   "weights": ["onnx/encoder_model_quantized.onnx", "onnx/decoder_model_merged_quantized.onnx"],
   "files": ["*.json", "generation_config.json"]},
  {"name": "chat", "about": "Chats", "tasks": ["text-generation"], "engine": "gguf", "repo": "org/chat-GGUF",
   "parameters": 1.0, "weights": ["chat-Q4_K_M.gguf"]}
]"#;

pub(crate) struct Machine {
    folder: tempfile::TempDir,
    pub(crate) hub: WeightsHub,
    pub(crate) environment: Environment,
    pub(crate) timeout: Duration,
}

impl Machine {
    pub(crate) fn new(repos: Vec<WeightsRepo>) -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let hub = WeightsHub::start(repos);
        let cache = folder.path().join("cache").display().to_string();
        let base = hub.base();
        let var = |name: &str| match name {
            "HF_HUB_CACHE" => Some(cache.clone()),
            "HF_ENDPOINT" => Some(base.clone()),
            _ => None,
        };
        let environment = Environment::read(var, None).unwrap();
        Machine { folder, hub, environment, timeout: Duration::from_secs(20) }
    }

    pub(crate) fn with_token(mut self, token: &str) -> Machine {
        self.environment.token = Secret::new(token);
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A path below the cache.
    pub(crate) fn cached(&self, path: &str) -> PathBuf {
        self.environment.cache.join(path)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn store(&self) -> Store {
        Store::with_catalogue(&self.environment, &self.data(), Catalogue::read(CATALOGUE).unwrap())
    }

    pub(crate) fn client(&self) -> Hub {
        let pause = Duration::from_millis(1);
        let retries = Retries { max: 5, first_pause: pause, longest_pause: pause };
        Hub::new(HubOptions { retries, timeout: self.timeout, ..HubOptions::new(&self.environment) })
    }

    pub(crate) async fn plan(&self, name: &str) -> Result<PullPlan, ModelError> {
        let store = self.store();
        store.plan(&self.client(), &Reference::parse(name, store.catalogue())?, None).await
    }

    pub(crate) async fn pull(&self, name: &str) -> Result<Local, ModelError> {
        self.pull_telling(name).await.0
    }

    /// The model, and what was told meanwhile.
    pub(crate) async fn pull_telling(&self, name: &str) -> (Result<Local, ModelError>, Vec<PullEvent>) {
        let told = Mutex::new(Vec::new());
        let pull = async {
            let plan = self.plan(name).await?;
            self.store().pull(&self.client(), &plan, &|event| told.lock().unwrap().push(event)).await
        };
        let result = pull.await;
        (result, told.into_inner().unwrap())
    }

    /// The files of the cache, by name.
    pub(crate) fn tree(&self) -> Vec<String> {
        fn walk(folder: &Path, base: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => walk(&entry.path(), base, found),
                    false => found.push(entry.path().strip_prefix(base).unwrap().display().to_string()),
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.environment.cache, &self.environment.cache, &mut found);
        found.retain(|path| !path.starts_with(".locks") && path != "CACHEDIR.TAG");
        found.sort();
        found
    }
}

/// Weights of some pieces.
pub(crate) fn weights(seed: u64) -> Vec<u8> {
    content(50_000, seed)
}

pub(crate) const ENCODER: &str = "onnx/encoder_model_quantized.onnx";
pub(crate) const DECODER: &str = "onnx/decoder_model_merged_quantized.onnx";

pub(crate) fn caption() -> WeightsRepo {
    WeightsRepo::new("org/caption")
        .file(
            "config.json",
            r#"{"model_type": "vision-encoder-decoder", "architectures": ["VisionEncoderDecoderModel"]}"#,
        )
        .file("preprocessor_config.json", "{}")
        .file("tokenizer.json", "{\"tokens\": []}")
        .file("README.md", "# words")
        .file("handler.py", "import os")
        .large(ENCODER, weights(1))
        .large(DECODER, weights(2))
        .large("onnx/encoder_model.onnx", weights(3))
        .large("pytorch_model.bin", weights(4))
}

pub(crate) fn chat() -> WeightsRepo {
    WeightsRepo::new("org/chat-GGUF")
        .large("chat-Q4_K_M.gguf", weights(5))
        .large("chat-Q8_0.gguf", weights(6))
        .file("README.md", "# words")
}
