//! The answers of each kind of server. Whatever is not as expected is passed over.

use serde_json::Value;

use super::choose::{may_chat, parameters};
use super::{ServedModel, ServerKind};

/// What a list of models says of its server.
pub(super) struct Listed {
    pub(super) kind: ServerKind,
    pub(super) models: Vec<ServedModel>,
}

/// Ollama's `/api/tags`.
pub(super) fn ollama(tags: &Value) -> Option<Listed> {
    let models = tags["models"].as_array()?;
    let model = |listed: &Value| {
        let name = listed["name"].as_str()?;
        let details = &listed["details"];
        let is_of = |part: &str| details["family"].as_str().is_some_and(|family| family.contains(part));
        // Some models are only names here, and run at ollama.com.
        let is_remote = listed["remote_host"].is_string() || name.ends_with("-cloud") || name.ends_with(":cloud");
        let told = details["parameter_size"].as_str().and_then(parameters);
        Some(ServedModel {
            chats: may_chat(name) && !is_of("bert") && !is_remote,
            parameters: told.or_else(|| parameters(name)),
            ..named(name)
        })
    };
    Some(Listed { kind: ServerKind::Ollama, models: models.iter().filter_map(model).collect() })
}

/// Ollama's `/api/ps`: which models are loaded, and with how much context.
pub(super) fn ollama_running(list: &mut Listed, running: &Value) {
    for listed in running["models"].as_array().into_iter().flatten() {
        let name = listed["name"].as_str().unwrap_or_default();
        if let Some(model) = list.models.iter_mut().find(|model| model.name == name) {
            model.loaded = true;
            model.context = tokens(listed.get("context_length"));
        }
    }
}

/// Ollama's `/api/show`. In force is `num_ctx` of the model's parameters: a call without options loads the model again when another
/// client loaded it with more or less. Without it, what the model is loaded with.
pub(super) fn ollama_show(model: &mut ServedModel, show: &Value) {
    if let Some(capabilities) = show["capabilities"].as_array() {
        let can = |what: &str| capabilities.iter().any(|capability| capability == what);
        model.vision = Some(can("vision"));
        model.chats &= can("completion");
    }
    let lines = show["parameters"].as_str().unwrap_or_default().lines();
    let num_ctx = lines.filter_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok()).next_back();
    let info = &show["model_info"];
    let architecture = info["general.architecture"].as_str().unwrap_or_default();
    let largest = tokens(info.get(format!("{architecture}.context_length")));
    let in_force = num_ctx.filter(|tokens| *tokens > 0).or(model.context);
    model.context_is_maximum = in_force.is_none();
    model.context = match (in_force, largest) {
        (Some(in_force), Some(largest)) => Some(in_force.min(largest)),
        (in_force, largest) => in_force.or(largest),
    };
}

/// LM Studio's `/api/v0/models`.
pub(super) fn lm_studio(list: &Value) -> Option<Listed> {
    let models = list["data"].as_array()?;
    let model = |listed: &Value| {
        let (name, kind, state) = (listed["id"].as_str()?, listed["type"].as_str()?, listed["state"].as_str()?);
        let in_force = tokens(listed.get("loaded_context_length"));
        Some(ServedModel {
            chats: matches!(kind, "llm" | "vlm") && may_chat(name),
            loaded: state == "loaded",
            context: in_force.or_else(|| tokens(listed.get("max_context_length"))),
            context_is_maximum: in_force.is_none(),
            vision: Some(kind == "vlm"),
            ..named(name)
        })
    };
    let models = models.iter().map(model).collect::<Option<Vec<ServedModel>>>()?;
    Some(Listed { kind: ServerKind::LmStudio, models })
}

/// `/v1/models` of any server. vLLM and llama-server sign each model.
pub(super) fn openai(list: &Value) -> Option<Listed> {
    let listed = list["data"].as_array()?;
    let model = |listed: &Value| {
        let name = listed["id"].as_str()?;
        let in_force = tokens(listed.get("max_model_len")).or_else(|| tokens(listed.pointer("/meta/n_ctx")));
        let context = in_force.or_else(|| tokens(listed.pointer("/meta/n_ctx_train")));
        Some(ServedModel {
            // Who serves several says which are loaded; others have one.
            loaded: listed.pointer("/status/value").is_none_or(|status| status == "loaded"),
            context_is_maximum: in_force.is_none() && context.is_some(),
            context,
            ..named(name)
        })
    };
    let models = listed.iter().map(model).collect::<Option<Vec<ServedModel>>>()?;
    let is_signed = |by: &str| !listed.is_empty() && listed.iter().all(|model| model["owned_by"] == by);
    let kind = match () {
        () if is_signed("vllm") => ServerKind::Vllm,
        () if is_signed("llamacpp") => ServerKind::LlamaServer,
        () => ServerKind::OpenAiCompatible,
    };
    Some(Listed { kind, models })
}

/// llama-server's `/props`, on top of its `/v1/models`.
pub(super) fn llama_server(list: &mut Listed, props: &Value) {
    let settings = &props["default_generation_settings"];
    if !settings.is_object() {
        return;
    }
    list.kind = ServerKind::LlamaServer;
    // Where it routes between models, these are the properties of none.
    if let [model] = list.models.as_mut_slice() {
        if let Some(in_force) = tokens(settings.get("n_ctx")) {
            model.context = Some(in_force);
            model.context_is_maximum = false;
        }
        model.vision = props.pointer("/modalities/vision").and_then(Value::as_bool);
    }
}

/// llama-server answers so until its model is loaded.
pub(super) fn is_loading(body: &Value) -> bool {
    body.pointer("/error/type").is_some_and(|kind| kind == "unavailable_error")
}

fn named(name: &str) -> ServedModel {
    ServedModel { name: name.to_owned(), chats: may_chat(name), parameters: parameters(name), ..ServedModel::default() }
}

fn tokens(value: Option<&Value>) -> Option<usize> {
    value?.as_u64().and_then(|tokens| usize::try_from(tokens).ok()).filter(|tokens| *tokens > 0)
}
