//! From a chat request to a Request: roles, parts, pictures and sounds, and what cannot be served.

use axum::http::StatusCode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jarvis_plan::{Kind, Request, Resource, Role, Source, Turn};
use jarvis_store::Media;
use serde_json::Value;
use url::Url;

use crate::error::ApiError;
use crate::routes::openai::Links;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::ask::MOST_ATTACHMENTS;
use crate::wire::openai::{ChatCompletionRequest, ChatMessage, Content, Part};

pub(super) fn check(body: &ChatCompletionRequest) -> Result<(), ApiError> {
    let asked = |value: &Option<Value>| match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) => true,
    };
    let choice = match &body.tool_choice {
        None | Some(Value::Null) => false,
        Some(Value::String(word)) => word != "none" && word != "auto",
        Some(_) => true,
    };
    let format = body
        .response_format
        .as_ref()
        .is_some_and(|format| !format.is_null() && format.get("type").and_then(Value::as_str) != Some("text"));
    let modalities = body.modalities.as_ref().is_some_and(|kinds| kinds.iter().any(|kind| kind != "text"));
    for (param, refused, why) in [
        ("n", body.n.is_some_and(|n| n != 1), "only one reply can be given"),
        ("tools", asked(&body.tools), "jarvis calls its own tools, not the caller's"),
        ("functions", asked(&body.functions), "jarvis calls its own tools, not the caller's"),
        ("tool_choice", choice, "jarvis calls its own tools, not the caller's"),
        ("response_format", format, "the reply is text"),
        ("logprobs", body.logprobs == Some(true), "there are no probabilities to give"),
        ("modalities", modalities, "the reply is text; sounds stand in it as links"),
        ("audio", asked(&body.audio), "the reply is text; sounds stand in it as links"),
        ("stop", asked(&body.stop), "the reply cannot be ended at a word"),
    ] {
        if refused {
            let message = format!("`{param}` is not supported: {why}");
            return Err(ApiError::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message).param(param));
        }
    }
    Ok(())
}

/// The request that is meant. Pictures and sounds inside it are stored under the public root.
pub(super) async fn request(
    server: &Server,
    caller: &Caller,
    body: ChatCompletionRequest,
    links: &Links,
) -> Result<Request, ApiError> {
    let limits = Limits::of(server);
    // Files in base64 may be large.
    let taken = tokio::task::spawn_blocking(move || take_in(&body, limits)).await;
    let (last, history, files) = taken.map_err(|error| ApiError::internal("the request cannot be read", &error))??;
    let crate::Parts { media, agent, .. } = &server.parts;
    let mut attachments = Vec::with_capacity(files.len());
    for file in files {
        attachments.push(match file {
            File::At(kind, url) => Resource { kind, source: at(url, &links.base), name: None },
            File::Bytes(name, bytes) => {
                let taken = jarvis_workers::attach(&name, bytes, media, agent.reader.as_ref()).await?;
                server.own_resource(caller, &taken.resource).await?;
                Resource { name: None, ..taken.resource }
            }
        });
    }
    Ok(Request { text: last.content.trim().to_owned(), attachments, history, ..Request::default() })
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    messages: usize,
    text: usize,
    file: usize,
}

impl Limits {
    fn of(server: &Server) -> Limits {
        let options = &server.options;
        Limits { messages: options.max_messages, text: options.max_body, file: options.max_upload }
    }
}

/// The last message, those before it, and the files of all.
fn take_in(body: &ChatCompletionRequest, limits: Limits) -> Result<(Turn, Vec<Turn>, Vec<File>), ApiError> {
    let most = limits.messages;
    if body.messages.len() > most {
        return Err(ApiError::invalid(format!("a conversation may have {most} messages")).param("messages"));
    }
    let too_large = |what: &str| ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", what).param("messages");
    let mut turns = Vec::with_capacity(body.messages.len());
    let mut files = Vec::new();
    let mut texts = 0;
    for (at, message) in body.messages.iter().enumerate() {
        let read = read(message).map_err(|reason| {
            let param = format!("messages[{at}]");
            ApiError::invalid(format!("`{param}`: {reason}")).param(param)
        })?;
        texts += read.text.len();
        if texts > limits.text {
            return Err(too_large("the texts of the conversation are longer than this server takes"));
        }
        // Files of earlier turns count too: "now make it grey" speaks of them.
        files.extend(read.files);
        if files.len() > MOST_ATTACHMENTS {
            return Err(
                ApiError::invalid(format!("a conversation may have {MOST_ATTACHMENTS} files")).param("messages")
            );
        }
        turns.push(Turn { role: read.role, content: read.text });
    }
    let Some(last) = turns.pop() else { return Err(ApiError::invalid("`messages` is empty").param("messages")) };
    if last.role != Role::User {
        return Err(ApiError::invalid("the last message must be the user's").param("messages"));
    }
    if last.content.trim().is_empty() && files.is_empty() {
        return Err(ApiError::invalid("the last message is empty").param("messages"));
    }
    if files.iter().any(|file| matches!(file, File::Bytes(_, bytes) if bytes.len() > limits.file)) {
        return Err(too_large("a file of the conversation is larger than this server takes"));
    }
    Ok((last, turns, files))
}

