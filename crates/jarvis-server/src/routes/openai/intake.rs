//! From a chat request to a Request: roles, parts, tools and the form of the reply, and what cannot be served.

use axum::http::StatusCode;
use jarvis_plan::{CallersTool, MustCall, ReplyForm, Request, Resource, Role, Source};
use jarvis_store::Media;
use serde_json::{Value, json};

use super::said::{Asked, File, Said, document, picture, shown, sound};
use crate::error::ApiError;
use crate::parts::Named;
use crate::routes::openai::links::Links;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::openai::{
    ChatCompletionRequest, ChatMessage, Content, FunctionTool, OneOrMany, Part, ResponseFormat, ToolChoice,
};

/// What callers bring beside the words, and how it is called in their protocol.
#[derive(Debug, Default)]
pub(super) struct Brought {
    pub(super) tools: Vec<CallersTool>,
    pub(super) form: ReplyForm,
    /// The field of the reply's schema.
    pub(super) format_param: &'static str,
}

/// What a pipeline can do with what callers bring.
pub(super) fn check_pipeline(server: &Server, named: &Named, brought: &Brought) -> Result<(), ApiError> {
    let refused = |param: &'static str, why: String| {
        let message = format!("`{param}` is not supported: {why}");
        Err(ApiError::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message).param(param))
    };
    let (plans, talks) = (named.name == jarvis_hugginggpt::NAME, named.name == jarvis_hugginggpt::Conversation::NAME);
    let has_model = server.setup().pipeline.chat.is_some();
    if !brought.tools.is_empty() && !plans && !talks {
        return refused(
            "tools",
            format!(
                "`jarvis/{}` calls its own tools alone; `jarvis/hugginggpt` plans with the caller's too",
                named.name
            ),
        );
    }
    if brought.form.must_call.is_some() && !talks {
        let why = "a plan calls what it needs; `jarvis/chat` must call what it is told to";
        return refused("tool_choice", why.to_owned());
    }
    if brought.form.schema.is_some() && !plans && !talks {
        return refused(brought.format_param, format!("`jarvis/{}` answers in words", named.name));
    }
    if brought.form.schema.is_some() && !has_model {
        let why = "JSON is written by a chat model, and none is configured (`llm.model`)";
        return refused(brought.format_param, why.to_owned());
    }
    Ok(())
}

/// What a chat request brings, and which of its fields cannot be served.
pub(super) fn brought(body: &ChatCompletionRequest) -> Result<Brought, ApiError> {
    let modalities = body.modalities.as_ref().is_some_and(|kinds| kinds.iter().any(|kind| kind != "text"));
    let has_functions = body.functions.as_ref().is_some_and(|functions| !functions.is_empty());
    for (param, refused, why) in [
        ("n", body.n.is_some_and(|n| n != 1), "only one reply can be given"),
        ("functions", has_functions, "`tools` has taken their place"),
        ("logprobs", body.logprobs == Some(true), "there are no probabilities to give"),
        ("modalities", modalities, "the reply is text; sounds stand in it as links"),
        ("audio", body.audio.is_some(), "the reply is text; sounds stand in it as links"),
    ] {
        if refused {
            let message = format!("`{param}` is not supported: {why}");
            return Err(ApiError::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message).param(param));
        }
    }
    let mut tools = Vec::new();
    for (at, tool) in body.tools.iter().flatten().enumerate() {
        let param = format!("tools[{at}]");
        let Some(function) = tool.function.as_ref().filter(|_| tool.kind == "function") else {
            let message = format!("`{param}`: tools of type `{}` are not supported; `function` is", shown(&tool.kind));
            return Err(ApiError::invalid(message).param(param));
        };
        tools.push((param, function));
    }
    let choice = body.tool_choice.as_ref();
    let (tools, must_call) = offered(tools, choice)?;
    let schema = schema(body.response_format.as_ref(), "response_format")?;
    let stop = match &body.stop {
        None => Vec::new(),
        Some(OneOrMany::One(stop)) => vec![stop.clone()],
        Some(OneOrMany::Many(stops)) => stops.clone(),
    };
    if stop.len() > 4 {
        return Err(ApiError::invalid("`stop` has at most 4 texts").param("stop"));
    }
    let number = |number: Option<f32>| number.and_then(|number| serde_json::Number::from_f64(f64::from(number)));
    let form = ReplyForm {
        schema,
        stop,
        must_call,
        temperature: number(body.temperature),
        top_p: number(body.top_p),
        presence_penalty: number(body.presence_penalty),
        frequency_penalty: number(body.frequency_penalty),
        max_tokens: body.max_completion_tokens.or(body.max_tokens),
    };
    Ok(Brought { tools, form, format_param: "response_format" })
}

