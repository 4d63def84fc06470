//! Media under the public root: one folder, opened once as a directory handle; nothing outside it can be named.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use jarvis_plan::Kind;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The public root. Files are named by display paths such as `/images/ab12.png`; the same path with the prefix
/// `public/`, without the leading `/`, or percent-encoded names the same file. All calls block.
///
/// Two walls stand between a string and a file outside: [`Media::display`] refuses paths that try to leave, and the
/// directory handle refuses symbolic links that do.
#[derive(Debug)]
pub struct Media {
    root: PathBuf,
    dir: Dir,
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
}

impl Media {
    /// Opens the public root, making it and its folders `images`, `audios`, `videos` and `tables` when missing. On Unix, folders
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
        for folder in Kind::ALL.into_iter().filter_map(Kind::folder) {
            let opened = match dir.open_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => make_private(&dir, folder),
                opened => opened.map(drop),
            };
            opened.map_err(|source| disk_error("make the folder", &format!("{named}/{folder}"), source))?;
        }
        Ok(Media { root, dir })
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

    /// Stores a new medium under a random name, created exclusively; returns its display path. `extension` has no dot.
    ///
    /// The file appears under its name only when it is whole. It is not forced to the disk: a power cut may lose it.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] when the kind is not kept as files or the extension is not one to five letters or
    /// digits; [`MediaError::Io`] when the disk refuses.
    pub fn create(&self, kind: Kind, extension: &str, bytes: &[u8]) -> Result<String, MediaError> {
        self.store(kind, extension, bytes, &Uuid::new_v4().simple().to_string(), false)
    }

    /// Stores a medium that came from outside under a name made of its own name and its content (the start of their
    /// SHA-256), so that the same file given again is kept once and has one display path, while two files have two.
    ///
    /// # Errors
    /// As [`Media::create`].
    pub fn keep(&self, kind: Kind, own_name: &str, extension: &str, bytes: &[u8]) -> Result<String, MediaError> {
        let digest = Sha256::new().chain_update(own_name).chain_update([0]).chain_update(bytes).finalize();
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.store(kind, extension, bytes, &name, true)
    }

    fn store(
        &self,
        kind: Kind,
        extension: &str,
        bytes: &[u8],
        name: &str,
        may_exist: bool,
    ) -> Result<String, MediaError> {
        let refused = |reason| MediaError::Forbidden { path: extension.to_owned(), reason };
        let folder = kind.folder().ok_or_else(|| refused("texts are not kept as files"))?;
        let extension = extension.to_ascii_lowercase();
        if !(1..=5).contains(&extension.len()) || !extension.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(refused("an extension is one to five letters or digits"));
        }
        let whole = format!("{folder}/{name}.{extension}");
        let same = |metadata: cap_std::fs::Metadata| metadata.is_file() && metadata.len() == bytes.len() as u64;
        if may_exist && self.dir.symlink_metadata(&whole).is_ok_and(same) {
            return Ok(format!("/{whole}"));
        }
        let part = format!("{folder}/.{}.part", Uuid::new_v4().simple());
        let written = self.write_new(&part, bytes).and_then(|()| self.publish(&part, &whole));
        if written.is_err() {
            // The first error is reported; a leftover `.part` file is never served as a medium.
            let _ = self.dir.remove_file(&part);
        }
        match written {
            // Another writer has just stored the same content.
            Err(error) if may_exist && error.kind() == io::ErrorKind::AlreadyExists => {}
            written => written.map_err(|source| disk_error("write", &format!("/{whole}"), source))?,
        }
        Ok(format!("/{whole}"))
    }

    /// Opens a file to be read; also gives its size in bytes.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] for a path or link that leads outside or is not a file; [`MediaError::NotFound`];
    /// [`MediaError::Io`].
    pub fn open_file(&self, path: &str) -> Result<(std::fs::File, u64), MediaError> {
        let relative = relative(path)?;
        let failed = |doing| move |source| disk_error(doing, path, source);
        let check = |metadata: cap_std::fs::Metadata| match metadata.is_file() {
            true => Ok(metadata.len()),
            false => Err(MediaError::Forbidden { path: path.to_owned(), reason: "it is not a file" }),
        };
        // Looked at before it is opened, since opening a pipe would wait for its other end.
        check(self.dir.metadata(&relative).map_err(failed("look at"))?)?;
        let file = self.dir.open(&relative).map_err(failed("open"))?;
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

    /// Where the file of a display path is on disk, for programs and people; it need not exist.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] for a path that leads outside, also by a link that is on the disk now.
    pub fn disk_path(&self, path: &str) -> Result<PathBuf, MediaError> {
        let relative = relative(path)?;
        match self.dir.canonicalize(&relative) {
            Ok(_) => Ok(self.root.join(relative)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.root.join(relative)),
            Err(error) => Err(disk_error("find", path, error)),
        }
    }

    /// Removes a file.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] for a path that leads outside; [`MediaError::NotFound`]; [`MediaError::Io`].
    pub fn remove(&self, path: &str) -> Result<(), MediaError> {
        let relative = relative(path)?;
        self.dir.remove_file(&relative).map_err(|source| disk_error("remove", path, source))
    }

    /// Makes sure that a file can be written, by writing a small one and taking it away again. Blocks.
    ///
    /// # Errors
    /// [`MediaError::Io`] when the disk is full, read-only or gone.
    pub fn check_writable(&self) -> Result<(), MediaError> {
        let part = format!("images/.{}.part", Uuid::new_v4().simple());
        let written = self.write_new(&part, &[0; 4096]);
        let removed = self.dir.remove_file(&part);
        written.and(removed).map_err(|source| disk_error("write", "/images", source))
    }

    fn write_new(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.dir.open_with(path, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(bytes)
    }

    /// Gives a finished file its name. A hard link fails if the name is taken; where the file system has none, the
    /// name is moved instead, after a look, which the 122 random bits of the name make safe enough.
    fn publish(&self, part: &str, whole: &str) -> io::Result<()> {
        match self.dir.hard_link(part, &self.dir, whole) {
            Ok(()) => self.dir.remove_file(part),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if self.dir.try_exists(whole)? => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => self.dir.rename(part, &self.dir, whole),
        }
    }
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

/// The path under the root, with `/` between names, or why there is none.
fn relative(path: &str) -> Result<String, MediaError> {
    let refused = |reason| MediaError::Forbidden { path: path.to_owned(), reason };
    let decoded = percent_decode_str(path).decode_utf8().map_err(|_| refused("its name is not text"))?;
    if has_escape(&decoded) {
        return Err(refused("it is percent-encoded more than once"));
    }
    if decoded.chars().any(char::is_control) {
        return Err(refused("it holds a control character"));
    }
    if decoded.contains('\\') {
        return Err(refused("it holds a backslash"));
    }
    if decoded.contains(':') {
        return Err(refused("it names a drive or an address"));
    }
    let mut names: Vec<&str> = Vec::new();
    for name in decoded.split('/').map(str::trim) {
        match name {
            "" | "." => {}
            "public" if names.is_empty() => {}
            dots if dots.bytes().all(|byte| byte == b'.') => return Err(refused("it leads upwards")),
            name => names.push(name),
        }
    }
    if names.is_empty() {
        return Err(refused("it names no file"));
    }
    Ok(names.join("/"))
}

/// True when decoding once more would change the text.
fn has_escape(text: &str) -> bool {
    text.as_bytes().windows(3).any(|three| match three {
        [b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    })
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
