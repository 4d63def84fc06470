//! What the server can do: its models and task types.

use axum::Json;
use axum::extract::State;

use jarvis_plan::Param;

use crate::error::Failures;
use crate::state::Server;
use crate::wire::reply::{ModelLine, ModelsReply, ParamLine, TaskLine};

fn param_line(param: &Param) -> ParamLine {
    ParamLine {
        name: param.name.clone(),
        kind: param.kind.as_str(),
        required: param.required,
        schema: param.schema.clone(),
        description: param.description.clone(),
    }
}

/// Characters of a description that are sent.
const DESCRIPTION: usize = 200;

/// The models and task types
#[utoipa::path(get, path = "/models", operation_id = "list_task_models", tag = "server",
    responses((status = 200, description = "All that are known", body = ModelsReply),
        Failures))]
pub(crate) async fn models(State(server): State<Server>) -> Json<ModelsReply> {
    let pipeline = &server.setup().pipeline;
    let ready = pipeline.sources.ready();
    let ready = ready.iter().map(|one| (&one.model, one.host));
    let listed = pipeline.sources.catalogue.all().map(|model| (model, model.host));
    let models = ready
        .chain(listed)
        .map(|(model, host)| ModelLine {
            id: model.id.clone(),
            task: model.task.clone(),
            host: host.as_str(),
            configured: pipeline.sources.is_configured(&model.id, host),
            likes: model.likes,
            description: model.description.chars().take(DESCRIPTION).collect(),
        })
        .collect();
    let tasks = pipeline
        .offered()
        .iter()
        .map(|tool| TaskLine {
            name: tool.name.clone(),
            description: tool.description.clone(),
            args: tool.params.iter().map(|param| param.name.clone()).collect(),
            params: tool.params.iter().map(param_line).collect(),
            inputs: tool.params.iter().map(|param| param.kind.as_str()).collect(),
            outputs: tool.outputs.iter().map(|kind| kind.as_str()).collect(),
        })
        .collect();
    Json(ModelsReply { models, tasks })
}
