//! The routes put together: what is open, what needs the token, and the limits around them.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware;
use axum::routing::{get, post};
use tokio_util::sync::CancellationToken;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Components, ContactBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::a2a;
use crate::ag_ui;
use crate::error::ApiError;
use crate::guard;
use crate::log;
use crate::mcp;
use crate::pace;
use crate::routes::{
    approvals, chats, decisions, events, health, local_models, me, media, model_server, models, openai, page, pipeline,
    plans, runs, session, tools, upload,
};
use crate::state::Server;

/// Every route, with its checks and limits. `closed` says that every connection has ended.
pub(crate) fn app(server: Server, closed: CancellationToken) -> Router {
    let options = &server.options;
    let pipelines = OpenApiRouter::new()
        .routes(routes!(pipeline::answer))
        .routes(routes!(pipeline::stream))
        .routes(routes!(pipeline::run_named))
        .routes(routes!(pipeline::stream_named))
        .routes(routes!(pipeline::tasks))
        .routes(routes!(pipeline::results))
        .routes(routes!(decisions::decide))
        .routes(routes!(decisions::stream))
        .routes(routes!(decisions::test))
        .routes(routes!(decisions::refresh))
        .routes(routes!(session::reload))
        .routes(routes!(plans::show))
        .routes(routes!(plans::run_saved))
        .routes(routes!(plans::run_saved_streamed))
        .routes(routes!(plans::run))
        .routes(routes!(plans::run_streamed))
        .routes(routes!(runs::list::list, runs::removal::remove_old))
        .routes(routes!(runs::show, runs::removal::remove))
        .routes(routes!(events::follow))
        .routes(routes!(runs::follow))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::retry))
        .routes(routes!(runs::rating::rate))
        .routes(routes!(approvals::decide))
        .routes(routes!(models::models))
        .routes(routes!(tools::list))
        .routes(routes!(me::show))
        .routes(routes!(me::export, me::remove))
        .routes(routes!(chats::list))
        .routes(routes!(chats::show, chats::put, chats::remove))
        .layer(DefaultBodyLimit::max(options.max_body));
    let json = OpenApiRouter::new()
        .routes(routes!(model_server::running))
        .routes(routes!(model_server::loaded))
        .routes(routes!(local_models::list))
        .routes(routes!(local_models::plan))
        .routes(routes!(local_models::pull))
        .route("/status/{owner}/{name}", get(model_server::status_of_owner))
        .routes(routes!(model_server::status))
        .routes(routes!(openai::models))
        .routes(routes!(openai::embeddings::embed))
        .routes(routes!(openai::audio::speak))
        .routes(routes!(health::metrics))
        .layer(DefaultBodyLimit::max(options.max_body));
    let large = OpenApiRouter::new()
        .routes(routes!(openai::complete))
        .routes(routes!(openai::images::generate))
        .routes(routes!(openai::files::list, openai::files::create))
        .routes(routes!(openai::files::show, openai::files::delete))
        .routes(routes!(openai::files::content))
        .routes(routes!(openai::responses::create))
        .routes(routes!(openai::responses::compact))
        .routes(routes!(openai::responses::show, openai::responses::delete))
        .routes(routes!(openai::responses::cancel))
        .routes(routes!(openai::responses::input_items))
        .routes(routes!(openai::audio::transcribe))
        .routes(routes!(openai::audio::translate))
        .routes(routes!(model_server::call))
        .route("/models/{owner}/{name}", post(model_server::call_of_owner))
        .routes(routes!(upload::upload))
        .layer(DefaultBodyLimit::max(guard::most_with_files(options)));
    let agent = OpenApiRouter::from(a2a::routes())
        .routes(routes!(ag_ui::run))
        .layer(DefaultBodyLimit::max(guard::most_with_files(options)));
    let is_agent = !options.models_only;
    let json = if is_agent { json.merge(pipelines).merge(agent) } else { json };
    let plain = OpenApiRouter::new()
        .route("/v1/models/{id}", get(openai::model))
        // Some clients do not escape the stroke in a model's id.
        .route("/v1/models/{owner}/{name}", get(openai::model_of_owner))
        .route("/mcp", mcp::route(&server, closed));
    let guarded =
        json.merge(large).merge(plain).route_layer(middleware::from_fn_with_state(server.clone(), guard::token));
    let files = OpenApiRouter::new()
        .routes(routes!(media::picture))
        .routes(routes!(media::sound))
        .routes(routes!(media::video))
        .routes(routes!(media::table))
        .route_layer(middleware::from_fn_with_state(server.clone(), guard::link_or_token));
    let open = OpenApiRouter::new()
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(session::log_in, session::log_out));
    let open = if is_agent { open.merge(OpenApiRouter::from(a2a::open_routes())) } else { open };
    let (router, api) = OpenApiRouter::with_openapi(about()).merge(guarded).merge(files).merge(open).split_for_parts();
    let cors = cors(&options.cors_origins);
    // As text: each layer below copies what a route holds.
    let api = Bytes::from(api.to_json().expect("names and texts alone, which JSON can hold"));
    router
        .route("/openapi.json", get(move || async move { ([(header::CONTENT_TYPE, "application/json")], api) }))
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

/// The groups of routes, in the order in which they are shown.
const TAGS: [(&str, &str); 9] = [
    ("pipeline", "Run requests"),
    ("decisions", "Plan and choose models; execute plans"),
    ("runs", "Current and past runs"),
    ("chats", "Conversations of the page"),
    ("me", "The caller's own data"),
    ("media", "Files in and out"),
    ("openai", "jarvis as a chat model"),
    ("models", "The models of this machine, each on its own"),
    ("server", "State of the server"),
];

/// The head of the API's description.
fn about() -> OpenApi {
    let mut components = Components::new();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    components
        .add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("jarvis_session"))));
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("jarvis")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(
                    "Plans a request into a task graph, chooses a model for each task, runs the graph in parallel, and \
                     answers. Where the server has a token, every route but the state of the server and the log-in \
                     needs it.",
                ))
                .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").build()))
                .contact(None::<ContactBuilder>.map(ContactBuilder::build))
                .build(),
        )
        .components(Some(components))
        .security(Some([
            SecurityRequirement::default(),
            SecurityRequirement::new("token", Vec::<String>::new()),
            SecurityRequirement::new("session", Vec::<String>::new()),
        ]))
        .tags(Some(TAGS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())))
        .build()
}
