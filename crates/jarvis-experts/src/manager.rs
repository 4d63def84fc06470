//! Lifetimes of loaded models: loading on first use, a shared memory budget, eviction, idle timeout.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OnceCell, Semaphore};
use tokio::time::Instant;

use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, open};

/// How models are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalModelsConfig {
    /// Bytes that all loaded models may take together.
    pub max_memory: u64,
    /// How long a model stays loaded after its last use.
    pub keep_alive: Duration,
    /// Threads of the one compute pool.
    pub threads: usize,
    /// Uses of models at once; more would only slow each other down.
    pub at_once: usize,
}

/// A model that is loaded now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    pub id: String,
    pub task: String,
    /// Bytes.
    pub memory: u64,
    /// Since its last use.
    pub idle: Duration,
    /// Uses that go on now.
    pub users: usize,
}

/// A model and the task type that it is loaded for: one file may be processed in several ways.
type Key = (String, String);

type Slot = Arc<OnceCell<Arc<dyn LocalModel>>>;

struct Kept {
    slot: Slot,
    /// What it takes: an estimate until it is loaded.
    memory: u64,
    used: Instant,
    users: usize,
}

/// The models that this process uses. Loads a model on first use, runs it off the async threads, and drops it when it is idle or its
/// memory is needed. Clones share everything.
#[derive(Clone)]
pub struct LocalModels(Arc<Shared>);

/// Loads a model for the call that needs it first: [`open`], or one that starts a process. It may give up when the call is over.
type Open = dyn Fn(&ModelFiles, &str, &Resources, &Call) -> Result<Box<dyn LocalModel>, ExpertError> + Send + Sync;

struct Shared {
    config: LocalModelsConfig,
    resources: Resources,
    open: Box<Open>,
    kept: Mutex<State>,
    running: Arc<Semaphore>,
    /// Told whenever a use has ended, and so memory may have become free.
    freed: Notify,
}

#[derive(Default)]
struct State {
    kept: HashMap<Key, Kept>,
    /// Whether a task waits to drop what is not used.
    reaping: bool,
}

impl LocalModels {
    /// # Errors
    /// When the threads of the compute pool cannot be started.
    pub fn new(config: LocalModelsConfig) -> Result<LocalModels, ExpertError> {
        LocalModels::with_open(config, Box::new(|files, task, resources, _| open(files, task, resources)))
    }

    /// As [`LocalModels::new`], with another way to load a model.
    ///
    /// # Errors
    /// As [`LocalModels::new`].
    pub fn with_open(config: LocalModelsConfig, open: Box<Open>) -> Result<LocalModels, ExpertError> {
        let resources = Resources::new(config.threads, config.max_memory)?;
        let running = Arc::new(Semaphore::new(config.at_once.max(1)));
        let (kept, freed) = (Mutex::default(), Notify::new());
        Ok(LocalModels(Arc::new(Shared { config, resources, open, kept, running, freed })))
    }

    /// Bytes that all loaded models may take together.
    #[cfg(feature = "llm")]
    pub(crate) fn max_memory(&self) -> u64 {
        self.0.config.max_memory
    }

    /// The models that are loaded now, those of the longest idle time last.
    pub fn loaded(&self) -> Vec<Loaded> {
        let state = self.state();
        let now = Instant::now();
        let mut loaded: Vec<Loaded> = state
            .kept
            .iter()
            .filter(|(_, kept)| kept.slot.initialized())
            .map(|((id, task), kept)| Loaded {
                id: id.clone(),
                task: task.clone(),
                memory: kept.memory,
                idle: now.duration_since(kept.used),
                users: kept.users,
            })
            .collect();
        loaded.sort_by_key(|model| model.idle);
        loaded
    }

