//! The repositories of a fake Hub, and what goes wrong with their files.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// What goes wrong with the content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A status with these headers, and nothing else.
    Status(u16, Vec<(String, String)>),
    /// The connection breaks after so many bytes of the reply.
    Cut(usize),
    /// So many bytes of the reply, then nothing, ever.
    Stall(usize),
    /// So many bytes of the reply, and the rest when [`WeightsHub::release`] is called.
    Hold(usize),
    /// Other bytes of the same length.
    OtherBytes,
    /// Fewer bytes, announced as such.
    Shorter(usize),
    /// The whole file, whatever range is asked for.
    NoRange,
    /// The file is gone.
    Gone,
    /// The Hub announces another hash than it listed.
    OtherTag,
}

impl Trouble {
    pub fn status(status: u16) -> Trouble {
        Trouble::Status(status, Vec::new())
    }

    pub fn too_many(retry_after: &str) -> Trouble {
        Trouble::Status(429, vec![("retry-after".to_owned(), retry_after.to_owned())])
    }
}

/// Who may read a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Access {
    #[default]
    Everybody,
    /// Those with this token; others are not told that it exists.
    Private(String),
    /// Those with this token; others are told to accept the conditions.
    Gated(String),
}

#[derive(Debug, Clone)]
pub struct Weights {
    pub content: Bytes,
    /// Whether it is stored as a large file: named by its SHA-256 and kept at the other host.
    pub is_large: bool,
}

#[derive(Debug, Clone, Default)]
pub struct WeightsRepo {
    pub id: String,
    /// Branches, tags and what commit they are.
    pub revisions: BTreeMap<String, String>,
    /// The files of each commit, by path.
    pub commits: BTreeMap<String, BTreeMap<String, Weights>>,
    pub access: Access,
    pub card: Value,
    pub pipeline_tag: Option<String>,
    /// What a listing has in place of its files.
    pub tree: Option<Vec<Value>>,
    /// Entries of a page.
    pub page: usize,
    /// Whether a listing goes on for ever.
    pub endless: bool,
}

impl WeightsRepo {
    /// A repository whose `main` is one commit without files.
    pub fn new(id: &str) -> WeightsRepo {
        let commit = commit(id);
        WeightsRepo {
            id: id.to_owned(),
            revisions: BTreeMap::from([("main".to_owned(), commit.clone())]),
            commits: BTreeMap::from([(commit, BTreeMap::new())]),
            card: json!({"license": "mit"}),
            page: 2,
            ..WeightsRepo::default()
        }
    }

    /// A file in git.
    pub fn file(self, path: &str, content: impl Into<Bytes>) -> WeightsRepo {
        self.with(path, Weights { content: content.into(), is_large: false })
    }

    /// A large file.
    pub fn large(self, path: &str, content: impl Into<Bytes>) -> WeightsRepo {
        self.with(path, Weights { content: content.into(), is_large: true })
    }

    fn with(mut self, path: &str, weights: Weights) -> WeightsRepo {
        if let Some(files) = self.commits.values_mut().next_back() {
            files.insert(path.to_owned(), weights);
        }
        self
    }

    /// A later commit with the same files, which `main` is from then on.
    pub fn next(mut self, name: &str) -> WeightsRepo {
        let files = self.revisions.get("main").and_then(|commit| self.commits.get(commit)).cloned().unwrap_or_default();
        // Files are added to the commit with the greatest name.
        let commit = format!("ffffff{}", commit(name).get(6..).unwrap_or_default());
        self.commits.insert(commit.clone(), files);
        self.revisions.insert("main".to_owned(), commit);
        self
    }

    /// The commit that `main` is.
    pub fn main(&self) -> String {
        self.revisions.get("main").cloned().unwrap_or_default()
    }
}

/// Forty hexadecimal digits that depend on a name.
pub fn commit(name: &str) -> String {
    hex(&Sha1::digest(name))
}

/// The id that git gives a content.
pub fn git_oid(content: &[u8]) -> String {
    hex(&Sha1::new().chain_update(format!("blob {}\0", content.len())).chain_update(content).finalize())
}

pub fn sha256(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// So many bytes that depend on their place, so that a piece in the wrong place is noticed.
pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (*state >> 56) as u8
    };
    (0..length).map(|_| next(&mut state)).collect()
}
