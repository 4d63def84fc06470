//! What callers ask: messages and attachments, turned into a Request.

use jarvis_plan::{Budget, Kind, Request, Resource, Source, Turn, is_han};
use jarvis_store::Media;
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::options::{CallerPolicy, Options};
use crate::parts::CallerModel;
use jarvis_net::Secret;

/// A request, in the shape of the original's HTTP API. Fields that are not listed are ignored.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct Ask {
    /// The conversation; the last message is the request, those before it are its history.
    #[schema(min_items = 1, value_type = Vec<Message>)]
    pub(crate) messages: Vec<Turn>,
    /// Files that the request is about, as `POST /upload` gives them.
    #[serde(default)]
    pub(crate) attachments: Vec<Attachment>,
    /// Answer with the plan and the chosen models, and carry nothing out.
    #[serde(default)]
    pub(crate) return_decisions: bool,
    /// Let the run go on by itself: one that is streamed when the connection closes, any other from its start, which is then the reply
    /// (202). It can be followed, and cancelled, by its id.
    #[serde(default)]
    pub(crate) detached: bool,
    /// The most that the run may take, beside what the server allows.
    #[serde(default)]
    #[schema(value_type = BudgetAsk)]
    pub(crate) budget: Budget,
    /// `false` plans without the plans of earlier runs, and keeps this one's from being planned by.
    pub(crate) experience: Option<bool>,
    /// The chat model to plan and answer with: one of the `chat_models` of `/health`. The default is the first of them.
    pub(crate) model: Option<String>,
    /// A chat endpoint of the caller's own; refused unless the server allows it.
    pub(crate) api_endpoint: Option<String>,
    /// A key for it; refused unless the server allows it.
    #[schema(write_only)]
    pub(crate) api_key: Option<String>,
}

/// The most that a run may take.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct BudgetAsk {
    /// Seconds; then nothing new starts, and what runs may end.
    max_time_s: Option<f64>,
    /// Tokens of all model calls.
    max_tokens: Option<u64>,
    /// Model calls.
    max_calls: Option<u32>,
    /// Cost of all model calls, in the currency of the server's prices.
    max_cost: Option<f64>,
}

/// One message of a conversation.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct Message {
    role: Speaker,
    #[schema(example = "read this aloud: good morning")]
    content: String,
}

/// The author of a message.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum Speaker {
    /// A person.
    User,
    /// jarvis.
    Assistant,
    /// Instructions.
    System,
}

/// A file, text or address that goes with a request: exactly one of `path`, `text` and `url`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Attachment {
    #[schema(value_type = ResourceKind)]
    pub(crate) kind: Kind,
    /// A file on the server, as `POST /upload` or an answer named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/images/0f8e.png")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// A web address; the server fetches it if its rules allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// What the person calls it, such as the name of the uploaded file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

/// What a resource is.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum ResourceKind {
    /// Plain text.
    Text,
    /// A still picture.
    Image,
    /// A sound.
    Audio,
    /// A moving picture.
    Video,
    /// Structured data, such as a table.
    Json,
}

