//! An HTTP/2 endpoint that Restate calls: what it serves, how it is registered, how it stops.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use restate_sdk::endpoint::{Builder, ContextInternal, Endpoint as SdkEndpoint, Error as SdkError};
use restate_sdk::errors::HandlerResult;
use restate_sdk::http_server::HttpServer;
use restate_sdk::serde::Serialize;
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use restate_sdk::service::{Service, ServiceDefinition};
use serde_json::Value;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::admin::Admin;
use crate::error::Error;

/// How long Restate waits for a handler that says nothing, before it asks it to suspend and then ends it. Together they must be
/// longer than the longest work and its wait for a free slot: work that is ended is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until it is asked to suspend. Work that is under way goes on.
    pub inactivity: Duration,
    /// From then until its connection is cut, and the work with it.
    pub abort: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { inactivity: Duration::from_secs(10 * 60), abort: Duration::from_secs(60 * 60) }
    }
}

/// Where an endpoint listens, and how Restate reaches it.
pub struct Endpoint {
    /// The socket. The caller opens it, so that it knows the port.
    pub listener: TcpListener,
    /// The address that Restate calls: of this process, or of the load balancer before it.
    pub advertise: Url,
    /// Where it is registered.
    pub admin: Admin,
    /// The server's public key (`publickeyv1_…`); calls that are not signed with it are refused.
    pub identity_key: Option<String>,
    /// Called once the endpoint is registered.
    pub registered: Option<Box<dyn FnOnce() + Send>>,
}

impl Endpoint {
    /// An endpoint on a free port of this machine.
    ///
    /// # Errors
    /// When no socket can be opened.
    pub async fn local(admin: Admin) -> Result<Endpoint, Error> {
        Endpoint::bind(SocketAddr::from(([127, 0, 0, 1], 0)), None, admin).await
    }

    /// An endpoint at an address; it advertises that address where no other is given.
    ///
    /// # Errors
    /// When the socket cannot be opened.
    pub async fn bind(address: SocketAddr, advertise: Option<Url>, admin: Admin) -> Result<Endpoint, Error> {
        let listen = |source| Error::Listen { address, source };
        let listener = listener(address).map_err(listen)?;
        let bound = listener.local_addr().map_err(listen)?;
        let own = || Url::parse(&format!("http://{bound}")).expect("a socket address is a host and a port");
        let advertise = advertise.unwrap_or_else(own);
        Ok(Endpoint { listener, advertise, admin, identity_key: None, registered: None })
    }

    /// Serves until `shutdown` fires and the work that is under way has ended.
    pub(crate) async fn serve(
        self,
        definitions: impl IntoIterator<Item = ServiceDefinition>,
        slots: Arc<Slots>,
        shutdown: CancellationToken,
    ) -> Result<(), Error> {
        let mut builder: Builder = SdkEndpoint::builder();
        if let Some(key) = &self.identity_key {
            builder = builder.identity_key(key).map_err(|error| Error::IdentityKey(error.to_string()))?;
        }
        let endpoint = definitions.into_iter().fold(builder, Builder::bind).build();
        let Endpoint { listener, advertise, admin, registered, .. } = self;
        let register = async {
            admin.register_until_answered(&advertise).await;
            if let Some(registered) = registered {
                registered();
            }
            std::future::pending::<()>().await;
        };
        let stop = CancellationToken::new();
        let serve = HttpServer::new(endpoint).serve_with_cancel(listener, stop.cancelled());
        let drain = async {
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = register => {}
            }
            // From here on calls are refused with an error that Restate retries, elsewhere or later.
            slots.close();
            slots.drained().await;
            stop.cancel();
        };
        tokio::join!(serve, drain);
        Ok(())
    }
}

/// Opens a socket whose connections send at once, which they inherit: a workflow writes several small messages a step, each of which
/// would wait 40 ms for the acknowledgement of the one before.
fn listener(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_nodelay(true)?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(1024)
}

/// Bounds the work that is under way at once: Restate itself sends calls without limit.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Semaphore,
    /// Held shared by work under way and exclusively by whoever waits for its end.
    busy: tokio::sync::RwLock<()>,
}

/// One piece of work under way.
pub(crate) struct Slot<'a> {
    _free: SemaphorePermit<'a>,
    _busy: tokio::sync::RwLockReadGuard<'a, ()>,
}

/// Why work is not taken on.
#[derive(Debug, thiserror::Error)]
#[error("this process is shutting down; the call is to be made again")]
pub(crate) struct ShuttingDown;

impl Slots {
    pub(crate) fn new(slots: usize) -> Arc<Slots> {
        let free = Semaphore::new(slots.clamp(1, Semaphore::MAX_PERMITS));
        Arc::new(Slots { free, busy: tokio::sync::RwLock::new(()) })
    }

    /// Waits for a free slot.
    pub(crate) async fn take(&self) -> Result<Slot<'_>, ShuttingDown> {
        let free = self.free.acquire().await.map_err(|_| ShuttingDown)?;
        let busy = self.busy.try_read().map_err(|_| ShuttingDown)?;
        Ok(Slot { _free: free, _busy: busy })
    }

    fn close(&self) {
        self.free.close();
    }

    async fn drained(&self) {
        drop(self.busy.write().await);
    }
}

/// A service whose name is known at run time only. The macros of the SDK want names in code, and its options have no name
/// that can be set; this is what the macros generate.
pub(crate) struct Dispatch<H>(pub(crate) Arc<H>);

/// The handlers of a service.
pub(crate) trait Handle: Send + Sync + 'static {
    /// Handles a call; none where there is no handler of that name.
    fn handle(self: Arc<Self>, ctx: ContextInternal) -> impl Future<Output = Option<HandlerResult<Reply>>> + Send;
}

/// What a handler gives back: JSON.
pub(crate) struct Reply(Vec<u8>);

impl Reply {
    /// # Errors
    /// Never for the types of this crate, which are JSON.
    pub(crate) fn of(value: &impl serde::Serialize) -> HandlerResult<Reply> {
        Ok(Reply(serde_json::to_vec(value)?))
    }
}

impl Serialize for Reply {
    type Error = std::convert::Infallible;

    fn serialize(&self) -> Result<bytes::Bytes, Self::Error> {
        Ok(bytes::Bytes::copy_from_slice(&self.0))
    }
}

impl<H: Handle> Service for Dispatch<H> {
    type Future = ServiceBoxFuture;

    fn handle(&self, ctx: ContextInternal) -> Self::Future {
        let handlers = Arc::clone(&self.0);
        Box::pin(async move {
            match handlers.handle(ctx.clone()).await {
                Some(result) => ctx.handle_handler_result(result),
                None => return Err(SdkError::unknown_handler(ctx.service_name(), ctx.handler_name())),
            }
            ctx.end();
            Ok(())
        })
    }
}

/// A service by its handlers and its description, see `endpoint_manifest_schema.json` of the SDK.
pub(crate) fn definition<H: Handle>(handlers: Arc<H>, description: Value) -> Result<ServiceDefinition, Error> {
    let description = serde_json::from_value(description).map_err(|error| Error::Name(error.to_string()))?;
    Ok(service_definition(Dispatch(handlers), description))
}
