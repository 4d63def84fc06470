//! Vectors on disk, found by the text they are of. One file for each embedder and kind of text.
//!
//! A file is a magic word, the length of a header in JSON, the header, the SHA-256 of each text, and the vectors in 32-bit
//! little-endian numbers, in the same order. The header names the embedder and holds a checksum of the rest, so that a file
//! that was truncated or changed is rejected.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jarvis_store::files::{FileError, replace_derived};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::text_hash;

const MAGIC: &[u8; 8] = b"jarvisV\n";

const FORMAT: u32 = 1;

const HASH: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("cannot read {}", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} is damaged: {reason}", .path.display())]
    Damaged { path: PathBuf, reason: String },
    /// The file is whole, but of another embedder or edition.
    #[error("the vectors in {} are not of this embedder: {reason}", .path.display())]
    Other { path: PathBuf, reason: String },
    #[error("a vector of {found} components came, and those that are kept have {expected}")]
    Lengths { found: usize, expected: usize },
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: u32,
    embedder: String,
    dimension: usize,
    entries: usize,
    #[serde(default)]
    catalogue: Option<String>,
    /// The SHA-256 of all that follows, in hexadecimal.
    sha256: String,
}

#[derive(Debug)]
pub struct VectorCache {
    path: Option<PathBuf>,
    embedder: String,
    dimension: usize,
    catalogue: Option<String>,
    places: HashMap<[u8; HASH], usize>,
    hashes: Vec<[u8; HASH]>,
    values: Vec<f32>,
    saved: usize,
}

impl VectorCache {
    pub(super) fn unkept(embedder: &str) -> VectorCache {
        VectorCache {
            path: None,
            embedder: embedder.to_owned(),
            dimension: 0,
            catalogue: None,
            places: HashMap::new(),
            hashes: Vec::new(),
            values: Vec::new(),
            saved: 0,
        }
    }

    /// No vectors yet, to be kept in the embedder's file for texts of this kind, whatever stands there now.
    pub fn empty(folder: &Path, kind: &str, embedder: &str) -> VectorCache {
        VectorCache { path: Some(file_of(folder, kind, embedder)), ..VectorCache::unkept(embedder) }
    }