impl Ask {
    /// The request that is meant; where a model that may be asked has no price (`unpriced`), no cost can be bounded.
    pub(crate) fn request(&self, options: &Options, unpriced: Option<&str>) -> Result<Request, ApiError> {
        let most = options.max_messages;
        if self.messages.len() > most {
            return Err(ApiError::invalid(format!("a conversation may have {most} messages")).param("messages"));
        }
        let Some((last, earlier)) = self.messages.split_last() else {
            return Err(ApiError::invalid("`messages` is empty")
                .param("messages")
                .hint(r#"send {"messages": [{"role": "user", "content": "what you want"}]}"#));
        };
        if last.content.trim().is_empty() {
            return Err(ApiError::invalid("the last message is empty").param("messages"));
        }
        let attachments = resources(&self.attachments)?;
        let turn = |turn: &Turn| Turn::said(turn.role, with_paths(&turn.content, &attachments));
        let history = earlier.iter().map(turn).collect();
        let text = with_paths(last.content.trim(), &attachments);
        if let Some(problem) = self.budget.problem() {
            return Err(ApiError::invalid(problem).param("budget"));
        }
        if let (Some(_), Some(model)) = (self.budget.max_cost, unpriced) {
            let message = format!("`max_cost` needs prices, and none is known for `{model}`");
            return Err(ApiError::invalid(message)
                .param("budget.max_cost")
                .hint("bound `max_tokens` or `max_calls`; whoever runs the server can set `prices.models`"));
        }
        let without_experience = self.experience == Some(false);
        Ok(Request { text, attachments, history, budget: self.budget, without_experience, ..Request::default() })
    }

    /// The chat endpoint and key that the caller brings, if any.
    ///
    /// # Errors
    /// When the server does not allow it, or not this host.
    pub(crate) fn caller(&self, policy: &CallerPolicy) -> Result<Option<CallerModel>, ApiError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let (endpoint, key) = (given(&self.api_endpoint), given(&self.api_key));
        let param = match (&endpoint, &key) {
            (None, None) => return Ok(None),
            (Some(_), _) => "api_endpoint",
            (None, Some(_)) => "api_key",
        };
        let refused = |message: String| {
            ApiError::new(axum::http::StatusCode::FORBIDDEN, "caller_model_refused", message).param(param)
        };
        if !policy.allow {
            return Err(refused(format!("this server does not take `{param}` from callers"))
                .hint("leave the field out; the server's own model is used"));
        }
        let endpoint = endpoint.map(|text| checked(&text, policy).ok_or(text)).transpose().map_err(|text| {
            let shown: String = text.chars().take(100).collect();
            refused(format!("`{shown}` is not an endpoint that callers may name"))
        })?;
        Ok(Some(CallerModel { endpoint, key: key.as_deref().and_then(Secret::new) }))
    }
}

/// The most files that go with a request, and that an upload may have.
pub(crate) const MOST_ATTACHMENTS: usize = 32;
/// The most bytes of the name and of the path of an attachment.
const LONGEST_NAME: usize = 300;

/// The resources that attachments stand for.
///
/// # Errors
/// Names the attachment that is wrong.
pub(crate) fn resources(attachments: &[Attachment]) -> Result<Vec<Resource>, ApiError> {
    if attachments.len() > MOST_ATTACHMENTS {
        let message = format!("a request may have {MOST_ATTACHMENTS} attachments");
        return Err(ApiError::invalid(message).param("attachments"));
    }
    let named = |(at, attachment): (usize, &Attachment)| {
        attachment.resource().map_err(|reason| {
            let param = format!("attachments[{at}]");
            ApiError::invalid(format!("`{param}`: {reason}")).param(param)
        })
    };
    attachments.iter().enumerate().map(named).collect()
}

/// The text with the display path of each attached file in the place of its name, as plans know it. One pass over what
/// was typed: what is put in is never looked at again.
fn with_paths(text: &str, attachments: &[Resource]) -> String {
    let named: Vec<(&str, &str)> = attachments
        .iter()
        .filter_map(|resource| match (&resource.source, &resource.name) {
            (Source::Public(path), Some(name)) if name.contains('.') && name.len() >= 3 => {
                Some((name.as_str(), path.as_str()))
            }
            (Source::Public(_) | Source::Inline(_) | Source::Url(_), _) => None,
        })
        .collect();
    let part_of_name = |c: char| c.is_alphanumeric() && !is_han(c) || matches!(c, '.' | '-' | '_' | '/' | '\\');
    let mut replaced = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let starts = !before.is_some_and(part_of_name);
        // A full stop after a name ends a sentence, unless the name goes on after it.
        let ends = |after: &str| {
            let mut after = after.chars();
            match after.next() {
                Some('.') => !after.next().is_some_and(char::is_alphanumeric),
                after => !after.is_some_and(part_of_name),
            }
        };
        let found = named
            .iter()
            .filter(|(name, _)| starts && rest.strip_prefix(name).is_some_and(ends))
            .max_by_key(|(name, _)| name.len());
        let (put, taken) = match found {
            Some((name, path)) => (*path, name.len()),
            None => (rest.get(..next.len_utf8()).expect("this is the next character"), next.len_utf8()),
        };
        replaced.push_str(put);
        before = rest.get(..taken).and_then(|taken| taken.chars().next_back());
        rest = rest.get(taken..).expect("a whole name or character is taken");
    }
    replaced
}

