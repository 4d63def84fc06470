//! A pull: what would be fetched, worked out first, and then fetched.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use crate::catalogue::Entry;
use crate::choose::{self, Chosen, Precision};
use crate::disk::free_space;
use crate::download::{Download, FileEvent, Obtained, blocking, size_of};
use crate::hub::{Hub, RemoteFile, RevisionInfo};
use crate::ids::{BlobId, Commit, FilePath, RepoId, Revision};
use crate::layout::{self, Engine};
use crate::ledger::{Record, RecordFile, Source, Stage, now};
use crate::lock::FileLock;
use crate::reference::Reference;
use crate::store::{Local, Store, folder_tasks};
use crate::{ModelError, ids};

/// Files that are downloaded at the same time.
const PARALLEL: usize = 4;
/// Space that is left free beside what is downloaded, in bytes.
const RESERVE: u64 = 64 << 20;

/// What a pull would fetch.
#[derive(Debug, Clone, PartialEq)]
pub struct PullPlan {
    pub name: String,
    pub repo: RepoId,
    /// What was asked for.
    pub requested: Revision,
    pub commit: Commit,
    /// Whether the catalogue names this commit.
    pub is_pinned: bool,
    pub license: Option<String>,
    pub is_gated: bool,
    pub tasks: Vec<String>,
    pub engine: Engine,
    pub weights: Vec<FilePath>,
    pub files: Vec<PlannedFile>,
    /// Files that were looked for and that the repository does not have.
    absent: Vec<FilePath>,
    /// Folder of the cache.
    pub root: PathBuf,
    /// Bytes that may be written there; `None` where the system does not say.
    pub free: Option<u64>,
}

/// One file of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    pub remote: RemoteFile,
    /// Bytes of it that are here.
    pub present: u64,
}

impl PullPlan {
    /// The contents, each once.
    fn blobs(&self) -> Vec<&PlannedFile> {
        let mut seen = HashSet::new();
        self.files.iter().filter(|file| seen.insert(&file.remote.blob)).collect()
    }

    /// Bytes of the whole model.
    pub fn total(&self) -> u64 {
        self.blobs().iter().map(|file| file.remote.size).fold(0, u64::saturating_add)
    }

    /// Bytes that are to be downloaded.
    pub fn missing(&self) -> u64 {
        self.blobs().iter().map(|file| file.remote.size.saturating_sub(file.present)).fold(0, u64::saturating_add)
    }

    /// Whether the disk has room for it, as far as the system says.
    ///
    /// # Errors
    /// [`ModelError::NoSpace`].
    pub fn check_space(&self) -> Result<(), ModelError> {
        let missing = self.missing();
        let needed = if missing == 0 { 0 } else { missing.saturating_add(RESERVE) };
        match self.free {
            Some(free) if free < needed => Err(ModelError::NoSpace { needed, free, folder: self.root.clone() }),
            _ => Ok(()),
        }
    }
}

/// What happens during a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullEvent {
    /// So many bytes of a content are here. Never fewer than were told before.
    Progress { file: FilePath, blob: BlobId, completed: u64, total: u64 },
    /// Another process downloads the file.
    Waiting { file: FilePath },
    /// An attempt failed, and another follows after this pause.
    Retry { file: FilePath, reason: String, pause: Duration },
    /// All contents are here and have the announced hashes.
    Verified,
    /// The model can be used.
    Complete,
}

