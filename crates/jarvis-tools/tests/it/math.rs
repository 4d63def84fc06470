//! A gRPC service of our own: adds, fails, hangs and floods as it is asked to.

use std::sync::{Arc, Mutex};

use jarvis_proto::math::math_server::{Math, MathServer};
use jarvis_proto::math::{AddReply, AddRequest, DESCRIPTORS};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Request, Response, Status};

/// The token that it asks for, where it asks for one.
pub(crate) const TOKEN: &str = "tok-5ecret";

#[derive(Clone, Default)]
pub(crate) struct Adder {
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
    pub(crate) guarded: bool,
}

#[tonic::async_trait]
impl Math for Adder {
    async fn add(&self, request: Request<AddRequest>) -> Result<Response<AddReply>, Status> {
        let metadata = request.metadata().get("authorization").and_then(|value| value.to_str().ok());
        let authorization = metadata.unwrap_or_default().to_owned();
        self.seen.lock().unwrap().push(authorization.clone());
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

/// A running server; it ends when dropped.
pub(crate) struct Running {
    pub(crate) address: String,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
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