/// An endpoint whose host is on the list: parsed, never compared by how it begins.
fn checked(text: &str, policy: &CallerPolicy) -> Option<Url> {
    let url = Url::parse(text.trim()).ok()?;
    let plain = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    let host = url.host_str()?;
    let with_port = format!("{host}:{}", url.port_or_known_default()?);
    let listed = policy.hosts.iter().any(|allowed| {
        allowed.eq_ignore_ascii_case(&with_port) || (url.port().is_none() && allowed.eq_ignore_ascii_case(host))
    });
    (plain && listed).then_some(url)
}

impl Attachment {
    pub(crate) fn of(resource: &Resource) -> Attachment {
        let (mut path, mut text, mut url) = (None, None, None);
        match &resource.source {
            Source::Inline(inline) => text = Some(inline.clone()),
            Source::Public(display) => path = Some(display.clone()),
            Source::Url(address) => url = Some(address.clone()),
        }
        Attachment { kind: resource.kind, path, text, url, name: resource.name.clone() }
    }

    fn resource(&self) -> Result<Resource, String> {
        let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > LONGEST_NAME);
        if long(&self.name) || long(&self.path) {
            return Err(format!("a name or path may have {LONGEST_NAME} bytes"));
        }
        let kind = self.kind;
        let mut name = self.name.clone();
        let source = match (&self.path, &self.text, &self.url) {
            (Some(path), None, None) if kind.is_media() => {
                Source::Public(Media::display(path).map_err(|error| error.to_string())?)
            }
            (None, Some(text), None) if !kind.is_media() => {
                // Plans speak of a text by its name.
                name.get_or_insert_with(|| "attached.txt".to_owned());
                Source::Inline(text.clone())
            }
            (None, None, Some(url)) => match Url::parse(url) {
                Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Source::Url(url.clone()),
                Ok(parsed) => return Err(format!("an address may not begin with `{}:`", parsed.scheme())),
                Err(error) => return Err(format!("`{url}` is no address: {error}")),
            },
            (Some(_), None, None) => return Err(format!("a {kind} is given as `text`")),
            (None, Some(_), None) => return Err(format!("an attachment of kind {kind} is given as `path` or `url`")),
            _ => return Err("give exactly one of `path`, `text` and `url`".into()),
        };
        Ok(Resource { kind, source, name })
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Kind, Resource, Source};

    use super::with_paths;

    #[test]
    fn names_give_way_to_paths_once_and_only_as_whole_names() {
        let files = [("a.png", "/images/1.png"), ("my photo.jpg", "/images/2-a.png"), ("data.png", "/images/3.png")];
        let attached: Vec<Resource> = files
            .iter()
            .map(|(name, path)| Resource {
                kind: Kind::Image,
                source: Source::Public((*path).to_owned()),
                name: Some((*name).to_owned()),
            })
            .collect();
        for (text, want) in jarvis_testing::rows::<(String, String)>(include_str!("../cases.yaml"), "names to paths") {
            assert_eq!(with_paths(&text, &attached), want, "{text}");
        }
        // Names that lead to each other do not grow.
        let chain: Vec<Resource> = (0..32)
            .map(|at| Resource {
                kind: Kind::Image,
                source: Source::Public(format!("/images/{0}.b {0}.b", at + 1)),
                name: Some(format!("{at}.b")),
            })
            .collect();
        assert_eq!(with_paths("0.b", &chain), "/images/1.b 1.b");
    }
}
