//! Methods of gRPC services as tools: any unary method, without code made for it.
//!
//! Descriptors come from a file or from the service itself by reflection. JSON becomes a message before anything is sent, so
//! that a wrong field is named; the answer becomes JSON with the names of the `.proto` file and with defaults shown.
//! The address is the operator's: nothing that a model writes reaches it.

mod codec;
mod descriptors;
mod endpoint;
mod reflection;
mod schema;
mod status;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, MethodDescriptor, SerializeOptions};
use serde_json::Value;
use tonic::metadata::AsciiMetadataKey;

use crate::approvals::Guard;
use crate::{Observation, Scope, Tool, ToolAddress, ToolError, ToolErrorKind, ToolSpec, template, untrusted};

pub use descriptors::load as load_descriptors;
pub use endpoint::GrpcEndpoint;
pub use reflection::MethodInfo;
pub use schema::{effect_of, example_of, schema_of};

/// The largest message, either way, in bytes.
pub const MAX_MESSAGE: usize = 4 << 20;

/// The hint that follows a timeout.
const RAISE: &str = "; `timeout_s` raises the limit";

/// Why a method cannot become a tool.
#[allow(missing_docs, reason = "each message says what its variant is")]
#[derive(Debug, thiserror::Error)]
pub enum GrpcError {
    #[error("`{address}` is not the address of a gRPC service: it {reason}; write HOST:PORT or http(s)://HOST:PORT")]
    Address {
        /// The address, without what may be secret.
        address: String,
        reason: String,
    },
    #[error("no connection to `{address}` can be prepared: {reason}")]
    Client { address: String, reason: String },
    #[error("{} cannot be read", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} is larger than {} MiB", .path.display(), MAX_MESSAGE >> 20)]
    TooLarge { path: PathBuf },
    #[error("{} holds no usable descriptors: {reason}", .path.display())]
    Descriptors { path: PathBuf, reason: String },
    #[error("`{method}` does not name a method: Service/Method, such as `Math/Add`")]
    MethodName { method: String },
    #[error("{reason}")]
    Method { reason: String },
}

/// The name of a method: the service's full name and its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodName {
    /// The service, with its package: `pkg.Service`.
    pub service: String,
    /// The method.
    pub method: String,
}

impl MethodName {
    /// Reads `Math/Add`, `/Math/Add`, `pkg.Service/Method` or `pkg.Service.Method`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<MethodName, GrpcError> {
        let bare = text.trim().trim_start_matches('/');
        let proper = |part: &str, dots: bool| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || (dots && c == '.'))
        };
        let (service, method) = bare.split_once('/').or_else(|| bare.rsplit_once('.')).unwrap_or_default();
        if !proper(service, true) || !proper(method, false) {
            return Err(GrpcError::MethodName { method: jarvis_net::text::shorten(text, 80) });
        }
        Ok(MethodName { service: service.to_owned(), method: method.to_owned() })
    }

    /// Its path on the wire.
    pub fn path(&self) -> String {
        format!("/{}/{}", self.service, self.method)
    }

    /// The method of that name among descriptors.
    ///
    /// # Errors
    /// When there is none, or it is not unary.
    pub fn find(&self, pool: &DescriptorPool) -> Result<MethodDescriptor, GrpcError> {
        let missing = |reason: String| GrpcError::Method { reason };
        let service = pool
            .get_service_by_name(&self.service)
            .ok_or_else(|| missing(format!("there is no service `{}`", self.service)))?;
        let Some(method) = service.methods().find(|method| method.name() == self.method) else {
            let others: Vec<String> = service.methods().take(20).map(|one| one.name().to_owned()).collect();
            let others = if others.is_empty() { "no methods".into() } else { others.join(", ") };
            return Err(missing(format!(
                "the service `{}` has no method `{}`; it has {others}",
                self.service, self.method
            )));
        };
        if method.is_client_streaming() || method.is_server_streaming() {
            return Err(missing(format!("`{}` streams; only unary methods can be tools", self.path())));
        }
        Ok(method)
    }
}

/// A method as a tool.
pub struct GrpcTool {
    spec: ToolSpec,
    endpoint: Arc<GrpcEndpoint>,
    name: MethodName,
    /// The descriptors of a file; the service is asked without.
    pool: Option<DescriptorPool>,
    observation: Option<String>,
    timeout: Duration,
    /// What of the tool came from the service, and must be as it was approved.
    guard: Option<Guard>,
    /// The metadata that takes the key of a call.
    key_metadata: Option<AsciiMetadataKey>,
}

