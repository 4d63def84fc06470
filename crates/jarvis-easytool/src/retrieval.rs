//! The tools of a question: which descriptions fit a text best.
//!
//! A [`Retriever`] ranks whole tools, by words or by vectors of any [`Embedder`]; what is asked is a subtask's text. Vectors
//! are made once: they are kept on disk by text and model.

mod cache;

#[cfg(test)]
mod tests;

pub use cache::{CacheError, VectorCache};

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jarvis_catalogue::{Bm25Index, Hit, VectorError, VectorIndex};
use jarvis_chat::{EmbedError, Embedder};
use jarvis_net::causes::in_one;
use jarvis_prompt::literal::Literal;
use jarvis_store::files::FileError;
use sha2::{Digest, Sha256};

use crate::input::{InputError, read_json};

pub const TOP_K: usize = 5;

/// Texts that are embedded before what came is kept.
const GROUP: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    pub id: i64,
    /// How well it fits; more is better. A cosine in −1..1 for vectors, a BM25 score above 0 for words.
    pub score: f64,
}

pub struct Retriever {
    ids: Vec<i64>,
    by: By,
    notes: Vec<String>,
}

enum By {
    Words(Arc<Bm25Index>),
    Vectors { embedder: Arc<dyn Embedder>, index: Arc<VectorIndex>, queries: Arc<Mutex<VectorCache>> },
}

impl Retriever {
    /// Tools by their words: no model and no network. Tools that share no word with a text are not found for it.
    pub async fn by_words(tools: Vec<(i64, String)>) -> Result<Retriever, RetrievalError> {
        off_thread(move || {
            let (ids, texts): (Vec<i64>, Vec<String>) = tools.into_iter().unzip();
            let by = By::Words(Arc::new(Bm25Index::build(&texts)));
            Ok(Retriever { ids, by, notes: Vec::new() })
        })
        .await
    }

    /// Tools by vectors of their descriptions, made now, or read from `cache`, a folder, where that has them. What had to be
    /// made is kept there, also when not all could be made.
    ///
    /// # Errors
    /// When vectors cannot be made, do not fit together, or the folder's file is of another model.
    pub async fn by_vectors(
        tools: Vec<(i64, String)>,
        embedder: Arc<dyn Embedder>,
        cache: Option<PathBuf>,
    ) -> Result<Retriever, RetrievalError> {
        let mut notes = Vec::new();
        let mut kept = open(cache.as_deref(), "tools", embedder.as_ref(), &mut notes).await?;
        kept.set_catalogue(&catalogue_hash(&tools));
        let (ids, texts): (Vec<i64>, Vec<String>) = tools.into_iter().unzip();
        let kept = Arc::new(Mutex::new(kept));
        let made = make(&kept, &texts, embedder.as_ref()).await;
        if let Err(error) = save(Arc::clone(&kept)).await {
            notes.push(format!("vectors are not kept: {}", in_one(&error)));
        }
        made?;
        let build = move || {
            let kept = lock(&kept);
            let vectors = texts.iter().map(|text| kept.vector(text).expect("it was made above"));
            Ok(VectorIndex::build(vectors)?)
        };
        let index = off_thread(build).await?;
        Retriever::with_index(ids, index, embedder, cache, notes).await
    }

