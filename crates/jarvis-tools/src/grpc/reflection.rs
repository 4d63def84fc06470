//! Services that describe themselves: server reflection, version 1 and, where a server has only that, 1alpha.
//!
//! The messages of both versions are the same on the wire; only the path differs.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use futures::channel::mpsc::{self, UnboundedSender};
use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorProto;
use serde::Serialize;
use serde_json::{Value, json};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Status, Streaming};
use tonic_prost::ProstCodec;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};

use super::MAX_MESSAGE;
use super::endpoint::GrpcEndpoint;
use super::schema::schema_of;
use crate::untrusted::{self, Found};
use crate::{ToolError, ToolErrorKind};
use jarvis_net::text::shorten;

/// The most files that one service may need.
const MAX_FILES: usize = 500;

/// The most services that are asked for when methods are listed.
const MAX_SERVICES: usize = 200;

const REFLECT_TIMEOUT: Duration = Duration::from_secs(15);

/// The hint for a service that does not describe itself in time.
const SPEAKS: &str = "; is it at work, and does it speak gRPC?";

const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// A method that a service offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MethodInfo {
    /// Its name: `pkg.Service/Method`.
    pub name: String,
    /// The message that it takes.
    pub input: String,
    /// The JSON Schema of that message, cleaned; of one that is too large, only that it is an object.
    pub input_schema: Value,
    /// The message that it gives.
    pub output: String,
    /// Whether it takes or gives a stream; it cannot be a tool then.
    pub streams: bool,
}

impl GrpcEndpoint {
    /// All methods that it offers, by reflection.
    ///
    /// # Errors
    /// When it cannot be reached, or does not describe itself.
    pub async fn methods(&self) -> Result<Vec<MethodInfo>, ToolError> {
        self.within(REFLECT_TIMEOUT, SPEAKS, methods(self)).await
    }

    /// The descriptors of one of its services, by reflection, with all that they need.
    ///
    /// # Errors
    /// When it cannot be reached, does not describe itself or has no such service.
    pub async fn reflect(&self, service: &str) -> Result<DescriptorPool, ToolError> {
        let mut pools = self.pools.lock().await;
        if let Some(pool) = pools.get(service) {
            return Ok(pool.clone());
        }
        let pool = self.within(REFLECT_TIMEOUT, SPEAKS, descriptors(self, service)).await?;
        pools.insert(service.to_owned(), pool.clone());
        Ok(pool)
    }
}

async fn descriptors(endpoint: &GrpcEndpoint, service: &str) -> Result<DescriptorPool, ToolError> {
    let mut asking = Asking::open(endpoint, MessageRequest::FileContainingSymbol(service.to_owned())).await?;
    let first = asking.first.take().ok_or_else(|| nothing(endpoint))?;
    let files = files_of(endpoint, first)?;
    asking.close_over(files).await
}

async fn methods(endpoint: &GrpcEndpoint) -> Result<Vec<MethodInfo>, ToolError> {
    let mut asking = Asking::open(endpoint, MessageRequest::ListServices("*".to_owned())).await?;
    let Some(MessageResponse::ListServicesResponse(list)) = asking.first.take() else {
        return Err(nothing(endpoint));
    };
    let mut found = Vec::new();
    for service in list.service.into_iter().take(MAX_SERVICES) {
        if service.name.starts_with("grpc.reflection.") {
            continue;
        }
        let reply = asking.ask(MessageRequest::FileContainingSymbol(service.name.clone())).await?;
        let pool = asking.close_over(files_of(endpoint, reply)?).await?;
        let Some(service) = pool.get_service_by_name(&service.name) else { continue };
        found.extend(service.methods().map(|method| {
            MethodInfo {
                name: format!("{}/{}", service.full_name(), method.name()),
                input: method.input().full_name().to_owned(),
                input_schema: untrusted::clean_schema(&schema_of(&method.input()), &mut Found::default())
                    .unwrap_or_else(|| json!({"type": "object"})),
                output: method.output().full_name().to_owned(),
                streams: method.is_client_streaming() || method.is_server_streaming(),
            }
        }));
    }
    Ok(found)
}

struct Asking<'a> {
    endpoint: &'a GrpcEndpoint,
    questions: UnboundedSender<ServerReflectionRequest>,
    answers: Streaming<ServerReflectionResponse>,
    /// The answer to the question that it was opened with.
    first: Option<MessageResponse>,
}

