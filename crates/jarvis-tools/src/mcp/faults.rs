//! What goes wrong between an MCP server and us, in words that help a person: the innermost cause and what to look at, no
//! names of types, nothing that is secret.

use std::error::Error;

use jarvis_net::causes::{chain, innermost};
use jarvis_net::http::cause;
use jarvis_net::policy::shown;
use jarvis_net::text::{Secret, shorten};
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use url::Url;

use crate::{ToolErrorKind, reach};

pub(super) fn redact(text: &str, secrets: &[Secret]) -> String {
    let black = |text: String, part: &str| {
        // Very short values occur in any text; blacking them out would only tell them.
        if part.trim().len() > 3 { text.replace(part.trim(), "[redacted]") } else { text }
    };
    secrets.iter().fold(text.to_owned(), |text, secret| {
        let whole = black(text, secret.expose());
        // A key of several lines may be told line by line.
        secret.expose().lines().fold(whole, black)
    })
}

/// An address as messages show it: parts of the path that look like keys are left out too.
pub(super) fn place(address: &Url) -> String {
    let mut address = address.clone();
    let is_key = |part: &str| {
        part.len() >= 20 && part.bytes().any(|b| b.is_ascii_digit()) && part.bytes().any(|b| b.is_ascii_alphabetic())
    };
    let parts: Vec<&str> = address.path().split('/').map(|part| if is_key(part) { "..." } else { part }).collect();
    let path = parts.join("/");
    address.set_path(&path);
    shown(&address)
}

/// A handshake that failed, in words that follow the server's name. `place` is the address of a server over HTTP.
pub(super) fn handshake(error: &ClientInitializeError, place: Option<&str>) -> (ToolErrorKind, String) {
    let odd = |words: &str| (ToolErrorKind::Transport, words.to_owned());
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            transport(error.error.as_ref(), place, "broke the connection off")
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => handshake(fallback, place),
        ClientInitializeError::ConnectionClosed(_) => odd("closed the connection before it answered"),
        ClientInitializeError::JsonRpcError(error) => {
            (ToolErrorKind::Transport, format!("answers with an error: {}", shorten(&error.message, 400)))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<String> = server_supported.iter().take(10).map(|version| version.to_string()).collect();
            let versions = if versions.is_empty() { "none that it names".to_owned() } else { versions.join(", ") };
            let words =
                format!("speaks no version of the protocol that is spoken here, but {}", shorten(&versions, 200));
            (ToolErrorKind::Transport, words)
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => odd("answers something else than it was asked"),
        ClientInitializeError::Cancelled | ClientInitializeError::NoPreferredProtocolVersion => odd("was given up"),
        // The crate may come to know more kinds.
        _ => odd("gives no usable answer"),
    }
}

/// A failure of what carries the messages, in words that follow the server's name. `broken` is what is said of pipes.
pub(super) fn transport(error: &(dyn Error + 'static), place: Option<&str>, broken: &str) -> (ToolErrorKind, String) {
    match chain(error).find_map(|cause| cause.downcast_ref::<StreamableHttpError<reqwest::Error>>()) {
        Some(error) => over_http(error, place.unwrap_or_default()),
        None => (ToolErrorKind::Transport, format!("{broken}: {}", shorten(&innermost(error).to_string(), 200))),
    }
}

fn over_http(error: &StreamableHttpError<reqwest::Error>, place: &str) -> (ToolErrorKind, String) {
    let refused =
        || (ToolErrorKind::Unauthorized, "does not let us in; see its `headers` in the configuration".to_owned());
    let odd = |words: &str, hint: &str| {
        (ToolErrorKind::Transport, format!("gives no usable answer at {place}: {}{hint}", shorten(words, 200)))
    };
    let endpoint = "; is its `url` that of its MCP endpoint?";
    match error {
        StreamableHttpError::Client(error) => {
            let cause = reach::plain(cause(error));
            let hint = reach::hint(error);
            (ToolErrorKind::Transport, format!("cannot be reached at {place}: {cause}{hint}"))
        }
        StreamableHttpError::AuthRequired(_) | StreamableHttpError::InsufficientScope(_) => refused(),
        StreamableHttpError::HttpStatus(status) => match status.status {
            429 => (ToolErrorKind::TooManyRequests, "takes no more calls now".to_owned()),
            _ => odd(&status.to_string(), ""),
        },
        StreamableHttpError::UnexpectedServerResponse(words) => match words.strip_prefix("HTTP ") {
            Some(status) if status.starts_with("401") || status.starts_with("403") => refused(),
            Some(status) if status.starts_with("429") => {
                (ToolErrorKind::TooManyRequests, "takes no more calls now".to_owned())
            }
            Some(status) => odd(&format!("HTTP {status}"), endpoint),
            None if words.starts_with("could not parse") => odd("its JSON is no message of the protocol", endpoint),
            None => odd(words, endpoint),
        },
        StreamableHttpError::UnexpectedContentType(content) => {
            let content = content.as_deref().unwrap_or("unknown");
            odd(&format!("it is of the type `{}`, not JSON or a stream of events", shorten(content, 80)), endpoint)
        }
        // The rest is told in words by itself; the crate may come to know more kinds.
        other => odd(&other.to_string(), ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_what_may_be_a_key() {
        for (address, shown) in [
            ("https://u:p@h.example/mcp?key=5#x", "https://h.example/mcp"),
            ("http://127.0.0.1:5/mcp", "http://127.0.0.1:5/mcp"),
            ("https://h.example/s/NWQ4ZTRhMmYtMzA0Yy00/mcp", "https://h.example/s/.../mcp"),
            ("https://h.example/model-context-protocol/mcp", "https://h.example/model-context-protocol/mcp"),
        ] {
            assert_eq!(place(&Url::parse(address).unwrap()), shown);
        }
    }
}
