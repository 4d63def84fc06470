//! HTTPS: a certificate and its key, and connections that speak by them, HTTP/2 among them.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::ServeError;

/// How long a client may take to agree on how to speak.
pub(crate) const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

/// What a client that speaks HTTP/2 calls it.
pub(crate) const HTTP_2: &[u8] = b"h2";

/// A certificate chain with its key. Clones are the same one, also when it is renewed.
#[derive(Clone)]
pub struct Tls(Arc<RwLock<Arc<ServerConfig>>>);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

/// *ring* has neither P-521 nor RSA keys above 4096 bits.
const MISFIT: &str = "the certificate and the key do not fit, or are of a kind that is not spoken here (RSA of 2048 to 4096 bits, \
    P-256, P-384 and Ed25519 are)";

impl Tls {
    /// Of PEM files: the certificates, the server's own first, and its private key.
    ///
    /// # Errors
    /// [`ServeError::Tls`], which says what cannot be used.
    pub fn of_pem(certificates: &[u8], key: &[u8]) -> Result<Tls, ServeError> {
        let refused = |what: &str, why: &dyn std::fmt::Display| ServeError::Tls(format!("{what}: {why}"));
        let chain = CertificateDer::pem_slice_iter(certificates).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| refused("the certificates cannot be read", &error))?;
        if chain.is_empty() {
            return Err(ServeError::Tls("the file of certificates holds none".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| refused("the key cannot be read", &error))?;
        // Two providers may be in a build; this is the one that the client uses.
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| refused("TLS cannot be spoken", &error))?
            .with_no_client_auth()
            .with_single_cert(chain, key);
        let mut config = config.map_err(|error| refused(MISFIT, &error))?;
        config.alpn_protocols = vec![HTTP_2.to_vec(), b"http/1.1".to_vec()];
        Ok(Tls(Arc::new(RwLock::new(Arc::new(config)))))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config())
    }

    fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Speaks by the certificate of another from now on; connections that there are go on.
    pub(crate) fn become_as(&self, other: &Tls) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = other.config();
    }
}

#[cfg(test)]
mod tests {
    use super::Tls;

    #[test]
    fn what_cannot_be_used_is_told() {
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (certificate, key) = (own.cert.pem(), own.signing_key.serialize_pem());
        for (certificate, key, want) in [
            (certificate.as_str(), key.as_str(), None),
            ("", key.as_str(), Some("holds none")),
            (certificate.as_str(), "", Some("the key cannot be read")),
            (certificate.as_str(), other.signing_key.serialize_pem().as_str(), Some("do not fit")),
        ] {
            let made = Tls::of_pem(certificate.as_bytes(), key.as_bytes());
            let told = made.err().map(|error| error.to_string());
            assert_eq!(told.is_some(), want.is_some(), "{told:?}");
            assert!(want.is_none_or(|want| told.as_ref().is_some_and(|told| told.contains(want))), "{told:?}");
        }
    }
}
