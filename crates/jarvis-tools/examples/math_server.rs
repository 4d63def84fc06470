//! The sample of a remote procedure that an agent calls as a tool: `Math/Add`, with reflection and health.
//!
//! `math_server [--listen ADDR]`; the address is 127.0.0.1:50052 unless given. With port 0 the system chooses one. The first
//! line on stdout says where it listens. docs/tools.md uses it.
#![allow(clippy::print_stdout, reason = "the address is what the program is asked for")]

use std::error::Error;
use std::net::SocketAddr;

use jarvis_proto::math::math_server::{Math, MathServer};
use jarvis_proto::math::{AddReply, AddRequest, DESCRIPTORS};
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

struct Adder;

#[tonic::async_trait]
impl Math for Adder {
    async fn add(&self, request: Request<AddRequest>) -> Result<Response<AddReply>, Status> {
        let AddRequest { a, b } = request.into_inner();
        match a.checked_add(b) {
            Some(result) => Ok(Response::new(AddReply { result })),
            None => Err(Status::out_of_range(format!("{a} + {b} does not fit into 32 bits"))),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address: SocketAddr = match (arguments.next().as_deref(), arguments.next()) {
        (None, None) => "127.0.0.1:50052".parse()?,
        (Some("--listen"), Some(address)) => address.parse()?,
        (Some(_) | None, _) => return Err("usage: math_server [--listen ADDR]".into()),
    };
    let listener = TcpListener::bind(address).await?;
    println!("{}", listener.local_addr()?);
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<MathServer<Adder>>().await;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    Server::builder()
        .add_service(MathServer::new(Adder))
        .add_service(health_service)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .serve_with_incoming(TcpIncoming::from(listener))
        .await?;
    Ok(())
}
