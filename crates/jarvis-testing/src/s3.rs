//! A real S3 server over a folder, on a port of this machine that is free. It counts its requests and can refuse some.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// The bucket that is there from the start.
pub const BUCKET: &str = "media";
/// The only access key, and its secret.
pub const KEY: &str = "a-key";
pub const SECRET: &str = "a-secret";

pub struct Server {
    /// Its URL, without a slash at the end.
    pub address: String,
    root: TempDir,
    requests: Arc<AtomicUsize>,
    /// Requests that it answers with 503 before it serves.
    pub busy: Arc<AtomicUsize>,
    runtime: Option<Runtime>,
}

impl Server {
    pub fn start() -> Server {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(root.path().join(BUCKET)).expect("writable");
        let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root.path()).expect("a folder"));
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = builder.build();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (requests, busy) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counted, refused) = (Arc::clone(&requests), Arc::clone(&busy));
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("a socket");
            while let Ok((stream, _)) = listener.accept().await {
                let (service, counted, refused) = (service.clone(), Arc::clone(&counted), Arc::clone(&refused));
                let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let is_busy = refused.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
                    let service = service.clone();
                    async move {
                        let mut response = service.call(request.map(s3s::Body::from)).await?;
                        if is_busy.is_ok() {
                            *response.status_mut() = hyper::StatusCode::SERVICE_UNAVAILABLE;
                            *response.body_mut() = s3s::Body::empty();
                            response.headers_mut().clear();
                        }
                        Ok::<_, s3s::HttpError>(response)
                    }
                });
                tokio::spawn(async move {
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        Server { address, root, requests, busy, runtime: Some(runtime) }
    }

    /// Makes a further bucket; gives its folder.
    pub fn make_bucket(&self, name: &str) -> PathBuf {
        let folder = self.root.path().join(name);
        std::fs::create_dir(&folder).expect("writable");
        folder
    }

    /// The folder that is [`BUCKET`].
    pub fn bucket(&self) -> PathBuf {
        self.root.path().join(BUCKET)
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test may run on a runtime of its own, which must not wait for the end of another.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
