//! What a medium holds, as its SHA-256.

use std::fmt;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The SHA-256 of a medium's bytes, shown in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ContentId([u8; 32]);

impl ContentId {
    pub(super) fn of(bytes: &[u8]) -> ContentId {
        ContentId(Sha256::digest(bytes).into())
    }

    pub(super) fn finish(hasher: Sha256) -> ContentId {
        ContentId(hasher.finalize().into())
    }

    /// That of everything that a reader gives.
    pub(super) fn read(mut reader: impl Read) -> io::Result<ContentId> {
        let mut hasher = Sha256::new();
        io::copy(&mut reader, &mut hasher)?;
        Ok(ContentId::finish(hasher))
    }

    /// The file of this content under the public root, and its key in a store: `sha256/ab/cd…`.
    pub(super) fn file(&self) -> String {
        let hexadecimal = self.to_string();
        let (first, rest) = hexadecimal.split_at(2);
        format!("{FOLDER}/{first}/{rest}")
    }

    /// Reads 64 hexadecimal digits.
    #[cfg(any(feature = "s3", test))]
    pub(super) fn parse(text: &str) -> Option<ContentId> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        Some(ContentId(bytes))
    }
}

/// The folder of contents, and of what is being written.
pub(super) const FOLDER: &str = "sha256";

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
