//! Links to files that open without a token until they expire: a path with its time and a signature over both.
//!
//! A chat front end shows the pictures that an answer links to, and sends no token for them. Whoever has a link has the file, and no
//! other; what is signed is the path and the time alone, so it is good for whoever is given it.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use axum::http::Uri;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use jarvis_net::Secret;
use sha2::{Digest as _, Sha256};

use crate::runs::now_ms;

/// The bytes of a key.
pub(crate) const KEY: usize = 32;

/// Signs links and knows those that it signed.
#[derive(Clone)]
pub struct LinkKey([u8; KEY]);

impl std::fmt::Debug for LinkKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkKey")
    }
}

impl LinkKey {
    /// A key that is forgotten with this process, and its links with it.
    pub fn random() -> LinkKey {
        let mut bytes = [0; KEY];
        // Each has 122 random bits.
        for half in bytes.chunks_mut(KEY / 2) {
            half.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        }
        LinkKey(bytes)
    }

    /// A key made of a secret text.
    pub fn of(secret: &Secret) -> LinkKey {
        LinkKey(Sha256::digest(secret.expose()).into())
    }

    /// The key that a file holds, which is made where it is missing, for its owner alone. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read or made, or holds no key.
    pub fn kept_in(file: &Path) -> io::Result<LinkKey> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(file) {
            Ok(mut made) => made.write_all(&LinkKey::random().0).and_then(|()| made.sync_all())?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let held = std::fs::read(file)?;
        let key =
            held.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it holds no key; remove it"))?;
        Ok(LinkKey(key))
    }

    fn mac(&self, path: &str, expires: u64) -> Hmac<Sha256> {
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.0).expect("a key may have any length");
        mac.update(b"jarvis link 1\n");
        mac.update(expires.to_string().as_bytes());
        mac.update(b"\n");
        mac.update(path.as_bytes());
        mac
    }

    /// The path as a link that is good for so long.
    pub(crate) fn sign(&self, path: &str, good_for: Duration) -> String {
        let expires = now_ms() / 1000 + good_for.as_secs();
        let signature = URL_SAFE_NO_PAD.encode(self.mac(path, expires).finalize().into_bytes());
        format!("{path}?expires={expires}&signature={signature}")
    }

    /// Whether a request comes by a link that was signed here and is still good.
    pub(crate) fn is_good(&self, uri: &Uri) -> bool {
        let query = uri.query().unwrap_or_default();
        let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let (Some(expires), Some(signature)) = (value("expires").and_then(|at| at.parse().ok()), value("signature"))
        else {
            return false;
        };
        let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return false };
        now_ms() / 1000 < expires && self.mac(uri.path(), expires).verify_slice(&signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_good_for_its_file_and_its_time_alone() {
        let key = LinkKey::random();
        let link = key.sign("/images/a.png", Duration::from_secs(60));
        let good = |key: &LinkKey, link: &str| key.is_good(&link.parse().unwrap());
        assert!(good(&key, &link), "{link}");
        let (path, query) = link.split_once('?').unwrap();
        let (expires, signature) = query.split_once("&signature=").unwrap();
        for (bad, why) in [
            (format!("/images/b.png?{query}"), "another file"),
            (format!("{path}?{expires}0&signature={signature}"), "another time"),
            (format!("{path}?{expires}&signature={}", &signature[1..]), "a part of the signature"),
            (format!("{path}?{expires}"), "none"),
            (format!("{path}?expires=x&signature={signature}"), "no time"),
            (format!("{path}?{expires}&signature=%00"), "no base64"),
            (key.sign(path, Duration::ZERO), "its time is over"),
        ] {
            assert!(!good(&key, &bad), "{why}: {bad}");
        }
        assert!(!good(&LinkKey::random(), &link), "another key");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("link.key");
        let kept = LinkKey::kept_in(&file).unwrap();
        assert!(good(&LinkKey::kept_in(&file).unwrap(), &kept.sign("/images/a.png", Duration::from_secs(60))));
        std::fs::write(&file, "short").unwrap();
        assert!(LinkKey::kept_in(&file).is_err());
    }
}
