//! The chat model: whether it answers, what is known of it and from where, and what would be better.

use std::sync::Arc;
use std::time::Duration;

use jarvis_ask::{Ask, Events};
use jarvis_chat::{ChatError, Fact, Message, OpenAi, Origin, ServerKind};
use jarvis_plan::Role;
use jarvis_workers::TASK_STAGE;

use super::Finding;
use crate::hint::answers;
use crate::wiring::{App, discovery, may_ask};

/// The stage whose model plans.
const PLANNING: &str = "parse_task";

/// The least context, in tokens, in which plans do well.
const ROOMY: usize = 8192;

pub(super) async fn look(app: &App, findings: &mut Vec<Finding>) {
    let Some(chat) = &app.pipeline.chat else {
        findings.push(Finding::good("chat model", "none: the offline planner plans, native models work"));
        local_servers(app, findings).await;
        return;
    };
    let name = app.pipeline.model_name();
    if app.config.llm.name().starts_with("replay:") {
        findings.push(Finding::good("chat model", format!("{name}: answers from a recording")));
        return;
    }
    let ask = Ask::new(Arc::clone(chat), &Events::unread());
    let question = ask.stage("chitchat").messages(vec![Message::text(Role::User, "Reply with the word ok.")]);
    let question = question.timeout(Some(Duration::from_secs(20))).request(|request| request.max_tokens = Some(8));
    findings.push(match question.call().await.map_err(ChatError::from) {
        Ok(_) => Finding::good("chat model", format!("{name} answers")),
        Err(error) => Finding::bad(
            "chat model",
            true,
            format!("{name}: {error}"),
            "check --llm, --base-url and the key; or use --llm auto or --llm offline",
        ),
    });
    if let Some(endpoint) = &app.endpoint {
        // Where everything is configured, nothing was asked yet; the doctor compares.
        if may_ask(&app.config) {
            endpoint.probe().await;
        }
        facts(endpoint, findings);
    }
}

/// What answers at the known ports, and could be used.
async fn local_servers(app: &App, findings: &mut Vec<Finding>) {
    let Ok(discovery) = discovery(&app.config) else { return };
    let servers = discovery.all().await;
    let fix = "set `llm.model: auto`, or give --llm auto";
    let found = servers.iter().filter_map(answers);
    findings.extend(found.map(|found| Finding::bad("local model server", false, found, fix)));
}

fn facts(endpoint: &OpenAi, findings: &mut Vec<Finding>) {
    let server = endpoint.server();
    let kind = server.map(|server| server.kind);
    let at = endpoint.address();
    findings.push(Finding::good(
        "chat endpoint",
        server.map_or(at.clone(), |server| format!("{at}: {}, models: {}", server.kind, server.models.len())),
    ));
    if let (Some(server), None) = (server, endpoint.served(PLANNING))
        && !matches!(server.kind, ServerKind::OpenAiCompatible)
    {
        let fix = "name one that it has: `--llm auto` takes the best, and Ollama gets others with `ollama pull`";
        findings.push(Finding::bad("chat model", false, format!("{} does not list it", server.kind), fix));
    }
    findings.push(context(endpoint, kind));
    findings.push(vision(endpoint));
}

fn context(endpoint: &OpenAi, kind: Option<ServerKind>) -> Finding {
    let Fact { value, origin } = endpoint.context(PLANNING);
    let what = "context size";
    let found = format!("{value} tokens, {origin}");
    let served = endpoint.served(PLANNING);
    let told = served.and_then(|model| model.context);
    let larger = match kind {
        Some(ServerKind::Ollama) => "start Ollama with OLLAMA_CONTEXT_LENGTH=16384, or set `num_ctx` in a Modelfile",
        Some(ServerKind::LmStudio) => "load the model with a larger context in LM Studio",
        Some(ServerKind::LlamaServer) => "start llama-server with `-c 16384`",
        Some(ServerKind::Vllm) => "start vLLM with a larger `--max-model-len`",
        Some(ServerKind::OpenAiCompatible) | None => "use a model with a larger context",
    };
    match (origin, told) {
        (Origin::Configuration, Some(told)) if told < value => {
            let found = format!("{found}, but the endpoint reports {told}");
            Finding::bad(what, false, found, "set `llm.context_tokens: auto`, or give the server's model more context")
        }
        (Origin::Assumption, _) => Finding::bad(what, false, found, "set `llm.context_tokens` to what the model has"),
        (Origin::Endpoint, _) if served.is_some_and(|model| model.context_is_maximum) => {
            let found = format!("{found}: the most that the model takes; the server may load it with less");
            Finding::bad(what, false, found, larger)
        }
        _ if value < ROOMY => Finding::bad(what, false, format!("{found}: little for a plan"), larger),
        _ => Finding::good(what, found),
    }
}

fn vision(endpoint: &OpenAi) -> Finding {
    let Fact { value, origin } = endpoint.vision(TASK_STAGE);
    let what = "vision";
    let can = match value {
        true => "the chat model takes pictures",
        false => "the chat model takes no pictures",
    };
    let found = format!("{can}, {origin}");
    let told = endpoint.served(TASK_STAGE).and_then(|model| model.vision);
    match (origin, told) {
        (Origin::Configuration, Some(told)) if told != value => {
            Finding::bad(what, false, format!("{found}, but the endpoint reports otherwise"), "set `llm.vision: auto`")
        }
        _ if !value && let Some(other) = other_that_sees(endpoint) => {
            let fix = format!("set `llm.stages.task_llm: {other}`, which the same server has, for tasks on pictures");
            Finding::bad(what, false, found, fix)
        }
        (Origin::Assumption, _) => Finding::bad(what, false, found, "set `llm.vision: true` if it takes pictures"),
        _ => Finding::good(what, found),
    }
}

fn other_that_sees(endpoint: &OpenAi) -> Option<&str> {
    let mut models = endpoint.server()?.models.iter();
    models.find(|model| model.chats && model.sees()).map(|model| model.name.as_str())
}
