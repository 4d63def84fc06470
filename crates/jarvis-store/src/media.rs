//! Media under the public root: one folder, opened once as a directory handle; nothing outside it can be named.
//!
//! Media are kept by what they hold. A content is the file `sha256/ab/cd…` (its SHA-256 in hexadecimal), made when it is not
//! there, and a display path (`/images/ab12.png`) is a hard link to it: the same bytes are kept once, and go with their last
//! name. A file that has its display path alone, as older versions left them, is a medium like any other.
//!
//! Behind the folder there may be a store that several machines share (`shared.rs`; `remote.rs` for S3). It holds each content
//! as `sha256/ab/cd…` and for each name which content it stands for. The folder is then a cache: what is not in it is fetched,
//! compared with its hash, and kept until room is needed (`cache.rs`).
//!
//! Invariant: when a display path is given out, its content is on the disk whole, and in the store, so that a power cut
//! takes nothing that was told (`what_is_given_out_is_whole_after_any_failure` in `tests/durable.rs`). From then on it stands for these
//! bytes or for nothing (`one_content_has_many_names`, `what_comes_from_the_store_is_what_was_put_there`).

mod cache;
mod content;
mod list;
mod made;
mod path;
#[cfg(feature = "s3")]
mod remote;
mod removal;
#[cfg(feature = "s3")]
mod s3;
mod shared;
mod write;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use cache::Cache;
pub use list::StoredMedium;
pub use made::Made;
use path::relative;
#[cfg(feature = "s3")]
pub use s3::{StoreKeys, StoreSettings};
use shared::Shared;
pub use shared::StoreFault;
pub use write::Incoming;
use write::New;

/// The public root. Files are named by display paths such as `/images/ab12.png`; the same path with the prefix
/// `public/`, without the leading `/`, or percent-encoded names the same file. All calls block.
///
/// Two walls stand between a string and a file outside: [`Media::display`] refuses paths that try to leave, and the
/// directory handle refuses symbolic links that do.
#[derive(Debug)]
pub struct Media {
    root: PathBuf,
    dir: Dir,
    /// The store behind the folder.
    shared: Option<Arc<dyn Shared>>,
    /// What bounds the folder where it is a cache.
    cache: Option<Arc<Cache>>,
    /// A lock for each name that is being fetched, so that it is fetched once.
    fetching: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    made: Arc<Made>,
}

/// The rights of folders that are made here.
#[cfg(unix)]
const PRIVATE: u32 = 0o700;

