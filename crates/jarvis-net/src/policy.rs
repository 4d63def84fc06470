//! Which web addresses jarvis may fetch. Names are judged by the addresses they resolve to, at the moment of connecting.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Which web addresses may be fetched. The default is the strict one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlPolicy {
    /// Allows private, loopback and link-local hosts. Cloud metadata addresses, multicast and reserved ranges stay
    /// refused.
    pub allow_private: bool,
    /// Hosts, by name or literal address and without port, that may be fetched whatever they resolve to.
    pub allow_hosts: Vec<String>,
    /// Sends fetches through the proxy that the environment names (`HTTPS_PROXY`, `ALL_PROXY`, …). The proxy then
    /// resolves names, so that only literal addresses are checked here. Off by default: fetches go out directly.
    pub use_proxy: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("only http and https addresses are fetched, not `{0}:`")]
    Scheme(String),
    #[error("{0} holds a user name or password; such addresses are not fetched")]
    Credentials(String),
    #[error("{0} names no host")]
    NoHost(String),
    /// The host's address is private or reserved. Only its kind is told: which address a name has inside this network is
    /// nobody's business outside it.
    #[error("`{host}` is {kind}; such hosts are not fetched")]
    Refused { host: String, kind: &'static str },
    #[error("the host `{0}` has no address")]
    NoAddress(String),
    #[error("the host `{host}` cannot be found: {reason}")]
    NotFound { host: String, reason: String },
}

impl PolicyError {
    pub fn is_refusal(&self) -> bool {
        !matches!(self, PolicyError::NoAddress(_) | PolicyError::NotFound { .. })
    }

    pub fn hint(&self) -> Option<&'static str> {
        matches!(self, PolicyError::Refused { .. })
            .then_some("Add the host to the allowed hosts in the configuration if it is meant to be reached")
    }
}

