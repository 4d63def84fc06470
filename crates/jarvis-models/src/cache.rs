//! The folder that the Hub's programs share, in their layout: `models--org--name/{blobs,refs,snapshots/<commit>}`, links from
//! snapshots to blobs, `.no_exist` and `.locks`. Whatever they wrote is found here, and what jarvis writes is found by them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ids::{BlobId, Commit, FilePath, RepoId, Revision};

/// See <https://bford.info/cachedir/>.
const TAG: &str =
    "Signature: 8a477f597d28d172789f06886806bc55\n# This file is a cache directory tag created by jarvis.\n";
/// Longest reference that is read, in bytes: a commit and blanks.
const MAX_REFERENCE: u64 = 128;
/// Largest listing of a commit that is read, in bytes.
const MAX_LISTING: u64 = 16 << 20;
/// Folders below a snapshot that are looked into.
const MAX_DEPTH: usize = 6;
/// Files of a snapshot that are looked at.
const MAX_FILES: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    pub fn new(root: impl Into<PathBuf>) -> Cache {
        Cache { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn repo(&self, repo: &RepoId) -> RepoFolder {
        let name = repo.folder();
        RepoFolder { locks: self.root.join(".locks").join(&name), path: self.root.join(name) }
    }

    /// Marks the folder as a cache, so that backups leave it out, as the Hub's library does.
    pub(crate) fn tag(&self) {
        let path = self.root.join("CACHEDIR.TAG");
        if !path.exists() {
            // A cache without a tag works as well.
            let _ = fs::create_dir_all(&self.root).and_then(|()| fs::write(path, TAG));
        }
    }

    /// The repositories that have a folder, by name.
    pub fn repos(&self) -> Vec<RepoId> {
        let mut repos: Vec<RepoId> = names(&self.root).iter().filter_map(|name| RepoId::of_folder(name)).collect();
        repos.sort();
        repos
    }

    /// A blob of that content in another repository. Only the names of SHA-256 say enough for that.
    pub(crate) fn same_blob(&self, blob: &BlobId, size: u64, except: &RepoFolder) -> Option<PathBuf> {
        let BlobId::Sha256(name) = blob else { return None };
        let folders = self.repos().into_iter().map(|repo| self.repo(&repo)).filter(|folder| folder != except);
        folders
            .map(|folder| folder.path.join("blobs").join(name))
            .find(|path| fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() == size))
    }
}

/// The folder of one repository. It need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoFolder {
    path: PathBuf,
    locks: PathBuf,
}

impl RepoFolder {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn blob(&self, blob: &BlobId) -> PathBuf {
        self.path.join("blobs").join(blob.as_str())
    }

    /// A download that has not ended.
    pub fn part(&self, blob: &BlobId) -> PathBuf {
        self.path.join("blobs").join(format!("{blob}.incomplete"))
    }

    /// Whoever downloads the blob holds a lock on this file.
    pub fn lock(&self, blob: &BlobId) -> PathBuf {
        self.locks.join(format!("{blob}.lock"))
    }

    pub fn snapshot(&self, commit: &Commit) -> PathBuf {
        self.path.join("snapshots").join(commit.as_str())
    }

    pub fn snapshots(&self) -> Vec<Commit> {
        names(&self.path.join("snapshots")).iter().filter_map(|name| Commit::new(name).ok()).collect()
    }

    /// The commit that a branch or tag was when somebody last asked the Hub.
    pub fn reference(&self, revision: &Revision) -> Option<Commit> {
        if let Some(commit) = revision.commit() {
            return Some(commit);
        }
        let path = self.path.join("refs").join(revision.as_str());
        let short = fs::metadata(&path).is_ok_and(|data| data.len() <= MAX_REFERENCE);
        let text = short.then(|| fs::read_to_string(&path).ok())??;
        Commit::new(text.trim()).ok()
    }

