//! From the files of a model to the model: which engine and which processing serve it.

use std::fmt;
use std::sync::Arc;

use crate::{Call, ExpertError, Input, ModelFiles, Output};

/// A loaded model. Its methods block: they are called on threads of their own, never on the runtime's.
pub trait LocalModel: Send + Sync + fmt::Debug {
    /// Bytes that it holds while it is loaded.
    fn memory(&self) -> u64;

    /// Does its work once. It looks at the call between windows and tokens, and stops when it should.
    ///
    /// # Errors
    /// When the input is not one it takes, the engine fails, or the call is over.
    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError>;

    /// Whether it can be used again: a process may have ended.
    fn is_alive(&self) -> bool {
        true
    }
}

/// A model whose work is done on the threads of the pool.
#[cfg(any(feature = "experts", feature = "llm"))]
#[derive(Debug)]
struct OnPool {
    model: Box<dyn LocalModel>,
    resources: Resources,
}

#[cfg(any(feature = "experts", feature = "llm"))]
impl LocalModel for OnPool {
    fn memory(&self) -> u64 {
        self.model.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        self.resources.pool_run(|| self.model.run(input, call))
    }
}

/// What all models of a process share.
#[derive(Clone)]
pub struct Resources {
    /// The one compute pool.
    #[cfg(feature = "experts")]
    pub pool: Arc<rten::ThreadPool>,
    #[cfg(not(feature = "experts"))]
    pub pool: Arc<rayon::ThreadPool>,
    /// Bytes that one model may take.
    pub max_memory: u64,
}

impl Resources {
    /// A pool of so many threads, at least one.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn new(threads: usize, max_memory: u64) -> Result<Resources, ExpertError> {
        #[cfg(feature = "experts")]
        let pool = rten::ThreadPool::with_num_threads(threads.max(1));
        #[cfg(not(feature = "experts"))]
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.max(1))
            .build()
            .map_err(|error| ExpertError::Failed { model: "-".to_owned(), reason: error.to_string() })?;
        Ok(Resources { pool: Arc::new(pool), max_memory })
    }

    /// Does work on the threads of the pool.
    #[cfg(any(feature = "experts", feature = "llm"))]
    pub(crate) fn pool_run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        #[cfg(feature = "experts")]
        return self.pool.run(work);
        #[cfg(not(feature = "experts"))]
        self.pool.install(work)
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resources").field("max_memory", &self.max_memory).finish_non_exhaustive()
    }
}

/// Loads a model for one task type. Its work is done on the pool, whichever thread it is called on.
///
/// # Errors
/// When its files are not whole, jarvis has no processing for it, or it is too large.
pub fn open(files: &ModelFiles, task: &str, resources: &Resources) -> Result<Box<dyn LocalModel>, ExpertError> {
    #[cfg(feature = "llm")]
    if let Some(model) = crate::llm::open(files, task, resources)? {
        return Ok(Box::new(OnPool { model, resources: resources.clone() }));
    }
    #[cfg(feature = "experts")]
    for open in [crate::vision::open, crate::audio::open, crate::ocr::open, crate::text::open] {
        if let Some(model) = open(files, task, resources)? {
            return Ok(Box::new(OnPool { model, resources: resources.clone() }));
        }
    }
    let _ = resources;
    Err(files.unsupported(format!("jarvis has no processing for a model of this architecture for {task}")))
}