impl Store {
    /// Asks the Hub what a model is and what of it is missing here. Downloads nothing.
    ///
    /// # Errors
    /// When there is no such model, it may not be read, the Hub cannot be asked, or what it has differs from the catalogue's pins.
    pub async fn plan(
        &self,
        hub: &Hub,
        reference: &Reference,
        precision: Option<Precision>,
    ) -> Result<PullPlan, ModelError> {
        let requested = reference.revision();
        let info = hub.revision(reference.repo(), &requested).await?;
        let files = hub.files(&info.repo, &info.commit).await?;
        let (chosen, entry) = match reference {
            Reference::Known(entry) => (choose::of_entry(entry, &files, precision)?, Some(&**entry)),
            Reference::Repo { repo, selector, .. } => {
                (choose::of_repo(repo, &files, selector.as_ref(), precision)?, None)
            }
        };
        if let Some(entry) = entry {
            check_pins(entry, &info, &chosen)?;
        }
        let folder = self.cache().repo(&info.repo);
        let present = |file: &RemoteFile| match size_of(&folder.blob(&file.blob)) {
            size if size == file.size => size,
            _ => size_of(&folder.part(&file.blob)).min(file.size),
        };
        let planned = chosen.files.into_iter().map(|remote| PlannedFile { present: present(&remote), remote });
        let license = info.license.clone().or_else(|| entry.and_then(|entry| entry.license.clone()));
        Ok(PullPlan {
            name: reference.name(),
            requested: requested.clone(),
            is_pinned: entry.is_some_and(|entry| entry.revision.is_some()),
            license,
            is_gated: info.is_gated,
            tasks: tasks(entry, &info, chosen.engine),
            engine: chosen.engine,
            weights: chosen.weights,
            files: planned.collect(),
            absent: chosen.absent,
            root: self.cache().root().to_path_buf(),
            free: free_space(self.cache().root()),
            repo: info.repo,
            commit: info.commit,
        })
    }

    /// Fetches what a plan names. When the future is dropped, what has come is kept, and the next pull goes on from there.
    ///
    /// A snapshot gets its files only when all of them are here, so that nobody takes half of one for a whole.
    ///
    /// # Errors
    /// Why the model is not complete.
    pub async fn pull(
        &self,
        hub: &Hub,
        plan: &PullPlan,
        report: &(dyn Fn(PullEvent) + Sync),
    ) -> Result<Local, ModelError> {
        // Some of the space may be gone since the plan was made.
        let free = free_space(&plan.root).map_or(plan.free, |now| Some(plan.free.map_or(now, |then| then.min(now))));
        PullPlan { free, ..plan.clone() }.check_space()?;
        let lock = self.ledger().lock_of(&plan.name);
        let _shared = match FileLock::try_shared(&lock) {
            Ok(Some(held)) => held,
            Ok(None) => return Err(ModelError::Busy { name: plan.name.clone() }),
            Err(error) => return Err(ModelError::write(lock, error)),
        };
        let record = self.apart(plan, |store, plan| {
            store.cache().tag();
            store.begin(plan)
        });
        let record = record.await?;
        let folder = self.cache().repo(&plan.repo);
        let progress = Monotonic::default();
        let tell = |file: &RemoteFile, event: FileEvent| {
            let path = file.path.clone();
            report(match event {
                FileEvent::Progress(completed) => {
                    let Some(completed) = progress.advance(&file.blob, completed.min(file.size)) else { return };
                    PullEvent::Progress { file: path, blob: file.blob.clone(), completed, total: file.size }
                }
                FileEvent::Waiting => PullEvent::Waiting { file: path },
                FileEvent::Retry { reason, pause } => PullEvent::Retry { file: path, reason, pause },
            });
        };
        let (tell, record_ref, folder_ref) = (&tell, &record, &folder);
        // Made before they run, so that the whole is `Send`, which a closure over borrowed files is not known to be.
        let downloads: Vec<BoxFuture<'_, Result<(), ModelError>>> = plan
            .blobs()
            .into_iter()
            .map(|planned| {
                let file = &planned.remote;
                let download = Download {
                    hub,
                    cache: self.cache(),
                    folder: folder_ref,
                    repo: &plan.repo,
                    commit: &plan.commit,
                    file,
                };
                async move {
                    let obtained = download.run(&|event| tell(file, event)).await?;
                    if obtained != Obtained::Present {
                        let (record, blob) = (record_ref.clone(), file.blob.clone());
                        self.apart(&(record, blob), |store, (record, blob)| store.note_download(record, blob)).await?;
                    }
                    tell(file, FileEvent::Progress(file.size));
                    Ok(())
                }
                .boxed()
            })
            .collect();
        stream::iter(downloads).buffer_unordered(PARALLEL).try_collect::<Vec<()>>().await?;
        report(PullEvent::Verified);
        let local = self.apart(plan, Store::complete).await?;
        report(PullEvent::Complete);
        Ok(local)
    }

