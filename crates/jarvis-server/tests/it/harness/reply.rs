//! Replies of the server, whole and as streams.

use reqwest::Response;
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl Reply {
    pub(crate) async fn of(response: Response) -> Reply {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("a whole reply");
        let json = serde_json::from_str(&text).unwrap_or_default();
        Reply { status, headers, text, json }
    }

    pub(crate) fn told(&self) -> String {
        match self.json.pointer("/error/code").and_then(Value::as_str) {
            Some(code) => format!("{} {code}", self.status),
            None => self.status.to_string(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Name and data of each event of a whole stream.
pub(crate) fn events(text: &str) -> Vec<(String, Value)> {
    let field = |event: &str, name: &str| {
        event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned))
    };
    text.split("\n\n")
        .filter_map(|event| {
            let data = field(event, "data")?;
            let value = serde_json::from_str(&data).unwrap_or(Value::String(data));
            Some((field(event, "event").unwrap_or_default(), value))
        })
        .collect()
}
