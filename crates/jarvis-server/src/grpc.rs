//! The gRPC services: `FileBasedQA`, Agent2Agent, health and reflection, within limits of connections, sizes and times.
//!
//! Requests become runs like those of the other protocols: they wait for the same places, stand in the same journal and are
//! cancelled when the client has gone.

mod deadline;
mod service;
mod socket;
mod status;

use std::time::Duration;

use axum::middleware;
use jarvis_net::causes::in_one;
use jarvis_proto::a2a::a2a_service_server::A2aServiceServer;
use jarvis_proto::file_based_qa::DESCRIPTORS;
use jarvis_proto::file_based_qa::file_based_qa_server::FileBasedQaServer;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Identity, Server as Transport, ServerTlsConfig};

use crate::ServeError;
use crate::a2a;
use crate::guard;
use crate::listen::CLOSING_TIME;
use crate::log::{self, RequestId};
use crate::state::Server;

use service::Questions;

/// What a message may hold beside the document.
const BESIDE: usize = 64 << 10;

/// The most bytes of an answer. Clients accept 4 MiB by default, see [`service::MODEST`].
const MAX_ANSWER: usize = 64 << 20;

/// How often an idle connection is asked whether anyone is there, and how long the answer may take.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How long a client may take for the handshake of TLS.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

const MAX_HEAD: u32 = 16 << 10;

#[derive(Debug, Clone)]
pub struct GrpcOptions {
    /// The largest document, in bytes.
    pub max_file: usize,
    /// The certificate and its key; without them calls are in the clear.
    pub tls: Option<GrpcTls>,
}

impl Default for GrpcOptions {
    fn default() -> GrpcOptions {
        GrpcOptions { max_file: 4 << 20, tls: None }
    }
}

/// A certificate chain with its key, and who may call.
#[derive(Clone)]
pub struct GrpcTls {
    /// The certificates, PEM.
    pub certificate: Vec<u8>,
    /// The key, PEM.
    pub key: Vec<u8>,
    /// The certificates that sign those of callers, PEM; callers need none unless set.
    pub client_ca: Option<Vec<u8>>,
}

impl std::fmt::Debug for GrpcTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrpcTls").field("client_ca", &self.client_ca.is_some()).finish_non_exhaustive()
    }
}

impl GrpcTls {
    /// Whether the certificate and the key can be used.
    ///
    /// # Errors
    /// [`ServeError::Tls`], which says why not.
    pub fn check(&self) -> Result<(), ServeError> {
        let made = Transport::builder().tls_config(self.config());
        made.map(|_| ()).map_err(|error| ServeError::Tls(in_one(&error)))
    }

    fn config(&self) -> ServerTlsConfig {
        let config =
            ServerTlsConfig::new().identity(Identity::from_pem(&self.certificate, &self.key)).timeout(HANDSHAKE_TIME);
        match &self.client_ca {
            Some(ca) => config.client_ca_root(Certificate::from_pem(ca)),
            None => config,
        }
    }
}

/// Serves until `stop` is cancelled and `drained` is over.
pub(crate) async fn serve(
    listener: TcpListener,
    server: Server,
    options: GrpcOptions,
    stop: CancellationToken,
    drained: impl Future<Output = ()> + Clone,
) -> Result<(), ServeError> {
    let connections = server.options.connections();
    let questions = FileBasedQaServer::new(Questions { server: server.clone(), max_file: options.max_file })
        .max_decoding_message_size(options.max_file.saturating_add(BESIDE))
        .max_encoding_message_size(MAX_ANSWER);
    let agent = (!server.options.models_only).then(|| {
        A2aServiceServer::new(a2a::grpc::Agent { server: server.clone() })
            .max_decoding_message_size(guard::most_with_files(&server.options))
            .max_encoding_message_size(MAX_ANSWER)
    });
    let logging = server.clone();
    let token = move |mut request: tonic::Request<()>| {
        let headers = request.metadata().clone().into_headers();
        let caller = guard::caller(&server, &headers, request.remote_addr().map(|peer| peer.ip())).map_err(|error| {
            tonic::Status::unauthenticated(format!(
                "{}: send the metadata `authorization: Bearer TOKEN` with the token that the server was started with",
                error.fields.message
            ))
        })?;
        guard::place(&headers);
        let id = request.extensions().get::<RequestId>().cloned();
        request.extensions_mut().insert(caller.asking(id));
        Ok(request)
    };
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<FileBasedQaServer<Questions>>().await;
    if agent.is_some() {
        reporter.set_serving::<A2aServiceServer<a2a::grpc::Agent>>().await;
    }
    let described = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(jarvis_proto::a2a::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let broken = |error: tonic_reflection::server::Error| ServeError::Grpc(error.to_string());
    let (reflection, older) = (described().build_v1().map_err(broken)?, described().build_v1alpha().map_err(broken)?);
    let mut transport = Transport::builder()
        .http2_keepalive_interval(Some(KEEPALIVE))
        .http2_keepalive_timeout(Some(KEEPALIVE))
        .http2_max_header_list_size(MAX_HEAD)
        .max_concurrent_streams(1_024);
    if let Some(tls) = &options.tls {
        transport = transport.tls_config(tls.config()).map_err(|error| ServeError::Tls(in_one(&error)))?;
    }
    let mut services = Routes::builder();
    services
        .add_service(health)
        .add_service(InterceptedService::new(questions, token.clone()))
        .add_service(InterceptedService::new(reflection, token.clone()))
        .add_service(InterceptedService::new(older, token.clone()));
    if let Some(agent) = agent {
        services.add_service(InterceptedService::new(agent, token));
    }
    let logged = middleware::from_fn_with_state(logging, log::request);
    let router = transport.add_routes(services.routes().into_axum_router().layer(logged).into());
    let incoming = socket::incoming(listener, connections, stop.clone());
    let in_flight = drained.clone();
    let ended = async {
        stop.cancelled().await;
        // No new requests are accepted here; those in flight finish first.
        reporter.set_not_serving::<FileBasedQaServer<Questions>>().await;
        reporter.set_not_serving::<A2aServiceServer<a2a::grpc::Agent>>().await;
        in_flight.await;
    };
    let late = async {
        drained.await;
        tokio::time::sleep(CLOSING_TIME).await;
    };
    tokio::select! {
        served = router.serve_with_incoming_shutdown(incoming, ended) => {
            served.map_err(|error| ServeError::Grpc(in_one(&error)))
        }
        // Clients that keep their connections open, or never began, are not waited for longer.
        () = late => Ok(()),
    }
}