    /// Tools by vectors that were stored with their numbers, in the stored order. Numbers that are not among `tools` are left
    /// out, with a note. The embedder, which makes the vectors of what is asked, must be the one that made them.
    ///
    /// # Errors
    /// When the vectors do not fit together or to the embedder, or `cache` is of another model.
    pub async fn by_stored(
        tools: &[(i64, String)],
        stored: StoredVectors,
        embedder: Arc<dyn Embedder>,
        cache: Option<PathBuf>,
    ) -> Result<Retriever, RetrievalError> {
        let known: HashSet<i64> = tools.iter().map(|(id, _)| *id).collect();
        let (ids, index, notes) = off_thread(move || {
            let mut notes = Vec::new();
            let rows = stored.ids.into_iter().zip(stored.vectors);
            let (rows, strange): (Vec<_>, Vec<_>) = rows.partition(|(id, _)| known.contains(id));
            if !strange.is_empty() {
                let named: Vec<String> = strange.iter().take(5).map(|(id, _)| id.to_string()).collect();
                let more = if strange.len() > 5 { ", …" } else { "" };
                notes.push(format!(
                    "stored vectors left out, since the catalogue has no such tools: {} ({}{more})",
                    strange.len(),
                    named.join(", ")
                ));
            }
            let (ids, vectors): (Vec<i64>, Vec<Vec<f64>>) = rows.into_iter().unzip();
            let without = known.len().saturating_sub(ids.iter().collect::<HashSet<_>>().len());
            if without > 0 {
                notes.push(format!("tools without a stored vector, which cannot be found: {without}"));
            }
            let index = VectorIndex::build(&vectors)?;
            Ok((ids, index, notes))
        })
        .await?;
        Retriever::with_index(ids, index, embedder, cache, notes).await
    }

    async fn with_index(
        ids: Vec<i64>,
        index: VectorIndex,
        embedder: Arc<dyn Embedder>,
        cache: Option<PathBuf>,
        mut notes: Vec<String>,
    ) -> Result<Retriever, RetrievalError> {
        if let Some(expected) = embedder.dimension()
            && !index.is_empty()
            && expected != index.dimension()
        {
            return Err(RetrievalError::Dimension { found: index.dimension(), expected, embedder: embedder.id() });
        }
        let queries = open(cache.as_deref(), "queries", embedder.as_ref(), &mut notes).await?;
        let (index, queries) = (Arc::new(index), Arc::new(Mutex::new(queries)));
        Ok(Retriever { ids, by: By::Vectors { embedder, index, queries }, notes })
    }

    /// What the tools are compared by: `bm25`, or the embedder's id.
    pub fn id(&self) -> String {
        match &self.by {
            By::Words(_) => "bm25".to_owned(),
            By::Vectors { embedder, .. } => embedder.id(),
        }
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The `k` tools that fit the text best, best first; equal scores keep the catalogue's order.
    ///
    /// # Errors
    /// When the text's vector cannot be made or does not fit the tools'.
    pub async fn retrieve(&self, text: &str, k: usize) -> Result<Vec<Found>, RetrievalError> {
        let hits: Vec<Hit> = match &self.by {
            By::Words(index) => {
                let (index, text) = (Arc::clone(index), text.to_owned());
                off_thread(move || Ok(index.top_k(&text, k))).await?
            }
            By::Vectors { index, .. } if index.is_empty() => Vec::new(),
            By::Vectors { embedder, index, queries } => {
                make(queries, std::slice::from_ref(&text.to_owned()), embedder.as_ref()).await?;
                let vector = lock(queries).vector(text).expect("it was made above").to_vec();
                let index = Arc::clone(index);
                off_thread(move || Ok(index.top_k(&vector, k)?)).await?
            }
        };
        Ok(hits.into_iter().filter_map(|hit| Some(Found { id: *self.ids.get(hit.row)?, score: hit.score })).collect())
    }

    /// Makes the vectors of many texts in few calls, for later questions. Nothing is made twice.
    ///
    /// # Errors
    /// When a vector cannot be made; those before it are remembered.
    pub async fn prepare(&self, texts: &[String]) -> Result<(), RetrievalError> {
        match &self.by {
            By::Words(_) => Ok(()),
            By::Vectors { embedder, queries, .. } => make(queries, texts, embedder.as_ref()).await,
        }
    }

    /// Keeps the vectors of what was asked, where a folder was given. They are also kept from time to time without it.
    pub async fn keep(&self) -> Result<(), RetrievalError> {
        match &self.by {
            By::Vectors { queries, .. } => save(Arc::clone(queries)).await,
            By::Words(_) => Ok(()),
        }
    }
}

impl fmt::Debug for Retriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retriever").field("id", &self.id()).field("tools", &self.ids.len()).finish_non_exhaustive()
    }
}