    /// Notes what commit a branch or tag is. A commit needs no note.
    pub(crate) fn set_reference(&self, revision: &Revision, commit: &Commit) -> io::Result<()> {
        if revision.commit().is_some() || self.reference(revision).as_ref() == Some(commit) {
            return Ok(());
        }
        let path = self.path.join("refs").join(revision.as_str());
        let folder = path.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder)?;
        // Replaced whole: others read it at any time.
        let file = new_file(folder)?;
        fs::write(file.path(), commit.as_str())?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Notes that a commit has no such file, which saves other programs a question.
    pub(crate) fn set_absent(&self, commit: &Commit, file: &FilePath) -> io::Result<()> {
        let path = file.under(&self.path.join(".no_exist").join(commit.as_str()));
        fs::create_dir_all(path.parent().unwrap_or(&self.path))?;
        fs::OpenOptions::new().create(true).append(true).open(path).map(drop)
    }

    pub fn is_known_absent(&self, commit: &Commit, file: &FilePath) -> bool {
        file.under(&self.path.join(".no_exist").join(commit.as_str())).is_file()
    }

    /// Names and sizes of all files of a commit, where the Hub's library noted them; it does since version 2.
    pub(crate) fn listing(&self, commit: &Commit) -> Option<HashMap<FilePath, u64>> {
        let path = self.path.join("trees").join(format!("{commit}.json"));
        let small = fs::metadata(&path).is_ok_and(|data| data.len() <= MAX_LISTING);
        let listing: Listing = serde_json::from_slice(&small.then(|| fs::read(&path).ok())??).ok()?;
        let files = listing.files.into_iter().filter_map(|(path, file)| Some((FilePath::new(&path).ok()?, file.size)));
        (listing.format_version == 1).then(|| files.collect())
    }

    /// Puts a blob into a snapshot. True when the link was made, false when the file was there.
    ///
    /// A relative link where the system has links, else a second name of the same file, else a copy.
    pub(crate) fn link(&self, commit: &Commit, file: &FilePath, blob: &BlobId) -> io::Result<bool> {
        let from = self.blob(blob);
        let to = file.under(&self.snapshot(commit));
        if self.blob_of(&to).as_ref() == Some(blob) && to.exists() {
            return Ok(false);
        }
        if to.exists() && fs::symlink_metadata(&to)?.is_file() {
            // A copy on a system without links. Its content is that of its commit.
            return Ok(false);
        }
        fs::create_dir_all(to.parent().unwrap_or(&self.path))?;
        let folder = tempfile::Builder::new().prefix(".jarvis-").tempdir_in(to.parent().unwrap_or(&self.path))?;
        let new = folder.path().join("link");
        let up = "../".repeat(file.depth() + 2);
        if symlink(Path::new(&format!("{up}blobs/{blob}")), &new).is_err() && fs::hard_link(&from, &new).is_err() {
            fs::copy(&from, &new)?;
        }
        fs::rename(&new, &to)?;
        Ok(true)
    }

    /// The blob that a link of a snapshot points at, whether or not it exists.
    pub(crate) fn blob_of(&self, link: &Path) -> Option<BlobId> {
        let target = fs::read_link(link).ok()?;
        BlobId::new(target.file_name()?.to_str()?).ok()
    }

    /// Every blob that some snapshot refers to.
    pub(crate) fn referenced(&self) -> HashSet<BlobId> {
        let mut found = HashSet::new();
        for commit in self.snapshots() {
            let folder = self.snapshot(&commit);
            found.extend(files(&folder).iter().filter_map(|file| self.blob_of(&file.under(&folder))));
        }
        found
    }

    /// Removes what is empty of it: folders of snapshots, and in the end the whole.
    pub(crate) fn remove_empty(&self, commit: Option<&Commit>) {
        if let Some(commit) = commit {
            remove_empty_folders(&self.snapshot(commit), MAX_DEPTH);
            let absent = self.path.join(".no_exist").join(commit.as_str());
            if !self.snapshot(commit).exists() && absent.exists() {
                let _ = fs::remove_dir_all(absent);
            }
        }
        let kept: HashSet<Commit> = self.snapshots().into_iter().collect();
        let references = self.path.join("refs");
        for file in files(&references) {
            let path = file.under(&references);
            let commit = fs::read_to_string(&path).ok().and_then(|text| Commit::new(text.trim()).ok());
            // A reference to nothing would make others believe that they are up to date.
            if commit.is_some_and(|commit| !kept.contains(&commit)) {
                let _ = fs::remove_file(path);
            }
        }
        for name in ["snapshots", "blobs", "refs", ".no_exist"] {
            remove_empty_folders(&self.path.join(name), MAX_DEPTH);
        }
        // Fails unless it is empty.
        let _ = fs::remove_dir(&self.path);
    }
}