/// Longest list of a caller's tools.
const MOST_TOOLS: usize = 128;

/// The tools that a caller offers, each with the field that holds it, and what must be called of them.
pub(super) fn offered(
    tools: Vec<(String, &FunctionTool)>,
    choice: Option<&ToolChoice>,
) -> Result<(Vec<CallersTool>, Option<MustCall>), ApiError> {
    let invalid = |param: String, why: &str| Err(ApiError::invalid(format!("`{param}`: {why}")).param(param));
    if tools.len() > MOST_TOOLS {
        return invalid("tools".into(), &format!("a request may bring {MOST_TOOLS} tools"));
    }
    let mut offered: Vec<CallersTool> = Vec::with_capacity(tools.len());
    for (param, tool) in tools {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let name = tool.name.as_str();
        if !(1..=64).contains(&name.len()) || !name.chars().all(is_name) {
            return invalid(param, "the name of a tool is 1 to 64 letters, digits, `_`, `-` and `.`");
        }
        if offered.iter().any(|other| other.name == name) {
            return invalid(param, &format!("two tools are called `{name}`"));
        }
        if jarvis_catalogue::find(name).is_some() {
            return invalid(param, &format!("`{name}` is a task of jarvis' own; give the tool another name"));
        }
        let schema = match &tool.parameters {
            None | Some(Value::Null) => json!({"type": "object", "properties": {}}),
            Some(schema @ Value::Object(_)) => schema.clone(),
            Some(_) => return invalid(param, "`parameters` is a JSON Schema of an object"),
        };
        let description = tool.description.clone().unwrap_or_default();
        let description = jarvis_net::text::visible(&description);
        offered.push(CallersTool { name: name.to_owned(), description, schema });
    }
    let must_call = match choice {
        None => None,
        Some(ToolChoice::Mode(mode)) => match mode.as_str() {
            "auto" => None,
            "none" => return Ok((Vec::new(), None)),
            "required" if offered.is_empty() => return invalid("tool_choice".into(), "there are no tools to call"),
            "required" => Some(MustCall::Any),
            other => {
                return invalid(
                    "tool_choice".into(),
                    &format!("`{}` is none of `auto`, `none`, `required`", shown(other)),
                );
            }
        },
        Some(ToolChoice::Named(choice)) => {
            let Some(name) = choice.name() else {
                return invalid("tool_choice".into(), "it names a function, as `{\"type\": \"function\", …}`");
            };
            if offered.iter().all(|tool| tool.name != name) {
                return invalid("tool_choice".into(), &format!("no tool is called `{}`", shown(name)));
            }
            Some(MustCall::Named(name.to_owned()))
        }
    };
    Ok((offered, must_call))
}

/// The schema that a reply must follow, with its name: that of `json_schema`, or any object for `json_object`.
pub(super) fn schema(
    format: Option<&ResponseFormat>,
    param: &'static str,
) -> Result<Option<(String, Value)>, ApiError> {
    let Some(format) = format else { return Ok(None) };
    let named = |name: Option<&String>, schema: Value| {
        Some((name.map_or_else(|| "reply".to_owned(), |name| shown(name)), schema))
    };
    match format.kind.as_str() {
        "text" => Ok(None),
        "json_object" => Ok(named(None, json!({"type": "object"}))),
        "json_schema" => {
            // Chat completions put it one level deeper than responses.
            let inner = format.json_schema.as_ref();
            let schema = inner.map_or(format.schema.as_ref(), |inner| inner.schema.as_ref());
            let name = inner.map_or(format.name.as_ref(), |inner| inner.name.as_ref());
            match schema {
                Some(schema @ Value::Object(_)) => Ok(named(name, schema.clone())),
                Some(_) | None => Err(ApiError::invalid(format!("`{param}` has no JSON Schema")).param(param)),
            }
        }
        other => {
            let message = format!("`{param}` is `text`, `json_object` or `json_schema`, not `{}`", shown(other));
            Err(ApiError::invalid(message).param(param))
        }
    }
}

