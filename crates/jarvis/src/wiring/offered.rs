//! What callers of the server may choose or look at: the chat models that a request may name, and the tools.

use std::sync::Arc;

use jarvis_hugginggpt::HuggingGpt;
use jarvis_models::Engine;
use jarvis_server::{ChatModels, ListTools, OfferedTool, ToolApproval};
use jarvis_tools::ToolSource;
use jarvis_tools::approvals::Approval;

use super::reach::host_of_tool;
use super::{App, Base, Tools, local};

/// The language models of this machine, beside the configured model.
struct LocalChats(Arc<Base>);

impl ChatModels for LocalChats {
    fn names(&self) -> Vec<String> {
        let runtime = self.0.local.iter();
        let kept = runtime.flat_map(|runtime| runtime.kept());
        kept.filter(|model| model.engine == Engine::Gguf).map(|model| local::id_of(&model)).collect()
    }

    fn pipeline(&self, name: Option<&str>) -> Result<Arc<HuggingGpt>, String> {
        let failed = |failure: crate::failure::Failure| failure.error().to_string();
        let Some(name) = name else {
            return self.0.pipeline(None).map(|(pipeline, _)| Arc::new(pipeline)).map_err(failed);
        };
        let runtime = self.0.local.as_ref().ok_or("this build runs no local models")?;
        let (model, can_plan) = runtime.named(name).map_err(failed)?;
        // As the configured model: one that is too small to plan writes and talks.
        let plans = self.0.config.llm.plans.get().unwrap_or(can_plan);
        let (model, conversation_model) = if plans { (Some(model), None) } else { (None, Some(model)) };
        let (pipeline, _) = self.0.pipeline(model).map_err(failed)?;
        Ok(Arc::new(HuggingGpt { conversation_model, ..pipeline }))
    }
}

impl App {
    /// The chat models that a request may name.
    pub(crate) fn chat_models(&self) -> Arc<dyn ChatModels> {
        Arc::new(LocalChats(Arc::clone(&self.base)))
    }

    /// Lists the tools.
    pub(crate) fn offered_tools(&self) -> ListTools {
        let base = Arc::clone(&self.base);
        Arc::new(move || offered(&base))
    }
}

fn offered(base: &Base) -> Vec<OfferedTool> {
    let tools = &base.tools;
    let known = tools.registry.specs().map(|spec| OfferedTool {
        name: spec.name.clone(),
        description: spec.description.clone(),
        kind: spec.source.to_string(),
        server: match (spec.source, spec.name.split_once('/')) {
            (ToolSource::Native, _) => None,
            (ToolSource::Mcp, Some((server, _))) => Some(server.to_owned()),
            _ => tools.registry.address(&spec.name).map(host_of_tool),
        },
        effect: spec.effect,
        approval: approval(tools, &spec.name, spec.source),
        inputs: spec.input_schema.clone(),
    });
    // Of what waits for approval the registry has nothing.
    let waiting = tools.waiting().into_iter().filter_map(|(source, name, approval)| {
        let (kind, of) = source.split_once(':')?;
        let is_here = match kind {
            "mcp" => base.config.mcp_servers.contains_key(of),
            _ => tools.unavailable().iter().any(|tool| tool.name == name),
        };
        if !is_here || tools.registry.spec(&name).is_some() {
            return None;
        }
        let offered = approval.offered?;
        Some(OfferedTool {
            name,
            description: offered.description,
            kind: kind.to_owned(),
            server: (kind == "mcp").then(|| of.to_owned()),
            effect: offered.effect.unwrap_or_default(),
            approval: if approval.unapproved { ToolApproval::New } else { ToolApproval::Changed },
            inputs: offered.schema,
        })
    });
    known.chain(waiting).collect()
}

fn approval(tools: &Tools, name: &str, source: ToolSource) -> ToolApproval {
    match (source, tools.approval(name)) {
        (ToolSource::Native | ToolSource::OpenApi | ToolSource::ToolBench, _) => ToolApproval::NotNeeded,
        (_, Some(Approval { offered: Some(_), unapproved: true, .. })) => ToolApproval::New,
        (_, Some(Approval { offered: Some(_), .. })) => ToolApproval::Changed,
        (_, _) => ToolApproval::Approved,
    }
}
