//! A mock server for the API of an OpenAPI document. It checks every request against the document, and answers with the
//! document's examples or with values generated from its schemas, always the same.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use jarvis_catalogue::openapi::{ApiDocument, Found, KeyPlace, Location, Operation};
use serde_json::{Map, Value, json};

use crate::instruct::add_query;

/// The largest body of a request that is read, in bytes.
const MAX_BODY: usize = 4 << 20;

/// The most requests that are kept; later ones are answered, not kept.
const MAX_KEPT: usize = 10_000;

const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cc`\0\0\0\x02\0\x01H\xaf\xa4q\0\0\0\0IEND\xaeB`\x82";

#[derive(Debug, Clone)]
pub struct ApiMock {
    document: Arc<ApiDocument>,
    key: Option<(KeyPlace, String)>,
    /// Paths of the document's addresses, which a request may begin with: `/v1`.
    prefixes: Vec<String>,
    requests: Arc<Mutex<Vec<MockRequest>>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MockRequest {
    pub method: String,
    pub path: String,
    /// What followed `?`, without the key; empty when nothing did.
    pub query: String,
    /// The operation that it meant, as `GET /movie/{movie_id}`; empty for none.
    pub operation: String,
    pub arguments: Map<String, Value>,
    pub status: u16,
}

type Values = Vec<(String, String)>;

struct Answer {
    status: u16,
    media_type: String,
    body: Vec<u8>,
    allow: Option<String>,
}

impl Answer {
    fn json(status: u16, value: &Value) -> Answer {
        Answer { status, media_type: "application/json".into(), body: value.to_string().into_bytes(), allow: None }
    }

    fn error(status: u16, message: &str) -> Answer {
        Answer::json(status, &json!({"error": {"status": status, "message": message}}))
    }
}

impl ApiMock {
    pub fn new(document: ApiDocument) -> ApiMock {
        let path = |address: &String| match url::Url::parse(address) {
            Ok(url) => url.path().trim_end_matches('/').to_owned(),
            Err(_) => address.trim_end_matches('/').to_owned(),
        };
        let prefixes = document.servers.iter().map(path).filter(|path| path.starts_with('/')).collect();
        ApiMock { document: Arc::new(document), key: None, prefixes, requests: Arc::default() }
    }

    /// The same, but requests must carry this key where the document says; as a bearer token where it says nothing.
    pub fn with_key(mut self, key: impl Into<String>) -> ApiMock {
        let place = self.document.keys.first().cloned().unwrap_or(KeyPlace::Bearer);
        self.key = Some((place, key.into()));
        self
    }

    /// The requests so far, oldest first; the first 10,000 of them.
    pub fn requests(&self) -> Vec<MockRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn router(&self) -> Router {
        let mock = self.clone();
        Router::new().fallback(move |request: Request| {
            let mock = mock.clone();
            async move { mock.respond(request).await }
        })
    }

