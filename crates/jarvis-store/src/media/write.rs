//! Media in: written beside their place, forced to the disk, then named. What a name promises is in the header of `media.rs`.

use std::fs::File;
use std::io::{self, Write};

use cap_std::fs::{Dir, OpenOptions};
use jarvis_plan::Kind;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::content::{ContentId, FOLDER};
use super::removal::forget;
use super::{Media, MediaError, disk_error, make_folder, path, sync_folder};

/// How old what is left of an interrupted write is when it is taken away.
const STALE: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// A medium that arrives piece by piece and is on the disk as far as it came. Dropped before [`Incoming::finish`], it leaves
/// nothing.
#[derive(Debug)]
pub struct Incoming {
    part: Part,
    /// The hash that names a file from outside, of its name and its content.
    named: Option<Sha256>,
    kind: Kind,
    extension: String,
}

impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.part.write(bytes)?;
        if let Some(named) = &mut self.named {
            named.update(bytes.get(..written).unwrap_or(bytes));
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Incoming {
    /// Stores what was written; returns its display path. Blocks.
    ///
    /// # Errors
    /// As [`Media::create`].
    pub fn finish(self, media: &Media) -> Result<String, MediaError> {
        let Incoming { part, named, kind, extension } = self;
        let may_exist = named.is_some();
        let name = place(kind, &named.map_or_else(random, stem), &extension)?;
        media.store(&New { name, may_exist, content: part.content(), size: part.size }, || Ok(part))
    }
}

/// What is to be stored.
pub(super) struct New {
    /// Its display path without the leading `/`.
    pub(super) name: String,
    /// Whether a file of this name holds the same: its name was made of its content.
    pub(super) may_exist: bool,
    pub(super) content: ContentId,
    pub(super) size: u64,
}

/// A file that is being written and has no name of its own yet; it goes when this is dropped.
#[derive(Debug)]
pub(super) struct Part {
    file: File,
    hasher: Sha256,
    size: u64,
    place: PartPlace,
}

impl Part {
    /// What was written.
    pub(super) fn content(&self) -> ContentId {
        ContentId::finish(self.hasher.clone())
    }

    /// How much was written.
    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or(bytes));
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where an unfinished file is.
#[derive(Debug)]
struct PartPlace {
    dir: Dir,
    path: String,
}

impl Drop for PartPlace {
    fn drop(&mut self) {
        // It may have been renamed. What cannot be removed now is stale at a later start.
        let _ = self.dir.remove_file(&self.path);
    }
}

impl Media {
    /// Stores a new medium under a random name; returns its display path. `extension` has no dot.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] when the kind is not kept as files or the extension is not one to five letters or
    /// digits; [`MediaError::Io`] when the disk refuses; [`MediaError::Store`] when the shared store does.
    pub fn create(&self, kind: Kind, extension: &str, bytes: &[u8]) -> Result<String, MediaError> {
        self.store_bytes(place(kind, &random(), extension)?, false, bytes)
    }

    /// Stores a file that is no medium, such as a document, under a random name. The extension is `bin` where it is none.
    ///
    /// # Errors
    /// [`MediaError::Io`] when the disk refuses; [`MediaError::Store`] when the shared store does.
    pub fn create_file(&self, extension: &str, bytes: &[u8]) -> Result<String, MediaError> {
        let extension = Some(extension.to_ascii_lowercase()).filter(|extension| path::is_extension(extension));
        let extension = extension.unwrap_or_else(|| "bin".to_owned());
        self.store_bytes(format!("{}/{}.{extension}", path::FILES, random()), false, bytes)
    }

    /// Stores a medium that came from outside under a name made of its own name and its content (the start of their
    /// SHA-256), so that the same file given again has one display path, while two files have two.
    ///
    /// # Errors
    /// As [`Media::create`].
    pub fn keep(&self, kind: Kind, own_name: &str, extension: &str, bytes: &[u8]) -> Result<String, MediaError> {
        let name = place(kind, &stem(own(own_name).chain_update(bytes)), extension)?;
        self.store_bytes(name, true, bytes)
    }

    /// Begins a medium that arrives piece by piece: [`Media::keep`] when it has a name of its own, else [`Media::create`].
    ///
    /// # Errors
    /// As [`Media::create`].
    pub fn incoming(&self, kind: Kind, own_name: Option<&str>, extension: &str) -> Result<Incoming, MediaError> {
        let name = place(kind, &random(), extension)?;
        let part = self.new_part().map_err(|source| disk_error("write", &format!("/{name}"), source))?;
        Ok(Incoming { part, named: own_name.map(own), kind, extension: extension.to_owned() })
    }

    /// Takes over a file that another program wrote into the folder: forces it to the disk, and where there is a shared store
    /// stores it as one of ours. Returns its display path, which may be another.
    ///
    /// # Errors
    /// As [`Media::open_file`] and [`Media::create`].
    pub fn adopt(&self, path: &str, kind: Kind) -> Result<String, MediaError> {
        let (mut file, _) = self.open_file(path)?;
        let path = Media::display(path)?;
        let failed = |source| disk_error("write", &path, source);
        if self.shared.is_some() {
            let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
            let mut incoming = self.incoming(kind, None, extension)?;
            io::copy(&mut file, &mut incoming).map_err(failed)?;
            return incoming.finish(self);
        }
        // Elsewhere a file that is open for reading cannot be asked for it.
        #[cfg(unix)]
        file.sync_data().map_err(failed)?;
        if let Some((folder, _)) = path.trim_start_matches('/').rsplit_once('/') {
            sync_folder(&self.dir, folder).map_err(failed)?;
        }
        self.made.add(&path);
        Ok(path)
    }

    fn store_bytes(&self, name: String, may_exist: bool, bytes: &[u8]) -> Result<String, MediaError> {
        let new = New { name, may_exist, content: ContentId::of(bytes), size: bytes.len() as u64 };
        self.store(&new, || {
            let mut part = self.new_part()?;
            // Past the hash, which is known.
            part.file.write_all(bytes)?;
            Ok(part)
        })
    }

    /// Stores a medium here and, where there is one, in the shared store; returns its display path.
    fn store(&self, new: &New, part: impl FnOnce() -> io::Result<Part>) -> Result<String, MediaError> {
        let path = format!("/{}", new.name);
        let made = self.place(new, part).map_err(|source| disk_error("write", &path, source))?;
        let shared = match &self.shared {
            Some(shared) => self.open_here(&path, &new.name).and_then(|(file, _)| {
                shared.put(&new.name, &new.content, file, new.size)?;
                Ok(())
            }),
            None => Ok(()),
        };
        if let Err(error) = shared {
            if made {
                // Nobody learns its path. What cannot be removed is a file too many, which the first error outweighs.
                let _ = forget(&self.dir, &new.name);
            }
            return Err(error);
        }
        if let Some(cache) = &self.cache {
            cache.grew(new.size);
        }
        if !new.may_exist {
            self.made.add(&path);
        }
        Ok(path)
    }

    /// Puts content under its name, whole and on the disk; false when it is there already.
    pub(super) fn place(&self, new: &New, part: impl FnOnce() -> io::Result<Part>) -> io::Result<bool> {
        let found = self.dir.symlink_metadata(&new.name).ok().filter(|found| new.may_exist && found.is_file());
        let is_there = found.as_ref().is_some_and(|found| found.len() == new.size);
        if found.is_some() && !is_there {
            // Older versions did not force files to the disk: a power cut may have cut this one.
            self.dir.remove_file(&new.name)?;
        }
        let named = match is_there {
            true => Ok(()),
            false => self.link(new).and_then(|is_linked| match is_linked {
                true => Ok(()),
                false => part().and_then(|part| {
                    part.file.sync_data()?;
                    self.publish(&part, new)
                }),
            }),
        };
        match named {
            // Another writer has just stored the same content.
            Err(error) if new.may_exist && error.kind() == io::ErrorKind::AlreadyExists => {}
            named => named?,
        }
        // Also for a file that is there: whoever stored it may not be as far yet.
        if let Some((folder, _)) = new.name.split_once('/') {
            sync_folder(&self.dir, folder)?;
        }
        Ok(!is_there)
    }

    /// Gives content that is here a further name; false when it is not here, or not as it was.
    pub(super) fn link(&self, new: &New) -> io::Result<bool> {
        let file = new.content.file();
        let is_whole = || {
            let found = self.dir.open(&file).ok()?.into_std();
            let same_size = found.metadata().ok()?.len() == new.size;
            (same_size && ContentId::read(found).ok()? == new.content).then_some(())
        };
        if is_whole().is_none() {
            return Ok(false);
        }
        match self.dir.hard_link(&file, &self.dir, &new.name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // A file can have so many names and no more, and the content may just have gone.
            Err(_) => Ok(false),
        }
    }

    /// Gives a finished file its name, which is not taken from another file. Where the file system has no hard links, the file
    /// is moved instead, after a look, which the 122 random bits of the name make safe enough.
    fn publish(&self, part: &Part, new: &New) -> io::Result<()> {
        // Without it the same bytes are stored again next time, and nothing else.
        let _ = self.index(part, &new.content);
        match self.dir.hard_link(&part.place.path, &self.dir, &new.name) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) if self.dir.try_exists(&new.name)? => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => {}
        }
        match self.dir.rename(&part.place.path, &self.dir, &new.name) {
            // A folder of media may be a disk of its own.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let (folder, _) = new.name.split_once('/').ok_or(io::ErrorKind::InvalidInput)?;
                let near = PartPlace { dir: self.dir.try_clone()?, path: format!("{folder}/.{}.part", random()) };
                let mut file = self.open_new(&near.path)?;
                io::copy(&mut self.dir.open(&part.place.path)?, &mut file)?;
                file.sync_data()?;
                self.dir.rename(&near.path, &self.dir, &new.name)
            }
            renamed => renamed,
        }
    }

    /// Lists a finished file under its content.
    #[cfg(unix)]
    fn index(&self, part: &Part, content: &ContentId) -> io::Result<()> {
        let file = content.file();
        let link = || self.dir.hard_link(&part.place.path, &self.dir, &file);
        match link() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (folder, _) = file.rsplit_once('/').ok_or(io::ErrorKind::InvalidInput)?;
                make_folder(&self.dir, folder)?;
                link()
            }
            // What was there is not what its name says; see `link`.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.dir.remove_file(&file)?;
                link()
            }
            linked => linked,
        }
    }

    /// When the last name of a content goes is seen by the count of its links, which this system does not tell.
    #[cfg(not(unix))]
    fn index(&self, _: &Part, _: &ContentId) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn new_part(&self) -> io::Result<Part> {
        let place = PartPlace { dir: self.dir.try_clone()?, path: format!("{FOLDER}/.{}.part", random()) };
        let file = match self.open_new(&place.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_folder(&self.dir, FOLDER)?;
                self.open_new(&place.path)?
            }
            opened => opened?,
        };
        Ok(Part { file, hasher: Sha256::new(), size: 0, place })
    }

    /// Makes a file that only its maker's handle writes to: where a content has several names, a change under one of them would
    /// be one of all.
    pub(super) fn open_new(&self, path: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o444);
        self.dir.open_with(path, &options).map(cap_std::fs::File::into_std)
    }

    /// Takes away what interrupted writes left. What cannot be removed stays.
    pub(super) fn sweep_parts(&self) -> io::Result<()> {
        for entry in self.dir.read_dir(FOLDER)? {
            let entry = entry?;
            let is_part = entry.file_name().to_string_lossy().ends_with(".part");
            let is_stale = || entry.metadata().ok()?.modified().ok()?.into_std().elapsed().ok().map(|age| age > STALE);
            if is_part && is_stale() == Some(true) {
                let _ = entry.remove_file();
            }
        }
        Ok(())
    }
}

/// The path of a medium under the public root.
fn place(kind: Kind, stem: &str, extension: &str) -> Result<String, MediaError> {
    let refused = |reason| MediaError::Forbidden { path: extension.to_owned(), reason };
    let folder = kind.folder().ok_or_else(|| refused("texts are not kept as files"))?;
    let extension = extension.to_ascii_lowercase();
    match path::is_extension(&extension) {
        true => Ok(format!("{folder}/{stem}.{extension}")),
        false => Err(refused("an extension is one to five letters or digits")),
    }
}

fn random() -> String {
    Uuid::new_v4().simple().to_string()
}

/// The hash of a file's own name and, to be added, its content.
fn own(own_name: &str) -> Sha256 {
    Sha256::new().chain_update(own_name).chain_update([0])
}

fn stem(named: Sha256) -> String {
    named.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
