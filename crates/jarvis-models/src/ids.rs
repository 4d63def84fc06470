//! Names that become parts of paths and addresses. A value of these types is safe to join to a folder: what a server or a person
//! sends is checked once, when it is made.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Longest file name of common file systems, in bytes.
const MAX_COMPONENT: usize = 255;
/// Longest path inside a repository, in bytes. Room is left for the folder of the cache.
const MAX_PATH: usize = 1024;
/// Longest name of a repository, as the Hub has it.
const MAX_REPO: usize = 96;
const MAX_REVISION: usize = 200;

/// Why a text is not the name that it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidName(pub(crate) String);

macro_rules! text_type {
    ($name:ident) => {
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<$name, InvalidName> {
                $name::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }
    };
}

/// A model repository: `org/name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoId(String);

text_type!(RepoId);

impl RepoId {
    /// # Errors
    /// When the Hub would not have a repository of that name.
    pub fn new(text: &str) -> Result<RepoId, InvalidName> {
        let is_part = |part: &str| {
            !part.is_empty()
                && part.len() <= MAX_REPO
                && part.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'))
                && !part.starts_with(['-', '.'])
                && !part.ends_with(['-', '.'])
                && !part.contains("--")
                && !part.contains("..")
        };
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() != 2 || !parts.iter().all(|part| is_part(part)) {
            return Err(InvalidName(format!("`{}` is not a repository such as `org/name`", shown(text))));
        }
        Ok(RepoId(text.to_owned()))
    }

    /// Name of its folder in the cache.
    pub fn folder(&self) -> String {
        format!("models--{}", self.0.replace('/', "--"))
    }

    /// The repository that a folder of the cache belongs to.
    pub fn of_folder(name: &str) -> Option<RepoId> {
        RepoId::new(&name.strip_prefix("models--")?.replacen("--", "/", 1)).ok()
    }
}

/// A commit: 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Commit(String);

text_type!(Commit);

impl Commit {
    /// # Errors
    /// When it is not 40 lower-case hexadecimal digits.
    pub fn new(text: &str) -> Result<Commit, InvalidName> {
        if is_hex(text, 40) {
            return Ok(Commit(text.to_owned()));
        }
        Err(InvalidName(format!("`{}` is not a commit of 40 hexadecimal digits", shown(text))))
    }

    /// The first digits, for people.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

/// A branch, tag or commit as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Revision(String);

text_type!(Revision);

impl Revision {
    /// # Errors
    /// When git would not take it, or it could leave the folder of references.
    pub fn new(text: &str) -> Result<Revision, InvalidName> {
        let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b'/' | b'+');
        let parts_fit = text.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.'));
        if text.len() > MAX_REVISION || !text.bytes().all(plain) || text.contains("..") || !parts_fit {
            return Err(InvalidName(format!("`{}` is not a branch, tag or commit", shown(text))));
        }
        Ok(Revision(text.to_owned()))
    }

    pub fn main() -> Revision {
        Revision("main".to_owned())
    }

    pub fn commit(&self) -> Option<Commit> {
        Commit::new(&self.0).ok()
    }
}

/// A file inside a repository: a relative path with `/` between its parts that cannot leave the folder it is joined to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FilePath(String);

text_type!(FilePath);

impl FilePath {
    /// # Errors
    /// When the path is absolute, has a part such as `..`, or is longer than file systems take.
    pub fn new(text: &str) -> Result<FilePath, InvalidName> {
        let refused = |why: &str| Err(InvalidName(format!("the file name `{}` {why}", shown(text))));
        if text.is_empty() || text.starts_with('/') {
            return refused("is not a relative path");
        }
        if text.chars().any(|c| c.is_control() || matches!(c, '\\' | ':')) {
            return refused("has characters that file names must not have");
        }
        for part in text.split('/') {
            if matches!(part, "" | "." | "..") {
                return refused("leaves its folder");
            }
            if part.len() > MAX_COMPONENT {
                return refused("is too long");
            }
        }
        if text.len() > MAX_PATH {
            return refused("is too long");
        }
        Ok(FilePath(text.to_owned()))
    }

    /// The file below a folder.
    pub fn under(&self, folder: &Path) -> PathBuf {
        self.0.split('/').fold(folder.to_path_buf(), |path, part| path.join(part))
    }

    /// The last part.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Number of folders above it.
    pub fn depth(&self) -> usize {
        self.0.matches('/').count()
    }
}

/// What a blob is called and verified by: the SHA-256 of a large file, or the object id that git gives a small one. Both are the
/// Hub's entity tags.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum BlobId {
    /// 64 hexadecimal digits.
    Sha256(String),
    /// SHA-1 of `blob SIZE\0` and the content, 40 hexadecimal digits.
    Git(String),
}