    /// Work on the disk, which may wait for another process, on a thread of its own.
    async fn apart<A: Clone + Send + 'static, T: Send + 'static>(
        &self,
        about: &A,
        work: impl FnOnce(&Store, &A) -> Result<T, ModelError> + Send + 'static,
    ) -> Result<T, ModelError> {
        let (store, about) = (self.clone(), about.clone());
        let done = blocking(move || Ok(work(&store, &about))).await;
        done.map_err(|error| ModelError::write(self.ledger().path(), error))?
    }

    /// What is noted of a pull that begins.
    fn record_of(&self, plan: &PullPlan) -> Record {
        let folder = self.cache().repo(&plan.repo);
        Record {
            name: plan.name.clone(),
            source: Source::Pulled,
            stage: Stage::Pulling,
            repo: Some(plan.repo.clone()),
            revision: Some(plan.commit.clone()),
            is_pinned: plan.is_pinned,
            license: plan.license.clone(),
            root: plan.root.clone(),
            folder: folder.snapshot(&plan.commit),
            files: plan.files.iter().map(|file| record_file(&file.remote)).collect(),
            weights: plan.weights.clone(),
            tasks: plan.tasks.clone(),
            engine: plan.engine,
            added: now(),
            used: None,
        }
    }

    /// Notes that a pull begins, so that what an abandoned one leaves can be removed.
    fn begin(&self, plan: &PullPlan) -> Result<Record, ModelError> {
        let record = self.record_of(plan);
        self.ledger().update(|models| {
            // An earlier attempt at other files, such as another precision, stays noted until it is pruned.
            let earlier = models.iter_mut().filter(|known| known.stage != Stage::Complete && is_same(known, &record));
            let mut again = None;
            for known in earlier {
                known.stage = if has_same_files(known, &record) { Stage::Pulling } else { Stage::Replaced };
                again = again.or_else(|| (known.stage == Stage::Pulling).then(|| known.clone()));
            }
            again.unwrap_or_else(|| {
                models.push(record.clone());
                record
            })
        })
    }

    fn note_download(&self, record: &Record, blob: &BlobId) -> Result<(), ModelError> {
        self.ledger().update(|models| {
            let pulling = models.iter_mut().filter(|known| known.stage == Stage::Pulling && is_same(known, record));
            for file in pulling.flat_map(|known| &mut known.files).filter(|file| file.blob == *blob) {
                file.downloaded = true;
            }
        })
    }

    /// Puts the files into the snapshot and notes that the model is complete.
    fn complete(&self, plan: &PullPlan) -> Result<Local, ModelError> {
        let folder = self.cache().repo(&plan.repo);
        let snapshot = folder.snapshot(&plan.commit);
        let mut linked = HashSet::new();
        for file in plan.files.iter().map(|planned| &planned.remote) {
            let made = folder.link(&plan.commit, &file.path, &file.blob);
            if made.map_err(|error| ModelError::write(file.path.under(&snapshot), error))? {
                linked.insert(&file.path);
            }
        }
        for path in &plan.absent {
            folder.set_absent(&plan.commit, path).map_err(|error| ModelError::write(folder.path(), error))?;
        }
        folder.set_reference(&plan.requested, &plan.commit).map_err(|error| ModelError::write(folder.path(), error))?;
        let new = self.record_of(plan);
        let record = self.ledger().update(|models| {
            let same = |known: &Record| {
                let same = known.name == plan.name && known.revision.as_ref() == Some(&plan.commit);
                same && known.root == plan.root && known.stage != Stage::Replaced
            };
            // Several records of one model become one: an earlier one that was complete, and that of this pull.
            let mut found = None;
            models.retain_mut(|known| {
                if !same(known) {
                    return true;
                }
                match &mut found {
                    None => found = Some(known.clone()),
                    Some(first) => {
                        let older = std::mem::replace(first, known.clone());
                        keep_marks(first, &older);
                        (first.added, first.used) = (older.added, older.used.max(known.used));
                    }
                }
                false
            });
            // A pull of the same model in another precision may have taken its place meanwhile.
            let mut record = found.unwrap_or(new);
            record.stage = Stage::Complete;
            // Where the repository does not say what the model is for, its configuration may.
            if record.tasks.is_empty() {
                record.tasks = folder_tasks(&snapshot, record.engine);
            }
            for file in record.files.iter_mut().filter(|file| linked.contains(&file.path)) {
                file.linked = true;
            }
            for older in models.iter_mut().filter(|known| known.name == record.name) {
                older.stage = Stage::Replaced;
            }
            models.push(record.clone());
            record
        })?;
        Ok(Local::of_record(&record))
    }
}