impl<'a> Asking<'a> {
    async fn open(endpoint: &'a GrpcEndpoint, question: MessageRequest) -> Result<Asking<'a>, ToolError> {
        let mut last = Status::unimplemented("");
        for path in PATHS {
            match Asking::open_at(endpoint, path, question.clone()).await {
                Ok(asking) => return Ok(asking),
                Err(status) if status.code() == Code::Unimplemented => last = status,
                Err(status) => return Err(refused(endpoint, &status)),
            }
        }
        tracing::debug!(status = %last.message(), "no reflection");
        let message = format!(
            "the gRPC service at {} does not describe itself (no server reflection); give its descriptors in a file (`descriptor`)",
            endpoint.address()
        );
        Err(ToolError::new(ToolErrorKind::Unavailable, message))
    }

    async fn open_at(
        endpoint: &'a GrpcEndpoint,
        path: &'static str,
        question: MessageRequest,
    ) -> Result<Asking<'a>, Status> {
        let mut client = endpoint.client();
        client.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
        let (questions, waiting) = mpsc::unbounded();
        let codec: ProstCodec<ServerReflectionRequest, ServerReflectionResponse> = ProstCodec::default();
        let _ = questions.unbounded_send(wrapped(question));
        let request = endpoint.request(waiting);
        let answers = client.streaming(request, PathAndQuery::from_static(path), codec).await?.into_inner();
        let mut asking = Asking { endpoint, questions, answers, first: None };
        asking.first = Some(asking.next().await?);
        Ok(asking)
    }

    async fn next(&mut self) -> Result<MessageResponse, Status> {
        let reply = self.answers.message().await?;
        reply.and_then(|reply| reply.message_response).ok_or_else(|| Status::unavailable("the answer broke off"))
    }

    async fn ask(&mut self, question: MessageRequest) -> Result<MessageResponse, ToolError> {
        // When nobody listens any more, the answer says why.
        let _ = self.questions.unbounded_send(wrapped(question));
        self.next().await.map_err(|status| refused(self.endpoint, &status))
    }

    /// The files with all that they import, as descriptors.
    async fn close_over(&mut self, files: Vec<Vec<u8>>) -> Result<DescriptorPool, ToolError> {
        let mut all: Vec<FileDescriptorProto> = Vec::new();
        let mut have: HashSet<String> = HashSet::new();
        let mut asked: HashSet<String> = HashSet::new();
        let mut wanted: VecDeque<String> = VecDeque::new();
        let mut bytes = 0;
        let mut waiting = files;
        loop {
            for file in waiting.drain(..) {
                bytes += file.len();
                if bytes > MAX_MESSAGE || all.len() >= MAX_FILES {
                    return Err(self.wrong("gives more than a tool can need"));
                }
                let file = FileDescriptorProto::decode(file.as_slice()).map_err(|_| self.wrong("is not readable"))?;
                if have.insert(file.name().to_owned()) {
                    wanted.extend(file.dependency.iter().cloned());
                    all.push(file);
                }
            }
            let Some(name) = wanted.pop_front() else { break };
            // A file that comes under another name is not asked for again and again.
            if have.contains(&name) || !asked.insert(name.clone()) {
                continue;
            }
            // What everyone knows need not be asked for, and some servers do not have it.
            if let Some(known) = DescriptorPool::global().get_file_by_name(&name) {
                have.insert(name);
                let known = known.file_descriptor_proto().clone();
                wanted.extend(known.dependency.iter().cloned());
                all.push(known);
                continue;
            }
            let reply = self.ask(MessageRequest::FileByFilename(name)).await?;
            waiting = files_of(self.endpoint, reply)?;
        }
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(all)
            .map_err(|error| self.wrong(&format!("does not fit together: {}", shorten(&error.to_string(), 200))))?;
        Ok(pool)
    }

    fn wrong(&self, what: &str) -> ToolError {
        let message = format!("the description of the gRPC service at {} {what}", self.endpoint.address());
        ToolError::new(ToolErrorKind::Transport, message)
    }
}

fn wrapped(question: MessageRequest) -> ServerReflectionRequest {
    ServerReflectionRequest { host: String::new(), message_request: Some(question) }
}

fn files_of(endpoint: &GrpcEndpoint, reply: MessageResponse) -> Result<Vec<Vec<u8>>, ToolError> {
    match reply {
        MessageResponse::FileDescriptorResponse(files) => Ok(files.file_descriptor_proto),
        MessageResponse::ErrorResponse(error) => {
            let words = shorten(&endpoint.redact(&error.error_message), 200);
            let (kind, what) = match Code::from_i32(error.error_code) {
                Code::NotFound => (ToolErrorKind::UnknownTool, "has no such service"),
                _ => (ToolErrorKind::Unavailable, "does not describe itself"),
            };
            Err(ToolError::new(kind, format!("the gRPC service at {} {what}: {words}", endpoint.address())))
        }
        MessageResponse::AllExtensionNumbersResponse(_) | MessageResponse::ListServicesResponse(_) => {
            Err(nothing(endpoint))
        }
    }
}

/// Some servers end the conversation where others answer that they do not know a name.
fn refused(endpoint: &GrpcEndpoint, status: &Status) -> ToolError {
    if status.code() != Code::NotFound {
        return endpoint.failed(status);
    }
    let words = shorten(&endpoint.redact(status.message()), 200);
    ToolError::new(
        ToolErrorKind::UnknownTool,
        format!("the gRPC service at {} has no such service: {words}", endpoint.address()),
    )
}

fn nothing(endpoint: &GrpcEndpoint) -> ToolError {
    let message = format!("the gRPC service at {} answers something else than was asked", endpoint.address());
    ToolError::new(ToolErrorKind::Transport, message)
}