#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// The path leads outside the public root, or is not a path at all.
    #[error("`{path}` is not a path under the public folder: {reason}")]
    Forbidden { path: String, reason: &'static str },
    #[error("there is no file `{path}`")]
    NotFound { path: String },
    #[error("`{path}` has {size} bytes; the limit is {limit}")]
    TooLarge {
        path: String,
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    #[error("cannot {doing} `{path}`: {source}")]
    Io { doing: &'static str, path: String, source: io::Error },
    /// The shared store cannot be used.
    #[error("cannot {doing} `{path}` in the media store {store}: {fault}")]
    Store {
        doing: &'static str,
        path: String,
        /// Which store it is.
        store: String,
        fault: StoreFault,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl MediaError {
    /// What to try, where something can be tried.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            MediaError::Store { fault, .. } => Some(fault.hint()),
            MediaError::Forbidden { .. }
            | MediaError::NotFound { .. }
            | MediaError::TooLarge { .. }
            | MediaError::Io { .. } => None,
        }
    }
}

impl Media {
    /// Opens the public root, making it and its folders `images`, `audios`, `videos`, `tables` and `files` when missing. On Unix, folders
    /// that are made are for their owner alone, since requests are private; those that are there stay as they are.
    ///
    /// # Errors
    /// [`MediaError::Io`] when the folders cannot be made or opened; [`MediaError::Forbidden`] when one of them is a
    /// link to somewhere outside the root.
    pub fn open(root: &Path) -> Result<Media, MediaError> {
        let named = root.display().to_string();
        let failed = |doing| {
            let path = named.clone();
            move |source| MediaError::Io { doing, path, source }
        };
        let root = std::path::absolute(root).map_err(failed("find"))?;
        let mut maker = std::fs::DirBuilder::new();
        maker.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut maker, PRIVATE);
        maker.create(&root).map_err(failed("make the folder"))?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(failed("open the folder"))?;
        for folder in path::folders() {
            let opened = match dir.open_dir(folder) {
                // Another process may make it at the same moment, and somebody else a link: it is opened again.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    make_folder(&dir, folder).and_then(|()| sync_folder(&dir, ".")).and_then(|()| dir.open_dir(folder))
                }
                opened => opened,
            };
            opened.map_err(|source| disk_error("make the folder", &format!("{named}/{folder}"), source))?;
        }
        let media = Media { root, dir, shared: None, cache: None, fetching: Mutex::default(), made: Arc::default() };
        // There is nothing to take away before the first write.
        let _ = media.sweep_parts();
        Ok(media)
    }

    /// The same with a store behind it, for which the folder is a cache of `limit` bytes.
    #[cfg(feature = "s3")]
    fn behind(mut self, shared: Arc<dyn Shared>, limit: u64) -> Result<Media, MediaError> {
        let dir = self.dir.try_clone().map_err(|source| disk_error("open the folder", "/", source))?;
        self.cache = Some(Arc::new(Cache::new(dir, Arc::clone(&shared), limit)));
        self.shared = Some(shared);
        Ok(self)
    }

    /// What was made here and no run has told of yet.
    pub fn made(&self) -> &Arc<Made> {
        &self.made
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Puts a path as a plan or a model writes it into display form, without looking at the disk. Giving the result
    /// again changes nothing.
    ///
    /// One percent-decoding is done; blanks around the names, empty names, `.`, and leading `public/` go away. Names
    /// with `:` or `\` are refused on every system, so that the same paths are good everywhere.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] when it is empty, tries to leave the root, or names a drive, an address or a device.
    pub fn display(path: &str) -> Result<String, MediaError> {
        relative(path).map(|relative| format!("/{relative}"))
    }

    /// Opens a file to be read, fetching it from the shared store when it is not here; also gives its size in bytes.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] for a path or link that leads outside or is not a file; [`MediaError::NotFound`];
    /// [`MediaError::Io`]; [`MediaError::Store`].
    pub fn open_file(&self, path: &str) -> Result<(std::fs::File, u64), MediaError> {
        let relative = relative(path)?;
        let opened = match self.open_here(path, &relative) {
            Err(missing @ MediaError::NotFound { .. }) => match self.fetch(path, &relative)? {
                true => self.open_here(path, &relative),
                false => Err(missing),
            },
            opened => opened,
        }?;
        self.used(&opened.0);
        Ok(opened)
    }

    /// Brings a file from the shared store; false when it holds none of this name.
    fn fetch(&self, path: &str, name: &str) -> Result<bool, MediaError> {
        let Some(shared) = self.shared.as_ref().filter(|_| path::is_made(name)) else { return Ok(false) };
        let lock = Arc::clone(
            self.fetching.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default(),
        );
        let fetched = {
            let _one = lock.lock().unwrap_or_else(PoisonError::into_inner);
            match self.dir.try_exists(name).unwrap_or(false) {
                true => Ok(true),
                false => self.fetch_alone(&**shared, path, name),
            }
        };
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        fetched
    }

    fn fetch_alone(&self, shared: &dyn Shared, path: &str, name: &str) -> Result<bool, MediaError> {
        let Some(content) = shared.find(name)? else { return Ok(false) };
        let failed = |source| disk_error("write", path, source);
        // Its bytes may be here under another name.
        if let Ok(found) = self.dir.metadata(content.file()) {
            let new = New { name: name.to_owned(), may_exist: true, content, size: found.len() };
            if self.link(&new).map_err(failed)? {
                return Ok(true);
            }
        }
        let mut writing = self.new_part().map_err(failed)?;
        shared.fetch(name, &content, &mut writing)?;
        let (found, size) = (writing.content(), writing.size());
        if found != content {
            return Err(MediaError::Store {
                doing: "read",
                path: path.to_owned(),
                store: shared.to_string(),
                fault: StoreFault::Damaged,
                source: format!("its SHA-256 is {found}, and not {content}").into(),
            });
        }
        let new = New { name: name.to_owned(), may_exist: true, content, size };
        self.place(&new, || Ok(writing)).map_err(failed)?;
        if let Some(cache) = &self.cache {
            cache.grew(size);
        }
        Ok(true)
    }

    /// Notes that a file of the cache is of use.
    fn used(&self, file: &std::fs::File) {
        let is_old = || file.metadata().ok()?.modified().ok()?.elapsed().ok().map(|age| age > cache::TOUCH);
        if self.cache.is_some() && is_old() == Some(true) {
            // Of a file that is another's the time cannot be set; it goes a little earlier.
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Opens a file of the folder.
    fn open_here(&self, path: &str, relative: &str) -> Result<(std::fs::File, u64), MediaError> {
        let failed = |doing| move |source| disk_error(doing, path, source);
        let check = |metadata: cap_std::fs::Metadata| match metadata.is_file() {
            true => Ok(metadata.len()),
            false => Err(MediaError::Forbidden { path: path.to_owned(), reason: "it is not a file" }),
        };
        // Looked at before it is opened, since opening a pipe would wait for its other end.
        check(self.dir.metadata(relative).map_err(failed("look at"))?)?;
        let file = self.dir.open(relative).map_err(failed("open"))?;
        let size = check(file.metadata().map_err(failed("look at"))?)?;
        Ok((file.into_std(), size))
    }

    /// Reads a whole file of at most `limit` bytes.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] for a path or link that leads outside or is not a file; [`MediaError::NotFound`];
    /// [`MediaError::TooLarge`], without reading more than the limit; [`MediaError::Io`].
    pub fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, MediaError> {
        let (file, size) = self.open_file(path)?;
        if size > limit {
            return Err(MediaError::TooLarge { path: path.to_owned(), size, limit });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| disk_error("read", path, source))?;
        match bytes.len() as u64 {
            size if size > limit => Err(MediaError::TooLarge { path: path.to_owned(), size, limit }),
            _ => Ok(bytes),
        }
    }

    /// Where the file of a display path is on disk, for programs and people; it need not exist. A file that only the shared
    /// store has is fetched.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] for a path that leads outside, also by a link that is on the disk now;
    /// [`MediaError::Store`] when it cannot be fetched.
    pub fn disk_path(&self, path: &str) -> Result<PathBuf, MediaError> {
        let relative = relative(path)?;
        match self.dir.canonicalize(&relative) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => drop(self.fetch(path, &relative)?),
            Err(error) => return Err(disk_error("find", path, error)),
        }
        if self.cache.is_some()
            && let Ok((file, _)) = self.open_here(path, &relative)
        {
            self.used(&file);
        }
        Ok(self.root.join(relative))
    }

    /// Makes sure that a file can be written, by writing a small one and taking it away again; and that the shared store can be
    /// written to. Blocks.
    ///
    /// # Errors
    /// [`MediaError::Io`] when the disk is full, read-only or gone; [`MediaError::Store`].
    pub fn check_writable(&self) -> Result<(), MediaError> {
        let written = self.new_part().and_then(|mut part| part.write_all(&[0; 4096]));
        written.map_err(|source| disk_error("write", "/images", source))?;
        self.shared.as_ref().map_or(Ok(()), |shared| shared.check())
    }
}

/// Forces the names in a folder to the disk, on systems where that is to be asked for.
fn sync_folder(dir: &Dir, folder: &str) -> io::Result<()> {
    #[cfg(unix)]
    match dir.open(folder)?.sync_all() {
        // Some file systems of user programs know no such thing.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {}
        synced => synced?,
    }
    #[cfg(not(unix))]
    let _ = (dir, folder);
    Ok(())
}

/// Makes a folder and the one above it, as far as they are missing: another process that makes them at the same moment is as good.
fn make_folder(dir: &Dir, folder: &str) -> io::Result<()> {
    let made = |folder: &str| match make_private(dir, folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    };
    if let Some((above, _)) = folder.split_once('/') {
        made(above)?;
    }
    made(folder)
}

/// Makes a folder that only its owner can use, where the system knows such things.
fn make_private(dir: &Dir, folder: &str) -> io::Result<()> {
    #[cfg(unix)]
    {
        let mut maker = cap_std::fs::DirBuilder::new();
        cap_std::fs::DirBuilderExt::mode(&mut maker, PRIVATE);
        dir.create_dir_with(folder, &maker)
    }
    #[cfg(not(unix))]
    dir.create_dir(folder)
}

/// Sorts a disk's answer. The directory handle reports an escape as a refusal without a system error number.
fn disk_error(doing: &'static str, path: &str, source: io::Error) -> MediaError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => MediaError::NotFound { path },
        io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => {
            MediaError::Forbidden { path, reason: "a link on it leads outside" }
        }
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => {
            MediaError::Forbidden { path, reason: "the file system cannot hold such a name" }
        }
        _ => MediaError::Io { doing, path, source },
    }
}

#[cfg(test)]
mod tests;
