//! Mock servers, so that runs can be tried and tested without the real services.

mod api;
mod recorded;

use axum::Router;
use tokio::net::TcpListener;

pub use api::{ApiMock, MockRequest};
pub use recorded::Recorded;

pub async fn serve(listener: TcpListener, router: Router) -> std::io::Result<()> {
    axum::serve(listener, router).await
}