impl BlobId {
    /// # Errors
    /// When it is neither 40 nor 64 lower-case hexadecimal digits.
    pub fn new(text: &str) -> Result<BlobId, InvalidName> {
        match text.len() {
            64 if is_hex(text, 64) => Ok(BlobId::Sha256(text.to_owned())),
            40 if is_hex(text, 40) => Ok(BlobId::Git(text.to_owned())),
            _ => Err(InvalidName(format!("`{}` is not a hash of 40 or 64 hexadecimal digits", shown(text)))),
        }
    }

    /// The id in an entity tag: `"…"` or `W/"…"`.
    pub fn of_etag(etag: &str) -> Option<BlobId> {
        BlobId::new(etag.trim().trim_start_matches("W/").trim_matches('"')).ok()
    }

    pub fn as_str(&self) -> &str {
        match self {
            BlobId::Sha256(text) | BlobId::Git(text) => text,
        }
    }

    /// With the kind of hash in front: `sha256:…`, `git-sha1:…`.
    pub fn digest(&self) -> String {
        match self {
            BlobId::Sha256(text) => format!("sha256:{text}"),
            BlobId::Git(text) => format!("git-sha1:{text}"),
        }
    }

    /// The first digits, for people.
    pub fn short(&self) -> &str {
        self.as_str().get(..12).unwrap_or(self.as_str())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<String> for BlobId {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<BlobId, InvalidName> {
        BlobId::new(&text)
    }
}

impl From<BlobId> for String {
    fn from(id: BlobId) -> String {
        match id {
            BlobId::Sha256(text) | BlobId::Git(text) => text,
        }
    }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'a'..=b'f'))
}

fn shown(text: &str) -> String {
    jarvis_net::text::shorten(text, 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_in_their_folder_are_taken() {
        let long = "x".repeat(256);
        for (path, ok) in [
            ("config.json", true),
            ("onnx/model_quantized.onnx", true),
            ("1_Pooling/config.json", true),
            ("..a/b", true),
            ("模型.json", true),
            ("", false),
            ("/etc/passwd", false),
            ("../x", false),
            ("onnx/../../x", false),
            ("a/./b", false),
            ("a//b", false),
            ("a/", false),
            ("C:x", false),
            ("a\\..\\b", false),
            ("a\nb", false),
            ("a\0b", false),
            (&long, false),
            (&format!("{long}.json"), false),
            (&"x/".repeat(600), false),
            (&format!("{}y", "x/".repeat(600)), false),
        ] {
            assert_eq!(FilePath::new(path).is_ok(), ok, "{path:?}");
        }
    }

    #[test]
    fn repositories_revisions_and_hashes_are_checked() {
        for (repo, ok) in [
            ("Xenova/detr-resnet-50", true),
            ("a/b.c_d", true),
            ("gpt2", false),
            ("a/b/c", false),
            ("../b", false),
            ("a/..", false),
            ("a/b--c", false),
            ("-a/b", false),
            ("a/b?x=1", false),
            ("a/", false),
            ("a/é", false),
        ] {
            assert_eq!(RepoId::new(repo).is_ok(), ok, "{repo}");
        }
        for (revision, ok) in [
            ("main", true),
            ("v1.0", true),
            ("refs/pr/3", true),
            ("../x", false),
            ("a/../b", false),
            ("/x", false),
            ("x/", false),
            (".git", false),
            ("a b", false),
            ("", false),
        ] {
            assert_eq!(Revision::new(revision).is_ok(), ok, "{revision}");
        }
        assert!(Commit::new(&"a".repeat(40)).is_ok() && Commit::new(&"A".repeat(40)).is_err());
        assert!(Commit::new("main").is_err());
        let sha = "0123456789abcdef".repeat(4);
        assert_eq!(BlobId::of_etag(&format!("W/\"{sha}\"")), Some(BlobId::Sha256(sha.clone())));
        assert_eq!(BlobId::of_etag(&format!("\"{}\"", "b".repeat(40))), Some(BlobId::Git("b".repeat(40))));
        assert_eq!(BlobId::of_etag("\"5f-../../x\""), None);
        let repo = RepoId::new("Xenova/detr-resnet-50").unwrap();
        assert_eq!(repo.folder(), "models--Xenova--detr-resnet-50");
        assert_eq!(RepoId::of_folder(&repo.folder()), Some(repo));
        assert_eq!(RepoId::of_folder("datasets--a--b"), None);
    }
}