    /// Reads the embedder's file for texts of this kind; a missing one holds nothing. `dimension` is the length of the
    /// embedder's vectors where it is known.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or is of another embedder.
    pub fn open(
        folder: &Path,
        kind: &str,
        embedder: &str,
        dimension: Option<usize>,
    ) -> Result<VectorCache, CacheError> {
        let mut cache = VectorCache::empty(folder, kind, embedder);
        let path = file_of(folder, kind, embedder);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(cache),
            Err(source) => return Err(CacheError::Read { path, source }),
        };
        let damaged = |reason: &str| CacheError::Damaged { path: path.clone(), reason: reason.to_owned() };
        let other = |reason: String| CacheError::Other { path: path.clone(), reason };
        let rest = bytes.strip_prefix(MAGIC.as_slice()).ok_or_else(|| damaged("it does not start as such files do"))?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(|| damaged("it ends too early"))?;
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (header, rest) = rest.split_at_checked(length).ok_or_else(|| damaged("it ends too early"))?;
        let header: Header = serde_json::from_slice(header).map_err(|_| damaged("its header cannot be read"))?;
        if header.format != FORMAT {
            return Err(other(format!("the file's format is {}, and {FORMAT} is known", header.format)));
        }
        if header.sha256 != format!("{:x}", Sha256::digest(rest)) {
            return Err(damaged("its checksum does not fit"));
        }
        if header.embedder != embedder {
            return Err(other(format!("they are of `{}`, not of `{embedder}`", header.embedder)));
        }
        if let Some(expected) = dimension.filter(|expected| *expected != header.dimension && header.entries > 0) {
            return Err(other(format!("they have {} components, not {expected}", header.dimension)));
        }
        let cut = header.entries.checked_mul(HASH).and_then(|hashes| rest.split_at_checked(hashes));
        let (hashes, values) = cut.ok_or_else(|| damaged("it ends too early"))?;
        let wanted = header.entries.checked_mul(header.dimension).and_then(|count| count.checked_mul(4));
        if wanted != Some(values.len()) {
            return Err(damaged("it has another length than its header says"));
        }
        cache.dimension = header.dimension;
        cache.catalogue = header.catalogue;
        cache.hashes = hashes.as_chunks::<HASH>().0.to_vec();
        cache.places = cache.hashes.iter().enumerate().map(|(place, hash)| (*hash, place)).collect();
        cache.values = values.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if !cache.values.iter().all(|value| value.is_finite()) {
            return Err(damaged("it holds a number that is not finite"));
        }
        cache.saved = cache.hashes.len();
        Ok(cache)
    }

    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    pub fn holds(&self, text: &str) -> bool {
        self.places.contains_key(&text_hash(text))
    }

    pub fn vector(&self, text: &str) -> Option<&[f32]> {
        let place = *self.places.get(&text_hash(text))?;
        self.values.get(place * self.dimension..(place + 1) * self.dimension)
    }

    pub fn catalogue(&self) -> Option<&str> {
        self.catalogue.as_deref()
    }

    pub(super) fn set_catalogue(&mut self, hash: &str) {
        self.catalogue = Some(hash.to_owned());
    }

    /// Takes the vectors of texts, in their order; the first of all sets the length. A text that is there stays as it is.
    ///
    /// # Errors
    /// When a vector has another length; then none is taken.
    pub fn add(&mut self, texts: &[String], vectors: &[Vec<f32>]) -> Result<(), CacheError> {
        let expected = match (self.hashes.is_empty(), vectors.first()) {
            (true, Some(first)) => first.len(),
            (true, None) | (false, _) => self.dimension,
        };
        if let Some(other) = vectors.iter().find(|vector| vector.len() != expected) {
            return Err(CacheError::Lengths { found: other.len(), expected });
        }
        self.dimension = expected;
        for (text, vector) in texts.iter().zip(vectors) {
            let hash = text_hash(text);
            if !self.places.contains_key(&hash) {
                self.places.insert(hash, self.hashes.len());
                self.hashes.push(hash);
                self.values.extend(vector);
            }
        }
        Ok(())
    }

    /// Whether so much is new that it should be saved: an eighth. So many small additions cost few writes.
    pub(super) fn is_due(&self) -> bool {
        self.hashes.len() - self.saved > self.saved / 8
    }

    /// Writes the file, where there is one and something is new. A reader sees the old file or the new one.
    ///
    /// # Errors
    /// When it cannot be written; the old file is then as it was.
    pub fn save(&mut self) -> Result<(), FileError> {
        let Some(path) = self.path.as_deref().filter(|_| self.hashes.len() > self.saved) else { return Ok(()) };
        let mut rest = Vec::with_capacity(self.hashes.len() * HASH + self.values.len() * 4);
        rest.extend(self.hashes.iter().flatten());
        rest.extend(self.values.iter().flat_map(|value| value.to_le_bytes()));
        let header = Header {
            format: FORMAT,
            embedder: self.embedder.clone(),
            dimension: self.dimension,
            entries: self.hashes.len(),
            catalogue: self.catalogue.clone(),
            sha256: format!("{:x}", Sha256::digest(&rest)),
        };
        let header = serde_json::to_vec(&header).expect("texts and numbers are JSON");
        let length = u32::try_from(header.len()).unwrap_or(u32::MAX).to_le_bytes();
        replace_derived(path, &[MAGIC.as_slice(), &length, &header, &rest].concat())?;
        self.saved = self.hashes.len();
        Ok(())
    }
}

/// The file of an embedder: its name for people, and a part of its id's hash, so that no two embedders share one.
fn file_of(folder: &Path, kind: &str, embedder: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    let name: String = embedder.chars().take(40).map(plain).collect();
    let hash = format!("{:x}", Sha256::digest(embedder));
    let hash = hash.get(..16).unwrap_or_default();
    folder.join(format!("{}-{hash}.{kind}", name.trim_matches(['_', '.'])))
}