/// What is said in the messages of a chat request.
pub(super) fn said(messages: &[ChatMessage]) -> Result<Said, ApiError> {
    let mut said = Said::default();
    for (at, message) in messages.iter().enumerate() {
        read(message, &mut said).map_err(|reason| {
            let param = format!("messages[{at}]");
            ApiError::invalid(format!("`{param}`: {reason}")).param(param)
        })?;
    }
    Ok(said)
}

/// The request that is meant. Files inside it are stored under the public root. Also the ids of the calls whose results it brings.
pub(super) async fn request(
    server: &Server,
    caller: &Caller,
    asked: Asked,
    brought: Brought,
    links: &Links,
) -> Result<(Request, Vec<String>), ApiError> {
    let (media, agent) = (&server.parts.media, &server.setup().agent);
    let mut attachments = Vec::with_capacity(asked.files.len());
    for file in asked.files {
        attachments.push(match file {
            File::At(kind, url) => {
                let source = at(url, links);
                if let Source::Public(path) = &source {
                    server.check_file(caller, path).await?;
                }
                Resource { kind, source, name: None }
            }
            File::Bytes(name, bytes) => {
                let taken = jarvis_workers::attach(&name, bytes, media, agent.reader.as_ref()).await?;
                server.own_resource(caller, &taken.resource).await?;
                // Only what is read as text is called by its name.
                let is_text = matches!(taken.resource.source, Source::Inline(_));
                Resource { name: Some(name).filter(|_| is_text), ..taken.resource }
            }
            File::Kept(id) => super::files::resource(server, caller, &id).await?,
        });
    }
    let request = Request {
        text: asked.text,
        attachments,
        history: asked.history,
        after: asked.after,
        tools: brought.tools,
        form: Box::new(brought.form),
        ..Request::default()
    };
    Ok((request, asked.answered))
}

/// Where an address leads: this server's own files are not fetched over the network.
fn at(url: String, links: &Links) -> Source {
    match links.own_path(&url).map(|path| Media::display(&path)) {
        Some(Ok(path)) => Source::Public(path),
        Some(Err(_)) | None => Source::Url(url),
    }
}

fn read(message: &ChatMessage, said: &mut Said) -> Result<(), String> {
    let role = match message.role.as_str() {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" => {
            let id = message.tool_call_id.as_deref().ok_or("the message of a tool needs the field `tool_call_id`")?;
            let (text, files) = pieces(message.content.as_ref())?;
            files.into_iter().for_each(|file| said.file(file));
            return said.result(id, text);
        }
        "function" => return Err("messages of functions are not supported; `tool` has taken their place".into()),
        other => return Err(format!("`{}` is not a role", shown(other))),
    };
    let (text, files) = pieces(message.content.as_ref())?;
    files.into_iter().for_each(|file| said.file(file));
    let calls = message.tool_calls.as_deref().unwrap_or_default();
    if role != Role::Assistant && !calls.is_empty() {
        return Err("only the assistant calls tools".into());
    }
    said.turn(role, text);
    for call in calls {
        said.call(&call.id, &call.function.name, &call.function.arguments)?;
    }
    Ok(())
}

/// The text and the files of a content.
fn pieces(content: Option<&Content>) -> Result<(String, Vec<File>), String> {
    let mut text = String::new();
    let mut files = Vec::new();
    match content {
        None => {}
        Some(Content::Text(whole)) => text.clone_from(whole),
        Some(Content::Parts(parts)) => {
            for part in parts {
                match piece(part)? {
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
    Ok((text, files))
}

enum Piece<'a> {
    Text(&'a str),
    File(File),
}

fn piece(part: &Part) -> Result<Piece<'_>, String> {
    match (part.kind.as_str(), part) {
        ("text", Part { text: Some(text), .. }) => Ok(Piece::Text(text)),
        ("refusal", Part { refusal: Some(text), .. }) => Ok(Piece::Text(text)),
        ("image_url", Part { image_url: Some(image), .. }) => picture(&image.url).map(Piece::File),
        ("input_audio", Part { input_audio: Some(audio), .. }) => sound(&audio.format, &audio.data).map(Piece::File),
        ("file", Part { file: Some(file), .. }) => {
            document(file.file_data.as_deref(), file.filename.as_deref(), file.file_id.as_deref()).map(Piece::File)
        }
        ("text" | "refusal" | "image_url" | "input_audio" | "file", _) => {
            Err(format!("a part of type `{0}` needs the field `{0}`", part.kind))
        }
        (other, _) => Err(format!(
            "parts of type `{}` are not supported; `text`, `image_url`, `input_audio` and `file` are",
            shown(other)
        )),
    }
}