/// What an address is, as far as fetching is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Public,
    /// A host of this machine or network; the word says which kind.
    Private(&'static str),
    /// An address that no fetch has business with; the word says why.
    Never(&'static str),
}

impl Reach {
    /// Classifies an address after the IANA special-purpose registries (RFC 6890 and its updates). An IPv4 address
    /// inside an IPv6 one (mapped, NAT64) counts as itself.
    pub fn of(ip: IpAddr) -> Reach {
        match ip {
            IpAddr::V4(ip) => reach_v4(ip),
            IpAddr::V6(ip) => reach_v6(ip),
        }
    }
}

fn reach_v4(ip: Ipv4Addr) -> Reach {
    let [a, b, c, d] = ip.octets();
    match (a, b, c, d) {
        (169, 254, 169, 254) | (100, 100, 100, 200) | (192, 0, 0, 192) => Reach::Never("a cloud metadata address"),
        (0, _, _, _) => Reach::Private("this host"),
        (10, _, _, _) | (172, 16..=31, _, _) | (192, 168, _, _) => Reach::Private("a private address"),
        (100, 64..=127, _, _) => Reach::Private("a carrier's private address"),
        (127, _, _, _) => Reach::Private("a loopback address"),
        (169, 254, _, _) => Reach::Private("a link-local address"),
        (192, 0, 0, _) | (192, 0, 2, _) | (192, 88, 99, _) | (198, 18..=19, _, _) | (198, 51, 100, _) => {
            Reach::Never("a reserved address")
        }
        (203, 0, 113, _) | (240..=255, _, _, _) => Reach::Never("a reserved address"),
        (224..=239, _, _, _) => Reach::Never("a multicast address"),
        _ => Reach::Public,
    }
}

fn reach_v6(ip: Ipv6Addr) -> Reach {
    if ip == Ipv6Addr::UNSPECIFIED {
        return Reach::Private("this host");
    }
    if ip == Ipv6Addr::LOCALHOST {
        return Reach::Private("a loopback address");
    }
    if let Some(inner) = ip.to_ipv4_mapped() {
        return reach_v4(inner);
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = ip.segments();
    let tail = Ipv4Addr::from((u32::from(s6) << 16) | u32::from(s7));
    match (s0, s1) {
        // The well-known NAT64 prefix: on IPv6-only networks public hosts are reached through it.
        (0x64, 0xff9b) if (s2, s3, s4, s5) == (0, 0, 0, 0) => reach_v4(tail),
        (0x64, 0xff9b) => Reach::Private("a private NAT64 address"),
        (0xfd00, 0x0ec2) if (s2, s3, s4, s5, s6, s7) == (0, 0, 0, 0, 0, 0x254) => {
            Reach::Never("a cloud metadata address")
        }
        (0xfc00..=0xfdff, _) => Reach::Private("a private address"),
        (0xfe80..=0xfebf, _) => Reach::Private("a link-local address"),
        (0xfec0..=0xfeff, _) => Reach::Private("a site-local address"),
        (0xff00..=0xffff, _) => Reach::Never("a multicast address"),
        // 6to4 and Teredo carry an IPv4 address that a relay would reach; ORCHID and documentation are no hosts.
        (0x2002, _) => Reach::Never("a 6to4 address"),
        (0x2001, 0..=0x1ff) | (0x2001, 0x0db8) | (0x3fff, 0..=0x0fff) => Reach::Never("a reserved address"),
        (0x2000..=0x3fff, _) => Reach::Public,
        _ => Reach::Never("a reserved address"),
    }
}

impl UrlPolicy {
    /// Checks what can be seen in an address before any name is resolved: scheme, credentials, a literal host.
    ///
    /// # Errors
    /// What is refused.
    pub fn check(&self, url: &Url) -> Result<(), PolicyError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PolicyError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PolicyError::Credentials(shown(url)));
        }
        match url.host() {
            None => Err(PolicyError::NoHost(shown(url))),
            Some(Host::Domain(name)) if name.trim_end_matches('.').is_empty() => Err(PolicyError::NoHost(shown(url))),
            // Judged when it is resolved.
            Some(Host::Domain(_)) => Ok(()),
            Some(Host::Ipv4(ip)) => self.check_ip(&ip.to_string(), IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => self.check_ip(&ip.to_string(), IpAddr::V6(ip)),
        }
    }

    pub fn lists(&self, host: &str) -> bool {
        let host = plain_host(host);
        self.allow_hosts.iter().any(|listed| plain_host(listed).eq_ignore_ascii_case(host))
    }

    fn check_ip(&self, host: &str, ip: IpAddr) -> Result<(), PolicyError> {
        if self.lists(host) {
            return Ok(());
        }
        match Reach::of(ip) {
            Reach::Public => Ok(()),
            Reach::Private(_) if self.allow_private => Ok(()),
            Reach::Private(kind) | Reach::Never(kind) => Err(PolicyError::Refused { host: host.to_owned(), kind }),
        }
    }

    /// The addresses among `found` that may be connected to; an error when none is left.
    fn keep(&self, host: &str, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, PolicyError> {
        let mut refusal = None;
        let mut kept = Vec::with_capacity(found.len());
        for ip in found {
            match self.check_ip(host, ip) {
                Ok(()) => kept.push(ip),
                Err(error) => refusal = Some(error),
            }
        }
        match refusal {
            Some(error) if kept.is_empty() => Err(error),
            Some(_) | None if !kept.is_empty() => Ok(kept),
            Some(_) | None => Err(PolicyError::NoAddress(host.to_owned())),
        }
    }
}

fn plain_host(host: &str) -> &str {
    host.trim().trim_start_matches('[').trim_end_matches(']').trim_end_matches('.')
}

/// An address as messages show it: without credentials, query and fragment, and not too long.
pub fn shown(url: &Url) -> String {
    crate::text::shorten(bare(url.clone()).as_str(), 200)
}

/// The address of a service, which `Debug` shows as messages do.
#[derive(Clone, PartialEq, Eq)]
pub struct ServiceUrl(Url);

impl From<Url> for ServiceUrl {
    fn from(url: Url) -> ServiceUrl {
        ServiceUrl(url)
    }
}

impl std::ops::Deref for ServiceUrl {
    type Target = Url;

    fn deref(&self) -> &Url {
        &self.0
    }
}

impl std::fmt::Debug for ServiceUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&shown(self), f)
    }
}

/// The address in a text without credentials, query and fragment. A text that is no address, and so may be anything, a key
/// included, is not shown at all.
pub fn without_secrets(address: &str) -> String {
    match Url::parse(address.trim()) {
        Ok(url) if url.has_host() => bare(url).to_string(),
        Ok(_) | Err(_) => "(not an address)".to_owned(),
    }
}

fn bare(mut url: Url) -> Url {
    // Both fail only for addresses that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url
}

pub type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> + Send + Sync>;

pub fn system_lookup() -> Lookup {
    Arc::new(|name: String| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// Resolves names for the HTTP client and lets only allowed addresses through. The client connects to what this
/// returns, so a name cannot resolve to one thing when checked and to another when used.
#[derive(Clone)]
pub struct PolicyResolver {
    pub policy: UrlPolicy,
    pub lookup: Lookup,
}

impl Resolve for PolicyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy.clone();
        let lookup = Arc::clone(&self.lookup);
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found = lookup(host.clone())
                .await
                .map_err(|error| PolicyError::NotFound { host: host.clone(), reason: error.to_string() })?;
            let kept = policy.keep(&host, found)?;
            // Port 0 stands for the port of the URL.
            Ok(Box::new(kept.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
