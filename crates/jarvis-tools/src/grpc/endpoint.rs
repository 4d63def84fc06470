//! A gRPC service at an address: one connection, shared by all its tools and made when it is first needed.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};
use tokio::sync::Mutex;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::{Ascii, AsciiMetadataKey, AsciiMetadataValue, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Request, Status};
use url::{ParseError, Url};

use super::codec::DynamicCodec;
use super::status::error_of;
use super::{GrpcError, MAX_MESSAGE};
use crate::{ToolError, ToolErrorKind};
use jarvis_net::policy::shown;
use jarvis_net::text::Secret;
use jarvis_net::trace::TraceContext;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A service. `Debug` leaves out what is secret.
pub struct GrpcEndpoint {
    address: String,
    channel: Channel,
    token: Option<Secret>,
    /// `Bearer …`, as it is sent.
    authorization: Option<MetadataValue<Ascii>>,
    /// Descriptors by service, as the service gave them.
    pub(super) pools: Mutex<HashMap<String, DescriptorPool>>,
}

impl fmt::Debug for GrpcEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcEndpoint")
            .field("address", &self.address)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl GrpcEndpoint {
    /// A service at `http://…`, `https://…` or `HOST:PORT`; a bare host is refused, since its port is unknown. `ca` are certificates (PEM) that sign the service's own, in place of
    /// the system's. Nothing is connected yet; it must be called within a runtime.
    ///
    /// # Errors
    /// When the address is invalid, or the token or the certificates cannot be used.
    pub fn new(address: &str, token: Option<Secret>, ca: Option<&[u8]>) -> Result<GrpcEndpoint, GrpcError> {
        let url = url_of(address.trim())?;
        let address = shown(&url).trim_end_matches('/').to_owned();
        let failed = |reason: String| GrpcError::Client { address: address.clone(), reason };
        let mut endpoint = Endpoint::from_shared(String::from(url.clone()))
            .map_err(|error| failed(error.to_string()))?
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("jarvis/", env!("CARGO_PKG_VERSION")))
            .map_err(|error| failed(error.to_string()))?;
        if url.scheme() == "https" {
            let tls = match ca {
                Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
                None => ClientTlsConfig::new().with_enabled_roots(),
            };
            endpoint = endpoint.tls_config(tls).map_err(|error| failed(error.to_string()))?;
        }
        let authorization = match &token {
            Some(token) => {
                let mut value = MetadataValue::try_from(format!("Bearer {}", token.expose()))
                    .map_err(|_| failed("its token has characters that cannot be sent".into()))?;
                value.set_sensitive(true);
                Some(value)
            }
            None => None,
        };
        let channel = endpoint.connect_lazy();
        Ok(GrpcEndpoint { address, channel, token, authorization, pools: Mutex::default() })
    }

    /// Its address, as messages show it.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn client(&self) -> Grpc<Channel> {
        Grpc::new(self.channel.clone()).max_decoding_message_size(MAX_MESSAGE).max_encoding_message_size(MAX_MESSAGE)
    }

    pub(super) fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(authorization) = &self.authorization {
            request.metadata_mut().insert("authorization", authorization.clone());
        }
        for (name, value) in TraceContext::current().fields() {
            if let Ok(value) = value.parse() {
                request.metadata_mut().insert(name, value);
            }
        }
        request
    }

    pub(super) async fn unary(
        &self,
        path: &str,
        method: &MethodDescriptor,
        message: DynamicMessage,
        key: Option<(&AsciiMetadataKey, AsciiMetadataValue)>,
        timeout: Duration,
    ) -> Result<DynamicMessage, ToolError> {
        let size = message.encoded_len();
        if size > MAX_MESSAGE {
            let text = format!("the input is {size} bytes; the limit is {} MiB", MAX_MESSAGE >> 20);
            return Err(ToolError::new(ToolErrorKind::InvalidInput, text));
        }
        let path = PathAndQuery::try_from(path)
            .map_err(|_| ToolError::new(ToolErrorKind::UnknownTool, "the method has no name that can be sent"))?;
        let mut client = self.client();
        client.ready().await.map_err(|error| self.failed(&Status::from_error(Box::new(error))))?;
        let mut request = self.request(message);
        request.set_timeout(timeout);
        if let Some((name, key)) = key {
            request.metadata_mut().insert(name, key);
        }
        let reply = client.unary(request, path, DynamicCodec(method.output())).await;
        Ok(reply.map_err(|status| self.failed(&status))?.into_inner())
    }

    pub(super) fn failed(&self, status: &Status) -> ToolError {
        let error = error_of(status, &format!("the gRPC service at {}", self.address));
        ToolError { message: self.redact(&error.message), ..error }
    }

    /// Waits for `work` at most so long; `hint` says what to look at when that was not enough.
    pub(super) async fn within<T>(
        &self,
        timeout: Duration,
        hint: &str,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        tokio::time::timeout(timeout, work).await.unwrap_or_else(|_| {
            let waited = timeout.as_secs_f64();
            let message = format!("the gRPC service at {} gave no answer within {waited} s{hint}", self.address);
            Err(ToolError::new(ToolErrorKind::Timeout, message))
        })
    }

    pub(super) fn redact(&self, text: &str) -> String {
        Secret::redact_from(self.token.as_ref(), text)
    }
}

/// Reads an address. `HOST:PORT` means `http`; only a URL may leave the port to its scheme.
fn url_of(address: &str) -> Result<Url, GrpcError> {
    let wrong = |reason: &str| {
        // An address that is none may hold anything: only what is before a possible secret is shown.
        let start = address.split(['@', '?', '#']).next().expect("a split has a first part");
        let start = if address.contains('@') { "…@…" } else { start };
        GrpcError::Address { address: jarvis_net::text::shorten(start, 80), reason: reason.to_owned() }
    };
    let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
    if rest.is_empty() {
        return Err(wrong("names no host"));
    }
    let scheme = scheme.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https") {
        return Err(wrong("begins with neither http:// nor https://"));
    }
    let url = Url::parse(&format!("{scheme}://{rest}")).map_err(|error| match error {
        ParseError::InvalidPort => wrong("has a port that is no number up to 65535"),
        ParseError::EmptyHost => wrong("names no host"),
        _ => wrong("names no host that can be"),
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("holds a name or a password"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("goes on behind the port"));
    }
    // A scheme without a port of its own keeps the one that was written.
    let port = Url::parse(&format!("grpc://{rest}")).ok().and_then(|url| url.port());
    if !address.contains("://") && port.is_none() {
        return Err(wrong("names no port"));
    }
    Ok(url)
}