    /// Uses a model once, and loads it before if it is not loaded. Dropping the future stops the work at its next step.
    ///
    /// # Errors
    /// When the model cannot be loaded or fails, or the call is over.
    pub async fn run(
        &self,
        files: &ModelFiles,
        task: &str,
        input: Input,
        mut call: Call,
    ) -> Result<Output, ExpertError> {
        call.check()?;
        let _permit = Arc::clone(&self.0.running).acquire_owned().await;
        call.cancel = call.cancel.child_token();
        let _stops_when_dropped = call.cancel.clone().drop_guard();
        let use_of = self.take(files, task, &call).await?;
        let model = use_of.model(files, task, &call).await?;
        let id = files.id.clone();
        let work = move || {
            let run = || call.check().and_then(|()| model.run(&input, &call));
            let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(broke_down(id)));
            if !model.is_alive() {
                use_of.forget();
            }
            result
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(ExpertError::Cancelled))
    }

    /// Loads a model without using it, so that the first use is quick.
    ///
    /// # Errors
    /// As [`LocalModels::run`].
    pub async fn load(&self, files: &ModelFiles, task: &str, call: &Call) -> Result<(), ExpertError> {
        self.take(files, task, call).await?.model(files, task, call).await.map(drop)
    }

    /// Drops a model, unless it is in use. Says whether it was loaded.
    pub fn unload(&self, id: &str) -> bool {
        let mut state = self.state();
        let before = state.kept.len();
        state.kept.retain(|(kept_id, _), kept| kept_id != id || kept.users > 0);
        state.kept.len() < before
    }

    /// Takes the place of a model, making room for it if it has none. Waits while what is in use leaves no room.
    async fn take(&self, files: &ModelFiles, task: &str, call: &Call) -> Result<Use, ExpertError> {
        let key: Key = (files.id.clone(), task.to_owned());
        let allowed = self.0.config.max_memory;
        let is_kept = self.state().kept.contains_key(&key);
        let needed = if is_kept { files.weight() } else { self.needed(files).await };
        if needed > allowed {
            return Err(ExpertError::TooLarge { model: key.0, needed: needed >> 20, allowed: allowed >> 20 });
        }
        loop {
            let freed = self.0.freed.notified();
            if let Some(slot) = self.try_take(&key, needed) {
                return Ok(Use { models: self.clone(), key, slot });
            }
            tokio::select! {
                () = freed => {}
                () = call.cancel.cancelled() => return Err(ExpertError::Cancelled),
            }
            call.check()?;
        }
    }

    /// Bytes that a model takes when it is loaded, as far as its files say before.
    async fn needed(&self, files: &ModelFiles) -> u64 {
        let (files, max_memory) = (files.clone(), self.0.config.max_memory);
        tokio::task::spawn_blocking(move || memory_needed(&files, max_memory)).await.unwrap_or_default()
    }

    fn try_take(&self, key: &Key, needed: u64) -> Option<Slot> {
        let mut state = self.state();
        if let Some(kept) = state.kept.get_mut(key) {
            kept.users += 1;
            return Some(Arc::clone(&kept.slot));
        }
        loop {
            let taken: u64 = state.kept.values().map(|kept| kept.memory).sum();
            if taken.saturating_add(needed) <= self.0.config.max_memory {
                break;
            }
            let idle = state.kept.iter().filter(|(_, kept)| kept.users == 0);
            let oldest = idle.min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone())?;
            state.kept.remove(&oldest);
        }
        let slot = Slot::default();
        let kept = Kept { slot: Arc::clone(&slot), memory: needed, used: Instant::now(), users: 1 };
        state.kept.insert(key.clone(), kept);
        Some(slot)
    }

    /// Ends a use; the model goes once its time is over.
    fn release(&self, key: &Key) {
        let mut state = self.state();
        if let Some(kept) = state.kept.get_mut(key) {
            kept.users = kept.users.saturating_sub(1);
            kept.used = Instant::now();
            if kept.users == 0 && !kept.slot.initialized() {
                state.kept.remove(key);
            }
        }
        // Without a runtime there is nobody who could wait: the process is about to end.
        if !state.reaping
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            state.reaping = true;
            runtime.spawn(reap(Arc::downgrade(&self.0)));
        }
        drop(state);
        self.0.freed.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops what has been idle too long; how long until the next may go, or nothing when none is kept.
    fn drop_idle(&self) -> Option<Duration> {
        let mut state = self.state();
        let now = Instant::now();
        let keep = self.config.keep_alive;
        state.kept.retain(|_, kept| kept.users > 0 || now.duration_since(kept.used) < keep);
        let next = state.kept.values().map(|kept| keep.saturating_sub(now.duration_since(kept.used))).min();
        state.reaping = next.is_some();
        next
    }
}

/// Drops models as their time is over, until none is loaded.
async fn reap(shared: std::sync::Weak<Shared>) {
    loop {
        let Some(next) = shared.upgrade().and_then(|shared| shared.drop_idle()) else { return };
        // In use, and so kept beyond its time: it is looked at again a little later.
        tokio::time::sleep(next.max(Duration::from_millis(200))).await;
    }
}

/// One use of a place; it ends when this is dropped.
struct Use {
    models: LocalModels,
    key: Key,
    slot: Slot,
}

impl Use {
    /// The model, loaded by whoever comes first; the others wait for it.
    async fn model(&self, files: &ModelFiles, task: &str, call: &Call) -> Result<Arc<dyn LocalModel>, ExpertError> {
        let load = || async {
            let (files, task, shared) = (files.clone(), task.to_owned(), Arc::clone(&self.models.0));
            let call = Call { cancel: call.cancel.clone(), deadline: call.deadline, ..Call::default() };
            let started = Instant::now();
            let id = files.id.clone();
            let loading = move || {
                catch_unwind(AssertUnwindSafe(|| (shared.open)(&files, &task, &shared.resources, &call)))
                    .unwrap_or_else(|_| Err(broke_down(files.id)))
            };
            let loaded = tokio::task::spawn_blocking(loading).await.unwrap_or(Err(ExpertError::Cancelled))?;
            tracing::debug!(id, ms = started.elapsed().as_millis(), bytes = loaded.memory(), "loaded");
            let mut state = self.models.state();
            if let Some(kept) = state.kept.get_mut(&self.key) {
                kept.memory = loaded.memory();
            }
            // A model may turn out larger than its files say: what is idle makes room at once.
            while state.kept.values().map(|kept| kept.memory).sum::<u64>() > self.models.0.config.max_memory {
                let idle = state.kept.iter().filter(|(_, kept)| kept.users == 0);
                let oldest = idle.min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
                let Some(oldest) = oldest else { break };
                state.kept.remove(&oldest);
            }
            Ok(Arc::from(loaded))
        };
        self.slot.get_or_try_init(load).await.cloned()
    }
}

impl Use {
    /// Drops the model for the next user to load it anew.
    fn forget(&self) {
        let mut state = self.models.state();
        if state.kept.get(&self.key).is_some_and(|kept| Arc::ptr_eq(&kept.slot, &self.slot)) {
            state.kept.remove(&self.key);
        }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.models.release(&self.key);
    }
}

/// Bytes that are kept free for a model before it is loaded, where models may take `max_memory` together.
pub fn memory_needed(files: &ModelFiles, max_memory: u64) -> u64 {
    #[cfg(feature = "llm")]
    if let Some(memory) = crate::llm::memory(files, max_memory) {
        return memory;
    }
    let _ = max_memory;
    files.memory()
}

fn broke_down(model: String) -> ExpertError {
    ExpertError::Failed { model, reason: "the engine broke down on it".to_owned() }
}

impl fmt::Debug for LocalModels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalModels").field("config", &self.0.config).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