impl GrpcTool {
    /// A method of a service as a tool. Without `pool` the service itself is asked for descriptors, at the first call.
    pub fn new(
        spec: ToolSpec,
        endpoint: Arc<GrpcEndpoint>,
        name: MethodName,
        pool: Option<DescriptorPool>,
    ) -> GrpcTool {
        GrpcTool {
            spec,
            endpoint,
            name,
            pool,
            observation: None,
            timeout: crate::CALL_TIMEOUT,
            guard: None,
            key_metadata: None,
        }
    }

    /// The template of the observation: fields of the answer in braces. The whole answer as JSON unless set.
    pub fn observation(mut self, template: Option<String>) -> GrpcTool {
        self.observation = template;
        self
    }

    /// The longest a call may take, connecting included.
    pub fn timeout(mut self, timeout: Duration) -> GrpcTool {
        self.timeout = timeout;
        self
    }

    /// Its schema came from the service: it must be as it was approved.
    pub(crate) fn guard(mut self, guard: Option<Guard>) -> GrpcTool {
        self.guard = guard;
        self
    }

    /// The metadata that takes the key of a call, where the service knows a call by it and changes nothing twice.
    pub(crate) fn key_metadata(mut self, name: Option<AsciiMetadataKey>) -> GrpcTool {
        self.key_metadata = name;
        self
    }

    async fn descriptor(&self) -> Result<MethodDescriptor, ToolError> {
        let pool = match &self.pool {
            Some(pool) => pool.clone(),
            None => self.endpoint.reflect(&self.name.service).await?,
        };
        self.name.find(&pool).map_err(|error| ToolError::new(ToolErrorKind::UnknownTool, error.to_string()))
    }

    async fn answer(&self, input: &Value, key: Option<&str>) -> Result<Observation, ToolError> {
        let method = self.descriptor().await?;
        if let Some(guard) = &self.guard {
            let schema = schema_of(&method.input());
            // As it was cleaned when it was approved.
            let clean = untrusted::clean_schema(&schema, &mut untrusted::Found::default());
            guard.check(&clean.unwrap_or(schema), effect_of(&method)).await?;
        }
        let request = message_of(&method, input)?;
        let key = self.key_metadata.as_ref().zip(key.and_then(|key| key.parse().ok()));
        let reply = self.endpoint.unary(&self.name.path(), &method, request, key, self.timeout).await?;
        let answer = json_of(&reply)?;
        let text = match &self.observation {
            Some(template) => template::fill(template, &answer),
            None => answer.to_string(),
        };
        Ok(Observation::text(text).with_value(answer).cleaned(|text| self.endpoint.redact(text)))
    }
}

#[async_trait]
impl Tool for GrpcTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, input: &Value, scope: &Scope) -> Result<Observation, ToolError> {
        self.endpoint.within(self.timeout, RAISE, self.answer(input, scope.key.as_deref())).await
    }

    fn takes_key(&self) -> bool {
        self.key_metadata.is_some()
    }

    fn address(&self) -> ToolAddress {
        ToolAddress::Url(self.endpoint.address().to_string())
    }
}

fn message_of(method: &MethodDescriptor, input: &Value) -> Result<DynamicMessage, ToolError> {
    let mut track = serde_path_to_error::Track::new();
    let deserializer = serde_path_to_error::Deserializer::new(input, &mut track);
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    DynamicMessage::deserialize_with_options(method.input(), deserializer, &options).map_err(|error| {
        let reason = jarvis_net::text::shorten(&error.to_string(), 300);
        let path = track.path().to_string();
        let place = if path == "." { String::new() } else { format!("`{path}`: ") };
        let fields: Vec<String> = method.input().fields().take(40).map(|field| field.name().to_owned()).collect();
        ToolError::new(ToolErrorKind::InvalidInput, format!("{place}{reason}; the fields are: {}", fields.join(", ")))
    })
}

fn json_of(message: &DynamicMessage) -> Result<Value, ToolError> {
    let options = SerializeOptions::new().use_proto_field_name(true).skip_default_fields(false);
    message.serialize_with_options(serde_json::value::Serializer, &options).map_err(|error| {
        let reason = jarvis_net::text::shorten(&error.to_string(), 200);
        ToolError::new(ToolErrorKind::Transport, format!("the answer cannot be told as JSON: {reason}"))
    })
}

#[cfg(test)]
mod tests;
