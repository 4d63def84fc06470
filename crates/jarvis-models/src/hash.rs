//! The two hashes by which the Hub names content.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::ids::BlobId;

const BUFFER: usize = 1 << 20;

/// A hash of the kind that a blob is named by, being computed.
#[derive(Clone)]
pub(crate) enum Hasher {
    Sha256(Sha256),
    Git(Sha1),
}

impl Hasher {
    /// For content of `size` bytes; git hashes the size first.
    pub(crate) fn new(blob: &BlobId, size: u64) -> Hasher {
        match blob {
            BlobId::Sha256(_) => Hasher::Sha256(Sha256::new()),
            BlobId::Git(_) => Hasher::Git(Sha1::new_with_prefix(format!("blob {size}\0"))),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Sha256(hasher) => hasher.update(bytes),
            Hasher::Git(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> BlobId {
        match self {
            Hasher::Sha256(hasher) => BlobId::Sha256(hex(&hasher.finalize())),
            Hasher::Git(hasher) => BlobId::Git(hex(&hasher.finalize())),
        }
    }

    /// Reads to the end; the number of bytes.
    pub(crate) fn read(&mut self, mut reader: impl Read, mut report: impl FnMut(u64)) -> io::Result<u64> {
        let mut buffer = vec![0; BUFFER];
        let mut total = 0;
        loop {
            let read = reader.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { return Ok(total) };
            self.update(bytes);
            total += read as u64;
            report(total);
        }
    }
}

/// The hash of a file, of the kind of `like`, with its size. `report` gets the bytes read so far.
pub(crate) fn of_file(path: &Path, like: &BlobId, report: impl FnMut(u64)) -> io::Result<(BlobId, u64)> {
    let file = File::open(path)?;
    let mut hasher = Hasher::new(like, file.metadata()?.len());
    let size = hasher.read(file, report)?;
    Ok((hasher.finish(), size))
}

/// The SHA-256 of a file.
pub(crate) fn sha256(path: &Path, report: impl FnMut(u64)) -> io::Result<BlobId> {
    Ok(of_file(path, &BlobId::Sha256(String::new()), report)?.0)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_sha256sum_and_git() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, "hello\n").unwrap();
        let sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        assert_eq!(sha256(&path, |_| {}).unwrap().as_str(), sha);
        let git = BlobId::new("ce013625030ba8dba906f756967f9e9ca394464a").unwrap();
        assert_eq!(of_file(&path, &git, |_| {}).unwrap(), (git, 6));
    }
}