    async fn respond(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let (path, query) = (parts.uri.path().to_owned(), parts.uri.query().unwrap_or_default().to_owned());
        let mut kept = MockRequest {
            method: parts.method.to_string(),
            query: self.without_key(&query),
            path,
            operation: String::new(),
            arguments: Map::new(),
            status: 0,
        };
        let answer = match to_bytes(body, MAX_BODY).await {
            Ok(body) => self.answer(&parts.headers, &query, &body, &mut kept).unwrap_or_else(|error| error),
            Err(_) => Answer::error(413, "the body is too large"),
        };
        kept.status = answer.status;
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if requests.len() < MAX_KEPT {
            requests.push(kept);
        }
        drop(requests);
        let mut response = Response::new(Body::from(answer.body));
        *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
        for (name, value) in [(header::CONTENT_TYPE, Some(answer.media_type)), (header::ALLOW, answer.allow)] {
            let value = value.filter(|value| !value.is_empty());
            if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }

    fn answer(&self, headers: &HeaderMap, query: &str, body: &[u8], kept: &mut MockRequest) -> Result<Answer, Answer> {
        let (operation, values) = self.find(&kept.method, &kept.path)?;
        kept.operation = operation.usage();
        if !operation.public && !self.knows_key(headers, query) {
            return Err(Answer::error(401, "the key is missing or wrong"));
        }
        kept.arguments = arguments(operation, &values, headers, &kept.query, body)?;
        let faults: Vec<String> = operation.faults(&kept.arguments).iter().map(ToString::to_string).collect();
        if !faults.is_empty() {
            return Err(Answer::error(400, &faults.join("; ")));
        }
        Ok(self.good(operation, &values))
    }

    /// The operation that a path means, with or without the path of the document's address before it.
    fn find(&self, method: &str, path: &str) -> Result<(&Operation, Values), Answer> {
        let bare = self.prefixes.iter().filter_map(|prefix| path.strip_prefix(prefix.as_str()));
        let mut others: Vec<&str> = Vec::new();
        for path in std::iter::once(path).chain(bare) {
            match self.document.find(method, path) {
                Found::Operation(operation, values) => return Ok((operation, values)),
                Found::OtherMethods(methods) => others.extend(methods),
                Found::Nothing => {}
            }
        }
        if others.is_empty() {
            return Err(Answer::error(404, &format!("there is no path `{path}`")));
        }
        let message = format!("`{path}` takes {}, not {method}", others.join(", "));
        Err(Answer { allow: Some(others.join(", ")), ..Answer::error(405, &message) })
    }

    fn knows_key(&self, headers: &HeaderMap, query: &str) -> bool {
        let Some((place, key)) = &self.key else { return true };
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let given = match place {
            KeyPlace::Query(name) => url::form_urlencoded::parse(query.as_bytes())
                .find(|(one, _)| one == name)
                .map(|(_, value)| value.into()),
            KeyPlace::Header(name) => header(name),
            KeyPlace::Bearer => {
                header("authorization").and_then(|text| text.strip_prefix("Bearer ").map(str::to_owned))
            }
        };
        given.as_deref() == Some(key)
    }

    fn without_key(&self, query: &str) -> String {
        let is_key =
            |name: &str| self.document.keys.iter().any(|place| matches!(place, KeyPlace::Query(key) if key == name));
        let rest = query.split('&').filter(|pair| !is_key(pair.split('=').next().unwrap_or_default()));
        rest.collect::<Vec<_>>().join("&")
    }

    /// What the document shows, or what fits its schema; ids of the path stand in it.
    fn good(&self, operation: &Operation, values: &[(String, String)]) -> Answer {
        let response = self.document.response(operation);
        let media_type = response.media_type;
        let made_up = || response.schema.as_ref().map(|schema| schema.full_sample(""));
        let value = response.example.or_else(made_up);
        let body = match () {
            () if media_type.is_empty() => Vec::new(),
            () if media_type.contains("json") => {
                let mut value = value.unwrap_or(Value::Null);
                echo(&mut value, values);
                value.to_string().into_bytes()
            }
            () if media_type.starts_with("image/") => PIXEL.to_vec(),
            () => match value {
                Some(Value::String(text)) => text.into_bytes(),
                Some(value) => value.to_string().into_bytes(),
                None => Vec::new(),
            },
        };
        Answer { status: response.status, media_type, body, allow: None }
    }
}

/// Puts the values of the path into the answer: what was asked for is what is given.
fn echo(answer: &mut Value, values: &[(String, String)]) {
    let Some(fields) = answer.as_object_mut() else { return };
    let last = values.len().saturating_sub(1);
    for (at, (name, value)) in values.iter().enumerate() {
        for key in [name.as_str(), "id"] {
            let own = key == name || (at == last && (name == "id" || name.ends_with("_id")));
            match fields.get_mut(key).filter(|_| own) {
                Some(field @ Value::Number(_)) => {
                    if let Ok(number) = value.parse::<i64>() {
                        *field = number.into();
                    }
                }
                Some(field @ Value::String(_)) => *field = value.clone().into(),
                Some(_) | None => {}
            }
        }
    }
}

fn arguments(
    operation: &Operation,
    values: &[(String, String)],
    headers: &HeaderMap,
    query: &str,
    body: &[u8],
) -> Result<Map<String, Value>, Answer> {
    let mut all: Map<String, Value> =
        values.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
    let is_elsewhere = |name: &str| operation.parameter(name).is_some_and(|one| one.location != Location::Query);
    if let Some((name, _)) = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| is_elsewhere(name)) {
        return Err(Answer::error(400, &format!("`{name}` is no parameter of the query")));
    }
    add_query(&mut all, query);
    for parameter in operation.parameters.iter().filter(|one| one.location == Location::Header) {
        if let Some(value) = headers.get(parameter.name.as_str()).and_then(|value| value.to_str().ok()) {
            all.insert(parameter.name.clone(), value.into());
        }
    }
    let Some(wanted) = &operation.body else { return Ok(all) };
    if body.is_empty() {
        return match wanted.required {
            true => Err(Answer::error(400, "the request needs a body")),
            false => Ok(all),
        };
    }
    let value = if wanted.media_type.starts_with("application/x-www-form-urlencoded") {
        let pairs = url::form_urlencoded::parse(body);
        Value::Object(pairs.map(|(name, value)| (name.into(), value.into())).collect())
    } else if wanted.media_type.contains("json") {
        serde_json::from_slice(body).map_err(|error| Answer::error(400, &format!("the body is not JSON: {error}")))?
    } else {
        String::from_utf8_lossy(body).into()
    };
    match value {
        Value::Object(fields) if !wanted.whole => {
            // A field may have the name of a parameter, which is then another thing.
            let known = |name: &str| operation.parameter(name).is_none_or(|one| one.location == Location::Body);
            all.extend(fields.into_iter().filter(|(name, _)| known(name)));
        }
        value if wanted.whole => {
            all.insert("body".into(), value);
        }
        _ => return Err(Answer::error(400, "the body should be an object")),
    }
    Ok(all)
}
