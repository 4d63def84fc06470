//! The routes put together: what is open, what needs the token, and the limits around them.

use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware;
use axum::routing::get;
use tokio_util::sync::CancellationToken;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::a2a;
use crate::api::{self, router};
use crate::error::ApiError;
use crate::guard;
use crate::log;
use crate::mcp;
use crate::pace;
use crate::routes::{openai, page};
use crate::state::Server;

/// Every route, with its checks and limits. `closed` says that every connection has ended.
pub(crate) fn app(server: Server, closed: CancellationToken) -> Router {
    let options = &server.options;
    let is_agent = !options.models_only;
    let usual = DefaultBodyLimit::max(options.max_body);
    let with_files = DefaultBodyLimit::max(guard::most_with_files(options));
    let mut guarded = router(api::models()).layer(usual).merge(router(api::with_files()).layer(with_files));
    if is_agent {
        let agent = a2a::routes().merge(router(api::agent())).layer(with_files);
        guarded = guarded.merge(router(api::pipelines()).layer(usual)).merge(agent);
    }
    let plain = Router::new()
        .route("/v1/models/{id}", get(openai::model))
        // Some clients do not escape the stroke in a model's id.
        .route("/v1/models/{owner}/{name}", get(openai::model_of_owner))
        .route("/mcp", mcp::route(&server, closed));
    let guarded = guarded.merge(plain).route_layer(middleware::from_fn_with_state(server.clone(), guard::token));
    let files = router(api::files()).route_layer(middleware::from_fn_with_state(server.clone(), guard::link_or_token));
    let open = router(api::open());
    let open = if is_agent { open.merge(a2a::open_routes()) } else { open };
    let cors = cors(&options.cors_origins);
    guarded
        .merge(files)
        .merge(open)
        .route("/openapi.json", get(page::page))
        .fallback(page::page)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(server.clone(), pace::paced))
        .layer(CompressionLayer::new())
        .layer(middleware::from_fn_with_state(server.clone(), guard::origin))
        .layer(cors)
        .layer(middleware::from_fn(guard::dress))
        .layer(middleware::from_fn_with_state(server.clone(), log::request))
        .with_state(server)
}

async fn wrong_method() -> ApiError {
    ApiError::new(
        axum::http::StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address is not called with that method",
    )
    .hint("the API is at /docs")
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins: Vec<HeaderValue> = origins.iter().filter_map(|origin| origin.parse().ok()).collect();
    if origins.is_empty() {
        return CorsLayer::new();
    }
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            HeaderName::from_static("a2a-extensions"),
            HeaderName::from_static("a2a-version"),
            HeaderName::from_static("last-event-id"),
            HeaderName::from_static("mcp-method"),
            HeaderName::from_static("mcp-name"),
            HeaderName::from_static("mcp-protocol-version"),
            HeaderName::from_static("mcp-session-id"),
            HeaderName::from_static("x-request-id"),
        ])
        .expose_headers(["mcp-session-id", "x-request-id", "x-run-id"].map(HeaderName::from_static))
        .max_age(Duration::from_secs(3600))
}