fn record_file(remote: &RemoteFile) -> RecordFile {
    RecordFile {
        path: remote.path.clone(),
        size: remote.size,
        blob: remote.blob.clone(),
        downloaded: false,
        linked: false,
    }
}

fn is_same(a: &Record, b: &Record) -> bool {
    a.name == b.name && a.repo == b.repo && a.revision == b.revision && a.root == b.root
}

fn has_same_files(a: &Record, b: &Record) -> bool {
    a.files.len() == b.files.len() && a.files.iter().zip(&b.files).all(|(a, b)| a.path == b.path && a.blob == b.blob)
}

/// Takes over what jarvis did for an earlier record of the same files.
fn keep_marks(record: &mut Record, before: &Record) {
    for old in &before.files {
        match record.files.iter_mut().find(|file| file.path == old.path && file.blob == old.blob) {
            Some(file) => {
                file.downloaded |= old.downloaded;
                file.linked |= old.linked;
            }
            // Pulled in another precision before: it is in the snapshot, and jarvis' to remove.
            None if old.linked => record.files.push(old.clone()),
            None => {}
        }
    }
}

/// Compares what the Hub has with what the catalogue pins.
fn check_pins(entry: &Entry, info: &RevisionInfo, chosen: &Chosen) -> Result<(), ModelError> {
    for file in &chosen.files {
        let Some(pin) = entry.pins.get(&file.path) else { continue };
        let mismatch = |found: String, expected: String| ModelError::PinMismatch {
            repo: info.repo.to_string(),
            file: file.path.to_string(),
            found,
            expected,
        };
        if pin.size != file.size {
            return Err(mismatch(format!("{} bytes", file.size), format!("{} bytes", pin.size)));
        }
        match (&file.blob, &pin.sha256) {
            (BlobId::Sha256(found), Some(expected)) if found != expected => {
                return Err(mismatch(found.clone(), expected.clone()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The task types of a model: the catalogue's, or what the repository says.
fn tasks(entry: Option<&Entry>, info: &RevisionInfo, engine: Engine) -> Vec<String> {
    if let Some(entry) = entry {
        return entry.tasks.clone();
    }
    match (&info.pipeline_tag, engine) {
        (_, Engine::Gguf) => layout::GGUF_TASKS.iter().map(|task| (*task).to_owned()).collect(),
        (Some(tag), _) => vec![tag.clone()],
        (None, _) => Vec::new(),
    }
}

/// The most that was told of each content.
#[derive(Default)]
struct Monotonic(Mutex<HashMap<BlobId, u64>>);

impl Monotonic {
    /// The bytes to tell; nothing when they were told already.
    fn advance(&self, blob: &ids::BlobId, completed: u64) -> Option<u64> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match told.get_mut(blob) {
            Some(before) if completed <= *before => None,
            Some(before) => {
                *before = completed;
                Some(completed)
            }
            None => {
                told.insert(blob.clone(), completed);
                Some(completed)
            }
        }
    }
}
