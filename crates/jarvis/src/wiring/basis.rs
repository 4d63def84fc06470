//! What the offline planner plans by: what it is fitted to (compiled in, or a file that `planning.weights` names), and the sentence model
//! that `planning.embedder` names.

use std::sync::{Arc, Mutex, PoisonError};

use jarvis_chat::Embedder;
use jarvis_easytool::retrieval::VectorCache;
use jarvis_planner::{Basis, Encoder, Fitted, Memo, Texts};
use tokio::runtime::Handle;

use super::{Folders, encoders};
use crate::config::Config;
use crate::failure::Failure;

/// What the configuration says.
pub(crate) async fn basis(config: &Config) -> Result<Basis, Failure> {
    let fitted = fitted(config)?;
    let Some(name) = config.planning.embedder.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok(fitted.into());
    };
    let embedder = encoders::by_name(name, None, config, INSTEAD).await?;
    let folder = Folders::of(config)?.vectors;
    let id = embedder.id();
    let open = move || {
        // A file that is damaged or of another model is made anew.
        VectorCache::open(&folder, KIND, &id, None).unwrap_or_else(|_| VectorCache::empty(&folder, KIND, &id))
    };
    let tools = tokio::task::spawn_blocking(open).await.map_err(Failure::work)?;
    let sentences = Sentences { embedder, runtime: Handle::current(), tools: Mutex::new(tools) };
    Ok(Basis { fitted, encoder: Some(Arc::new(Memo::new(Arc::new(sentences), MOST))) })
}

/// What it is fitted to.
fn fitted(config: &Config) -> Result<Arc<Fitted>, Failure> {
    let Some(path) = &config.planning.weights else { return Ok(Arc::clone(Fitted::built_in())) };
    let fitted = Fitted::read(path).map_err(|error| {
        let hint = error.hint();
        Failure::usage(error).hint(hint)
    })?;
    Ok(Arc::new(fitted))
}

/// What tells it apart from what is compiled in; `None` for that.
pub(crate) fn differs(basis: &Basis) -> Option<String> {
    let weights = (*basis.fitted != **Fitted::built_in()).then(|| format!("weights {}", basis.fitted.fingerprint()));
    let encoder = basis.encoder.as_ref().map(|encoder| format!("sentences by {}", encoder.id()));
    let both: Vec<String> = weights.into_iter().chain(encoder).collect();
    (!both.is_empty()).then(|| both.join(" and "))
}

/// What may be done where the endpoint of `planning.embedder` cannot be asked.
const INSTEAD: &str = "name a server with --base-url URL, or a model on this machine with --planner-embedder local/NAME (`jarvis models`)";
/// The kind of text in the file of vectors.
const KIND: &str = "planner";
/// So many vectors of requests are kept in memory, about 12 MB.
const MOST: usize = 8_192;

/// An embeddings model as the planner asks it. Vectors of what tools say are kept on disk; those of requests in memory alone.
struct Sentences {
    embedder: Arc<dyn Embedder>,
    runtime: Handle,
    tools: Mutex<VectorCache>,
}

impl Sentences {
    fn read(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        // The planner asks on threads where it may block.
        self.runtime.block_on(self.embedder.embed(texts)).map_err(|error| error.to_string())
    }
}

impl Encoder for Sentences {
    fn id(&self) -> String {
        self.embedder.id()
    }

    fn encode(&self, texts: &[String], of: Texts) -> Result<Vec<Vec<f32>>, String> {
        match of {
            Texts::Tools => {
                let mut cache = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
                let missing: Vec<String> = texts.iter().filter(|text| !cache.holds(text)).cloned().collect();
                if !missing.is_empty() {
                    let read = self.read(&missing)?;
                    cache.add(&missing, &read).map_err(|error| error.to_string())?;
                    // Without the file they are read anew the next time.
                    drop(cache.save());
                }
                Ok(texts.iter().filter_map(|text| Some(cache.vector(text)?.to_vec())).collect())
            }
            Texts::Requests => self.read(texts),
        }
    }
}
