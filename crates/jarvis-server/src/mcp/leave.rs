//! Calls that wait for leave, over MCP: a client that can elicit is asked; with any other nobody can be.

use jarvis_pipeline::approval::{ASK_PERSON, Decision, question};
use jarvis_plan::Approval;
use rmcp::RoleServer;
use rmcp::model::{ElicitRequestParams, ElicitationAction};
use rmcp::service::{ElicitationMode, Peer};
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::runs::Live;
use crate::state::Server;
use crate::users::Caller;

/// Whether the person behind a client can be asked.
pub(super) fn can_ask(peer: &Peer<RoleServer>) -> bool {
    peer.supported_elicitation_modes().contains(&ElicitationMode::Form)
}

/// Asks about each call of a run that waits for leave, as long as the run goes on. Never ends.
pub(super) async fn ask(server: &Server, caller: &Caller, live: &Live, peer: &Peer<RoleServer>) {
    let (desk, run) = (server.runs.desk(), &live.run_id);
    let _unasked = Unasked { desk, live };
    while let Some(pending) = desk.waits(run).await {
        for asked in pending {
            let mut decision = put(&asked, peer).await;
            let word = match &decision {
                Decision::Approve { .. } => "approve",
                Decision::ApproveAlways => "approve_always",
                Decision::Refuse { .. } => "refuse",
                Decision::Done => "done",
            };
            let about = json!({"run_id": run.0, "task": asked.task.0, "tool": asked.tool, "decision": word});
            if let Err(error) = server.audit(caller, "approval", about).await {
                decision = Decision::Refuse { reason: error.fields.message.clone(), hint: None };
            }
            // The run may have ended, or somebody else answered.
            let _ = desk.answer(run, &asked, decision);
        }
    }
    std::future::pending().await
}

async fn put(asked: &Approval, peer: &Peer<RoleServer>) -> Decision {
    let refused = |reason: &str| Decision::Refuse { reason: reason.to_owned(), hint: None };
    let is_question = asked.tool == ASK_PERSON;
    let schema = match is_question {
        true => json!({
            "type": "object",
            "properties": {"answer": {"type": "string", "title": "Your answer"}},
            "required": ["answer"],
        }),
        false => json!({
            "type": "object",
            "properties": {"allow": {"type": "boolean", "title": "Allow this call"}},
            "required": ["allow"],
        }),
    };
    let Ok(requested_schema) = serde_json::from_value(schema) else { return refused("the question could not be put") };
    let request = ElicitRequestParams::FormElicitationParams { meta: None, message: question(asked), requested_schema };
    match peer.create_elicitation(request).await {
        Ok(said) => {
            let answer = said.content.as_ref().and_then(|content| content.get("answer")).filter(|_| is_question);
            if let (ElicitationAction::Accept, Some(answer)) = (&said.action, answer) {
                let arguments = [("answer".to_owned(), answer.clone())].into_iter().collect();
                return Decision::Approve { arguments: Some(arguments) };
            }
            let allowed = said.content.as_ref().and_then(|content| content.get("allow")).and_then(Value::as_bool);
            match (said.action, allowed) {
                (ElicitationAction::Accept, Some(true)) => Decision::Approve { arguments: None },
                (ElicitationAction::Accept | ElicitationAction::Decline, _) => refused("it was refused"),
                _ => refused("the question was not answered"),
            }
        }
        Err(error) => refused(&format!("the client could not be asked ({error})")),
    }
}

/// Refuses what waits when the client that was to be asked is gone; a run that is about to ask is cancelled, as one that does not wait.
struct Unasked<'d> {
    desk: &'d Desk,
    live: &'d Live,
}

impl Drop for Unasked<'_> {
    fn drop(&mut self) {
        let pending = self.live.pending();
        if pending.is_empty() {
            return self.live.cancel.cancel();
        }
        for asked in pending {
            let reason = "the client that was asked is gone".to_owned();
            let _ = self.desk.answer(&self.live.run_id, &asked, Decision::Refuse { reason, hint: None });
        }
    }
}
