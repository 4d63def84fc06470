//! The Agent2Agent protocol, version 1.0: other agents find this server by its card, send it messages, and follow what comes of them. A
//! task of the protocol is a run, by the same id.
//!
//! One core ([`tasks`], [`list`], [`push`]) serves three bindings: JSON-RPC at `/a2a`, HTTP and JSON below it, and gRPC. What a run's
//! events mean as a task is said in [`telling`] alone. Clients of versions 0.x, which speak JSON-RPC, are understood by [`old`].

mod card;
mod fault;
pub(crate) mod grpc;
mod intake;
mod list;
mod old;
pub(crate) mod push;
mod rest;
mod rpc;
mod tasks;
mod telling;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use sha2::{Digest, Sha256};

use crate::state::Server;
use crate::users::Caller;

use fault::{Fault, Wrong};
use tasks::Client;

/// Where the bindings over HTTP are.
const PATH: &str = "/a2a";

/// The version that is spoken.
const VERSION: &str = "1.0";

/// The header, and the metadata of gRPC, that says which version a client speaks.
const VERSION_HEADER: &str = "a2a-version";

/// What a version that a client names means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoken {
    Now,
    /// 0.3, which clients speak that name none.
    Old,
}

/// The routes behind the guard.
pub(crate) fn routes() -> Router<Server> {
    Router::new()
        .route("/a2a", post(rpc::call))
        // Some clients put a stroke behind the address of the card.
        .route("/a2a/", post(rpc::call))
        .route("/a2a/message:send", post(rest::send))
        .route("/a2a/message:stream", post(rest::stream))
        .route("/a2a/tasks", get(rest::list))
        .route("/a2a/tasks/{id}", get(rest::get).post(rest::act))
        .route("/a2a/tasks/{id}/pushNotificationConfigs", get(rest::list_webhooks).post(rest::create_webhook))
        .route(
            "/a2a/tasks/{id}/pushNotificationConfigs/{webhook}",
            get(rest::webhook).merge(delete(rest::delete_webhook)),
        )
        .route("/a2a/extendedAgentCard", get(rest::extended_card))
}

/// The route that anybody may read.
pub(crate) fn open_routes() -> Router<Server> {
    Router::new().route("/.well-known/agent-card.json", get(agent_card)).route("/.well-known/agent.json", get(old_card))
}

/// The card, with what caches need.
async fn agent_card(State(server): State<Server>, headers: HeaderMap) -> Response {
    cached(&card::card(&server, &server.base(&headers), false), &headers)
}

/// The card where clients of older versions may look for it.
async fn old_card(State(server): State<Server>, headers: HeaderMap) -> Response {
    cached(&old::card(card::card(&server, &server.base(&headers), false)), &headers)
}

fn cached(card: &impl serde::Serialize, headers: &HeaderMap) -> Response {
    let body = serde_json::to_vec(card).unwrap_or_default();
    let digest = Sha256::digest(&body).iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>();
    let tag = format!("\"{digest}\"");
    let is_known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).is_some_and(|known| {
        known
            .split(',')
            .any(|one| matches!(one.trim().trim_start_matches("W/"), "*") || one.trim().trim_start_matches("W/") == tag)
    });
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
    };
    let caching = [
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=60")),
        (header::VARY, HeaderValue::from_static("host")),
    ];
    response.headers_mut().extend(caching);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// The client behind a request over HTTP.
fn client(server: Server, caller: Caller, headers: &HeaderMap) -> Client {
    let base = server.base(headers);
    Client { server, caller, base }
}

/// Which version a client speaks: what it says in the header, or else as a parameter of the address.
fn spoken(header: Option<&HeaderValue>, query: Option<&str>) -> Result<Spoken, Fault> {
    let parameter = || {
        let mut pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        pairs.find(|(name, _)| name.eq_ignore_ascii_case(VERSION_HEADER)).map(|(_, value)| value.into_owned())
    };
    let said = header.map(|value| value.to_str().unwrap_or("?").to_owned()).or_else(parameter).unwrap_or_default();
    let said = said.trim();
    let mut numbers = said.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        _ if said.is_empty() => Ok(Spoken::Old),
        // A number behind them says nothing of the protocol.
        (Some(Ok(1)), None | Some(Ok(0))) => Ok(Spoken::Now),
        (Some(Ok(0)), Some(Ok(3))) => Ok(Spoken::Old),
        _ => {
            let shown: String = said.chars().take(40).collect();
            Err(Fault::new(Wrong::Version, format!("version `{shown}` of the protocol is not spoken here"))
                .hint("send the header `A2A-Version: 1.0`"))
        }
    }
}

/// Checks that a client speaks the version of a binding that older versions do not have here.
fn must_be_now(header: Option<&HeaderValue>, query: Option<&str>) -> Result<(), Fault> {
    match spoken(header, query)? {
        Spoken::Now => Ok(()),
        Spoken::Old => {
            Err(Fault::new(Wrong::Version, "version 0.3, which is meant without a header, is not spoken here").hint(
                "send the header `A2A-Version: 1.0`; version 0.3 is understood over JSON-RPC, by its own method names",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart_by_their_first_two_numbers() {
        for (header, query, want) in [
            (Some("1.0"), None, Some(Spoken::Now)),
            (Some("1"), None, Some(Spoken::Now)),
            (Some("1.0.7"), None, Some(Spoken::Now)),
            (None, Some("x=1&A2A-Version=1.0"), Some(Spoken::Now)),
            (Some("0.3"), Some("A2A-Version=1.0"), Some(Spoken::Old)),
            (Some("0.3.0"), None, Some(Spoken::Old)),
            (Some(""), None, Some(Spoken::Old)),
            (None, None, Some(Spoken::Old)),
            (Some("1.1"), None, None),
            (Some("99.0"), None, None),
            (Some("0.2"), None, None),
            (Some("one"), None, None),
        ] {
            let header = header.map(HeaderValue::from_static);
            assert_eq!(spoken(header.as_ref(), query).ok(), want, "{header:?} {query:?}");
        }
    }
}
