//! A gRPC service of our own: adds, fails, hangs and floods as it is asked to.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::stream::BoxStream;
use jarvis_proto::file_based_qa::file_based_qa_server::{FileBasedQa, FileBasedQaServer};
use jarvis_proto::file_based_qa::{QueryEvent, QueryRequest, QueryResponse};
use jarvis_proto::math::math_server::{Math, MathServer};
use jarvis_proto::math::{AddReply, AddRequest, DESCRIPTORS};
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorProto;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Identity, Server, ServerTlsConfig};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::server_reflection_server::{ServerReflection, ServerReflectionServer};
use tonic_reflection::pb::v1::{FileDescriptorResponse, ServerReflectionRequest, ServerReflectionResponse};

pub(crate) const TOKEN: &str = "tok-5ecret";

#[derive(Clone, Default)]
pub(crate) struct Adder {
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
    /// The metadata `idempotency-key` of each call.
    pub(crate) keys: Arc<Mutex<Vec<Option<String>>>>,
    pub(crate) guarded: bool,
}

#[tonic::async_trait]
impl Math for Adder {
    async fn add(&self, request: Request<AddRequest>) -> Result<Response<AddReply>, Status> {
        let metadata = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
        let authorization = metadata.unwrap_or_default().to_owned();
        self.seen.lock().unwrap().push(authorization.clone());
        let key = request.metadata().get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
        self.keys.lock().unwrap().push(key);
        if self.guarded && authorization != format!("Bearer {TOKEN}") {
            return Err(Status::unauthenticated(format!("`{authorization}` is not it")));
        }
        let AddRequest { a, b } = request.into_inner();
        match a {
            // A code of gRPC, as the caller wants it.
            -1 => Err(Status::new(Code::from_i32(b), format!("asked for {b} by {authorization}"))),
            -2 => std::future::pending().await,
            _ => Ok(Response::new(AddReply { result: a.wrapping_add(b) })),
        }
    }
}

/// Which versions of reflection a server has.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reflection {
    Both,
    AlphaOnly,
    None,
}

pub(crate) struct Running {
    pub(crate) address: String,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The same over TLS, with a certificate for `localhost` that the authority in `tls/ca.pem` signed.
pub(crate) async fn serve_tls(adder: Adder) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let identity = Identity::from_pem(include_str!("tls/server.pem"), include_str!("tls/server.key"));
    let v1 = tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(DESCRIPTORS);
    let server = Server::builder()
        .tls_config(ServerTlsConfig::new().identity(identity))
        .unwrap()
        .add_service(v1.build_v1().unwrap())
        .add_service(MathServer::new(adder))
        .serve_with_incoming(TcpIncoming::from(listener));
    Running { address, task: tokio::spawn(async move { server.await.unwrap() }) }
}

/// A service whose messages hold as many bytes as one wants: it gives as many as the question says.
pub(crate) async fn serve_bytes() -> Running {
    struct Bytes;

    #[tonic::async_trait]
    impl FileBasedQa for Bytes {
        async fn query_file(&self, request: Request<QueryRequest>) -> Result<Response<QueryResponse>, Status> {
            let size = request.into_inner().question.parse().map_err(|_| Status::invalid_argument("no number"))?;
            Ok(Response::new(QueryResponse { image_data: vec![7; size], ..QueryResponse::default() }))
        }

        type QueryFileStreamStream = futures::stream::Empty<Result<QueryEvent, Status>>;

        async fn query_file_stream(
            &self,
            _request: Request<QueryRequest>,
        ) -> Result<Response<Self::QueryFileStreamStream>, Status> {
            Ok(Response::new(futures::stream::empty()))
        }
    }

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let v1 = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(jarvis_proto::file_based_qa::DESCRIPTORS);
    let server = Server::builder()
        .add_service(v1.build_v1().unwrap())
        .add_service(FileBasedQaServer::new(Bytes).max_decoding_message_size(64 << 20))
        .serve_with_incoming(TcpIncoming::from(listener));
    Running { address, task: tokio::spawn(async move { server.await.unwrap() }) }
}

/// A server that offers nothing but descriptions.
pub(crate) async fn serve_description(set: &[u8]) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let v1 = tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(set);
    let server = Server::builder().add_service(v1.build_v1().unwrap()).serve_with_incoming(TcpIncoming::from(listener));
    Running { address, task: tokio::spawn(async move { server.await.unwrap() }) }
}

/// A service that describes itself without end: each file needs another one.
pub(crate) async fn serve_endless() -> Running {
    struct Endless;

    #[tonic::async_trait]
    impl ServerReflection for Endless {
        type ServerReflectionInfoStream = BoxStream<'static, Result<ServerReflectionResponse, Status>>;

        async fn server_reflection_info(
            &self,
            request: Request<Streaming<ServerReflectionRequest>>,
        ) -> Result<Response<Self::ServerReflectionInfoStream>, Status> {
            let answers = request.into_inner().enumerate().map(|(at, _)| {
                let file = FileDescriptorProto {
                    name: Some(format!("{at}.proto")),
                    dependency: vec![format!("{}.proto", at + 1)],
                    ..FileDescriptorProto::default()
                };
                let files = FileDescriptorResponse { file_descriptor_proto: vec![file.encode_to_vec()] };
                let message_response = Some(MessageResponse::FileDescriptorResponse(files));
                Ok(ServerReflectionResponse { message_response, ..ServerReflectionResponse::default() })
            });
            Ok(Response::new(answers.boxed()))
        }
    }

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = Server::builder()
        .add_service(ServerReflectionServer::new(Endless))
        .serve_with_incoming(TcpIncoming::from(listener));
    Running { address, task: tokio::spawn(async move { server.await.unwrap() }) }
}

pub(crate) async fn serve(adder: Adder, reflection: Reflection) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let describe = || tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(DESCRIPTORS);
    let v1 = (reflection == Reflection::Both).then(|| describe().build_v1().unwrap());
    let alpha = (reflection != Reflection::None).then(|| describe().build_v1alpha().unwrap());
    let server = Server::builder()
        .add_optional_service(v1)
        .add_optional_service(alpha)
        .add_service(MathServer::new(adder))
        .serve_with_incoming(TcpIncoming::from(listener));
    Running { address, task: tokio::spawn(async move { server.await.unwrap() }) }
}
