//! The sentence model of the offline planner: any embeddings model, asked on threads where the planner may block.

use std::sync::{Arc, Mutex, PoisonError};

use jarvis_chat::Embedder;
use jarvis_easytool::retrieval::VectorCache;
use jarvis_planner::{Encoder, Memo, Texts};
use tokio::runtime::Handle;

use super::{Folders, encoders};
use crate::config::Config;
use crate::failure::Failure;

/// The model of a name, see [`encoders::by_name`].
pub(super) async fn encoder(name: &str, config: &Config) -> Result<Arc<dyn Encoder>, Failure> {
    let embedder = encoders::by_name(name, None, config, INSTEAD).await?;
    let folder = Folders::of(config)?.vectors;
    let id = embedder.id();
    let open = move || {
        // A file that is damaged or of another model is made anew.
        VectorCache::open(&folder, KIND, &id, None).unwrap_or_else(|_| VectorCache::empty(&folder, KIND, &id))
    };
    let tools = tokio::task::spawn_blocking(open).await.map_err(Failure::work)?;
    let sentences = Sentences { embedder, runtime: Handle::current(), tools: Mutex::new(tools) };
    Ok(Arc::new(Memo::new(Arc::new(sentences), MOST)))
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