/// Where an address leads: this server's own files are not fetched over the network.
fn at(url: String, own: &str) -> Source {
    match url.strip_prefix(own).filter(|path| path.starts_with('/')).map(Media::display) {
        Some(Ok(path)) => Source::Public(path),
        Some(Err(_)) | None => Source::Url(url),
    }
}

struct Read {
    role: Role,
    text: String,
    files: Vec<File>,
}

enum File {
    /// An address, fetched when the file is needed.
    At(Kind, String),
    /// Its bytes, and a name that tells what they are.
    Bytes(String, Vec<u8>),
}

fn read(message: &ChatMessage) -> Result<Read, String> {
    let role = match message.role.as_str() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => return Err("messages of tools are not supported: jarvis calls its own tools".into()),
        other => return Err(format!("`{}` is not a role", other.chars().take(40).collect::<String>())),
    };
    let mut text = String::new();
    let mut files = Vec::new();
    match &message.content {
        None => {}
        Some(Content::Text(whole)) => text.clone_from(whole),
        Some(Content::Parts(parts)) => {
            for part in parts {
                match read_part(part)? {
                    Piece::Text(piece) => {
                        if !text.is_empty() {
                            text.push('\n');
                        }
                        text.push_str(piece);
                    }
                    Piece::File(file) => files.push(file),
                }
            }
        }
    }
    Ok(Read { role, text, files })
}

enum Piece<'a> {
    Text(&'a str),
    File(File),
}

fn read_part(part: &Part) -> Result<Piece<'_>, String> {
    match (part.kind.as_str(), part) {
        ("text", Part { text: Some(text), .. }) => Ok(Piece::Text(text)),
        ("image_url", Part { image_url: Some(image), .. }) => picture(&image.url).map(Piece::File),
        ("input_audio", Part { input_audio: Some(audio), .. }) => {
            let format = audio.format.trim();
            if !matches!(format, "wav" | "mp3" | "flac" | "ogg") {
                return Err("the format of a sound is `wav`, `mp3`, `flac` or `ogg`".into());
            }
            let bytes =
                STANDARD.decode(audio.data.trim()).map_err(|error| format!("its sound is not base64: {error}"))?;
            Ok(Piece::File(File::Bytes(format!("sound.{format}"), bytes)))
        }
        ("text" | "image_url" | "input_audio", _) => {
            Err(format!("a part of type `{0}` needs the field `{0}`", part.kind))
        }
        (other, _) => Err(format!(
            "parts of type `{}` are not supported; `text`, `image_url` and `input_audio` are",
            other.chars().take(40).collect::<String>()
        )),
    }
}

fn picture(address: &str) -> Result<File, String> {
    let Some(data) = address.strip_prefix("data:") else {
        return match Url::parse(address) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(File::At(Kind::Image, address.to_owned())),
            Ok(url) => Err(format!("the address of a picture may not begin with `{}:`", url.scheme())),
            Err(error) => Err(format!("the address of a picture is wrong: {error}")),
        };
    };
    let (head, body) = data.split_once(',').ok_or("its data URL has no comma")?;
    if !head.ends_with(";base64") {
        return Err("its data URL is not base64".into());
    }
    let bytes = STANDARD.decode(body.trim()).map_err(|error| format!("its data URL is not base64: {error}"))?;
    // What it is, the bytes tell; the type that the URL names need not be true.
    match jarvis_store::sniff::sniff(&bytes) {
        Some(found) if found.kind == Some(Kind::Image) => {
            Ok(File::Bytes(format!("picture.{}", found.extension), bytes))
        }
        _ => Err("its data URL holds no picture".into()),
    }
}
