//! What the Hub sends: headers, pages, errors and model cards.

use jarvis_net::text::shorten;
use reqwest::header::{self, HeaderMap};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The address of the next page in a `Link` header.
pub(super) fn next_page(headers: &HeaderMap, base: &Url) -> Option<Url> {
    let links = headers.get_all(header::LINK).iter().filter_map(|link| link.to_str().ok());
    let next = links.flat_map(|links| links.split(',')).find_map(|link| {
        let (address, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        parameters.replace(' ', "").contains("rel=\"next\"").then(|| address.to_owned())
    })?;
    base.join(&next).ok()
}

/// The message of a reply such as `{"error": "…"}`.
pub(super) fn error_text(body: &[u8]) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = value.get("error").or_else(|| value.get("message"));
    error.and_then(Value::as_str).map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned)
}

/// The licence that a model card names, as one text.
pub(super) fn license(card: &Value, tags: &[String]) -> Option<String> {
    let named = |key: &str| match card.get(key) {
        Some(Value::String(name)) => Some(name.clone()),
        Some(Value::Array(names)) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            (!names.is_empty()).then(|| names.join(", "))
        }
        _ => None,
    };
    let tagged = || tags.iter().find_map(|tag| tag.strip_prefix("license:")).map(str::to_owned);
    let license = named("license").or_else(tagged)?;
    // `other` stands for a name and a text of the authors' own.
    let details: Vec<String> = ["license_name", "license_link"].into_iter().filter_map(named).collect();
    let text = if details.is_empty() { license } else { format!("{license} ({})", details.join(", ")) };
    Some(shorten(&text, 200))
}

#[derive(Deserialize)]
pub(super) struct RevisionReply {
    pub(super) id: Option<String>,
    pub(super) sha: String,
    #[serde(default)]
    pub(super) gated: Value,
    #[serde(default)]
    pub(super) tags: Vec<String>,
    pub(super) pipeline_tag: Option<String>,
    #[serde(default, rename = "cardData")]
    pub(super) card: Value,
}

#[derive(Deserialize)]
pub(super) struct TreeEntry {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) path: String,
    #[serde(default)]
    pub(super) oid: String,
    #[serde(default)]
    pub(super) size: u64,
    pub(super) lfs: Option<Lfs>,
}

#[derive(Deserialize)]
pub(super) struct Lfs {
    pub(super) oid: String,
    pub(super) size: u64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn licences_are_read_from_cards_and_tags() {
        for (card, tags, expected) in [
            (json!({"license": "mit"}), vec![], Some("mit")),
            (json!({"license": ["mit", "apache-2.0"]}), vec![], Some("mit, apache-2.0")),
            (
                json!({"license": "other", "license_name": "x-research", "license_link": "LICENSE"}),
                vec![],
                Some("other (x-research, LICENSE)"),
            ),
            (json!(null), vec!["onnx", "license:apache-2.0"], Some("apache-2.0")),
            (json!({"license": []}), vec![], None),
        ] {
            let tags: Vec<String> = tags.into_iter().map(str::to_owned).collect();
            assert_eq!(license(&card, &tags).as_deref(), expected, "{card}");
        }
    }

    #[test]
    fn the_next_page_is_found() {
        let base = Url::parse("https://hub.test/api/models/a/b/tree/c?recursive=true").unwrap();
        for (link, expected) in [
            ("<https://hub.test/x?cursor=1>; rel=\"next\"", Some("https://hub.test/x?cursor=1")),
            ("</x?cursor=1>; rel=\"next\"", Some("https://hub.test/x?cursor=1")),
            ("<https://a/>; rel=\"prev\", <https://b/>; rel=\"next\"", Some("https://b/")),
            ("<https://a/>; rel=\"prev\"", None),
            ("nonsense", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::LINK, link.parse().unwrap());
            assert_eq!(next_page(&headers, &base).as_ref().map(Url::as_str), expected, "{link}");
        }
    }
}