/// Makes the vectors of texts that have none yet, each once. What comes is kept on disk from time to time.
async fn make(kept: &Arc<Mutex<VectorCache>>, texts: &[String], embedder: &dyn Embedder) -> Result<(), RetrievalError> {
    let mut seen = HashSet::new();
    let new: Vec<String> = {
        let kept = lock(kept);
        texts.iter().filter(|text| !kept.holds(text) && seen.insert(text.as_str())).cloned().collect()
    };
    for texts in new.chunks(GROUP) {
        let vectors = embedder.embed(texts).await?;
        let due = {
            let mut kept = lock(kept);
            kept.add(texts, &vectors)?;
            kept.is_due()
        };
        if due && let Err(error) = save(Arc::clone(kept)).await {
            tracing::warn!(%error, "vectors of queries are not kept");
        }
    }
    Ok(())
}

/// A number for a catalogue: the SHA-256 of its numbers and texts, in hexadecimal.
pub fn catalogue_hash(tools: &[(i64, String)]) -> String {
    let mut hash = Sha256::new();
    for (id, text) in tools {
        hash.update(id.to_le_bytes());
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    format!("{:x}", hash.finalize())
}

fn text_hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// Opens the file of an embedder for one kind of texts; without a folder, vectors are only in memory. A damaged file is made
/// anew, with a note.
async fn open(
    folder: Option<&Path>,
    kind: &str,
    embedder: &dyn Embedder,
    notes: &mut Vec<String>,
) -> Result<VectorCache, RetrievalError> {
    let Some(folder) = folder else { return Ok(VectorCache::unkept(&embedder.id())) };
    let (folder, kind, id, dimension) = (folder.to_owned(), kind.to_owned(), embedder.id(), embedder.dimension());
    let (kept, note) = off_thread(move || match VectorCache::open(&folder, &kind, &id, dimension) {
        Ok(kept) => Ok((kept, None)),
        Err(error @ CacheError::Damaged { .. }) => {
            let note = format!("{}; its vectors are made anew", in_one(&error));
            Ok((VectorCache::empty(&folder, &kind, &id), Some(note)))
        }
        Err(error) => Err(error.into()),
    })
    .await?;
    notes.extend(note);
    Ok(kept)
}

async fn save(kept: Arc<Mutex<VectorCache>>) -> Result<(), RetrievalError> {
    off_thread(move || Ok(lock(&kept).save()?)).await
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RetrievalError> + Send + 'static,
) -> Result<T, RetrievalError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| RetrievalError::Interrupted)?
}

#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Vectors(#[from] VectorError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error(transparent)]
    Write(#[from] FileError),
    #[error("the tools' vectors have {found} components, and those of `{embedder}` have {expected}")]
    Dimension { found: usize, expected: usize, embedder: String },
    #[error("the search was interrupted")]
    Interrupted,
}

impl RetrievalError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            RetrievalError::Embed(error) => error.hint(),
            RetrievalError::Cache(CacheError::Other { .. } | CacheError::Lengths { .. }) => {
                Some("use another folder, or remove the file; its vectors can be made again")
            }
            RetrievalError::Dimension { .. } | RetrievalError::Vectors(VectorError::QueryDimension { .. }) => {
                Some("use the embedder that made the tools' vectors")
            }
            _ => None,
        }
    }
}

/// Vectors as easytool's files of embeddings have them: `[[ids], [[numbers], …]]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredVectors {
    pub ids: Vec<i64>,
    pub vectors: Vec<Vec<f64>>,
}

/// Reads a JSON file of vectors. An id may be a text of digits.
///
/// # Errors
/// When the file cannot be read, is of another shape, or its lists are not equally long.
pub fn read_stored(path: &Path) -> Result<StoredVectors, InputError> {
    let (ids, vectors): (Vec<Literal>, Vec<Vec<f64>>) = read_json(path)?;
    if ids.len() != vectors.len() {
        return Err(InputError::shape(path, format!("it holds {} ids and {} vectors", ids.len(), vectors.len())));
    }
    let number = |id: Literal| id.id().ok_or_else(|| InputError::shape(path, format!("{id} is not the id of a tool")));
    Ok(StoredVectors { ids: ids.into_iter().map(number).collect::<Result<_, _>>()?, vectors })
}