#[derive(Deserialize)]
struct Listing {
    format_version: u32,
    files: HashMap<String, ListedFile>,
}

#[derive(Deserialize)]
struct ListedFile {
    size: u64,
}

/// The files below a folder, links included, whether or not their targets exist.
pub(crate) fn files(folder: &Path) -> Vec<FilePath> {
    fn collect(folder: &Path, before: &str, depth: usize, found: &mut Vec<FilePath>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if before.is_empty() { name } else { format!("{before}/{name}") };
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if depth > 0 {
                    collect(&entry.path(), &path, depth - 1, found);
                }
            } else if let (Ok(path), true) = (FilePath::new(&path), found.len() < MAX_FILES) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(folder, "", MAX_DEPTH, &mut found);
    found.sort();
    found
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn remove_empty_folders(folder: &Path, depth: usize) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| depth > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_empty_folders(&entry.path(), depth - 1);
    }
    // Fails unless it is empty.
    let _ = fs::remove_dir(folder);
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(windows)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}

/// A temporary file that is as readable as other new files: those of `tempfile` are private otherwise.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".jarvis-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Less what the umask takes away.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> FilePath {
        FilePath::new(text).unwrap()
    }

    #[test]
    fn the_layout_is_the_hubs() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::new(root.path());
        let repo = RepoId::new("org/name").unwrap();
        let folder = cache.repo(&repo);
        let (commit, blob) = (Commit::new(&"c".repeat(40)).unwrap(), BlobId::new(&"b".repeat(64)).unwrap());
        fs::create_dir_all(folder.path().join("blobs")).unwrap();
        fs::write(folder.blob(&blob), "weights").unwrap();
        assert!(folder.link(&commit, &file("onnx/model.onnx"), &blob).unwrap());
        assert!(!folder.link(&commit, &file("onnx/model.onnx"), &blob).unwrap(), "it is there");
        folder.set_reference(&Revision::main(), &commit).unwrap();
        folder.set_reference(&Revision::new(commit.as_str()).unwrap(), &commit).unwrap();
        folder.set_absent(&commit, &file("a/b.json")).unwrap();

        let at = |path: &str| root.path().join("models--org--name").join(path);
        let link = at(&format!("snapshots/{commit}/onnx/model.onnx"));
        assert_eq!(fs::read_to_string(&link).unwrap(), "weights");
        #[cfg(unix)]
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(&format!("../../../blobs/{blob}")));
        assert_eq!(fs::read_to_string(at("refs/main")).unwrap(), commit.as_str());
        assert_eq!(names(&at("refs")), ["main"]);
        assert!(
            at(&format!(".no_exist/{commit}/a/b.json")).is_file() && folder.is_known_absent(&commit, &file("a/b.json"))
        );
        assert_eq!(folder.lock(&blob), root.path().join(format!(".locks/models--org--name/{blob}.lock")));
        assert_eq!(folder.part(&blob), at(&format!("blobs/{blob}.incomplete")));
        assert_eq!((cache.repos(), folder.snapshots()), (vec![repo], vec![commit.clone()]));
        assert_eq!(folder.reference(&Revision::main()), Some(commit.clone()));
        assert_eq!(folder.referenced(), HashSet::from([blob.clone()]));

        fs::remove_file(link).unwrap();
        fs::remove_file(folder.blob(&blob)).unwrap();
        folder.remove_empty(Some(&commit));
        assert!(!folder.path().exists(), "nothing is left of it");
    }

    #[test]
    fn references_that_are_no_commits_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let folder = Cache::new(root.path()).repo(&RepoId::new("a/b").unwrap());
        fs::create_dir_all(folder.path().join("refs")).unwrap();
        for text in ["", "../../x", &"c".repeat(5000)] {
            fs::write(folder.path().join("refs/main"), text).unwrap();
            assert_eq!(folder.reference(&Revision::main()), None);
        }
    }
}
