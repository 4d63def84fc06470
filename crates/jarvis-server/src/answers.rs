//! Answers to what a run waits for, at doors where they are said in words or as data.

use jarvis_pipeline::approval::ASK_PERSON;
use jarvis_plan::Approval;
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::routes::approvals::{ApprovalAsk, Said};

/// An answer as data, or else in words. To a question the words are the answer; where leave is asked for the first word decides, and
/// what stands behind a refusal is its reason.
///
/// # Errors
/// When it cannot be read as an answer to this.
pub(crate) fn answer(asked: &Approval, words: &str, data: Option<Map<String, Value>>) -> Result<ApprovalAsk, ApiError> {
    match data {
        Some(fields) if fields.contains_key("decision") => {
            serde_json::from_value(Value::Object(fields)).map_err(|error| {
                let hint = r#"an answer is {"decision": "approve"|"approve_always"|"refuse"|"retry"|"done"|"skip", "arguments"?, "reason"?}"#;
                ApiError::invalid(format!("the answer cannot be read: {error}")).hint(hint)
            })
        }
        Some(fields) if asked.tool == ASK_PERSON => Ok(approve(Some(fields))),
        Some(_) => Err(ApiError::invalid("the answer names no `decision`")),
        None if asked.tool == ASK_PERSON => {
            Ok(approve(Some(Map::from_iter([("answer".to_owned(), Value::from(words))]))))
        }
        None => in_words(asked, words),
    }
}

fn approve(arguments: Option<Map<String, Value>>) -> ApprovalAsk {
    ApprovalAsk { decision: Said::Approve, arguments, reason: None }
}

/// The answer of somebody who does not want to give one.
pub(crate) fn declined(asked: &Approval) -> ApprovalAsk {
    let decision = if asked.unknown { Said::Skip } else { Said::Refuse };
    ApprovalAsk { decision, arguments: None, reason: None }
}

fn in_words(asked: &Approval, text: &str) -> Result<ApprovalAsk, ApiError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let decision = match word.to_lowercase().as_str() {
        "approve" | "approved" | "yes" | "y" | "ok" | "okay" | "allow" | "true" if !asked.unknown => Said::Approve,
        "always" | "approve_always" if !asked.unknown => Said::ApproveAlways,
        "refuse" | "refused" | "no" | "n" | "deny" | "reject" | "false" if !asked.unknown => Said::Refuse,
        "retry" if asked.unknown => Said::Retry,
        "done" if asked.unknown => Said::Done,
        "skip" if asked.unknown => Said::Skip,
        _ => {
            let words = if asked.unknown { "`retry`, `done` or `skip`" } else { "`approve`, `always` or `refuse`" };
            let message = format!("the run waits for leave to call `{}`; the answer begins with {words}", asked.tool);
            return Err(ApiError::invalid(message));
        }
    };
    let reason = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    let reason = (decision == Said::Refuse && !reason.is_empty()).then(|| reason.to_owned());
    Ok(ApprovalAsk { decision, arguments: None, reason })
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Effect, TaskId};
    use serde_json::json;

    use super::*;

    fn asked(tool: &str, unknown: bool) -> Approval {
        let (arguments, sources) = Default::default();
        let (task, effect) = (TaskId(1), Effect::Writes);
        Approval { task, tool: tool.to_owned(), effect, arguments, each: false, unknown, sources, place: None }
    }

    #[test]
    fn answers_are_read_from_words_and_from_data() {
        let (call, unknown, question) = (asked("book", false), asked("book", true), asked(ASK_PERSON, false));
        let refuse = json!({"decision": "refuse", "reason": "r"});
        for (open, words, data, want) in [
            (&call, "Yes, please.", None, Ok(("Approve", None))),
            (&call, "always", None, Ok(("ApproveAlways", None))),
            (&call, "no: too dear", None, Ok(("Refuse", Some("too dear")))),
            (&call, "nothing of that", None, Err("begins with `approve`, `always` or `refuse`")),
            (&call, "retry", None, Err("begins with `approve`")),
            (&call, "yes", Some(refuse), Ok(("Refuse", Some("r")))),
            (&call, "", Some(json!({"decision": "maybe"})), Err("cannot be read")),
            (&call, "", Some(json!({"reason": "r"})), Err("names no `decision`")),
            (&unknown, "done", None, Ok(("Done", None))),
            (&unknown, "yes", None, Err("begins with `retry`")),
            (&question, "no, the blue one", None, Ok(("Approve", None))),
            (&question, "", Some(json!({"answer": "blue"})), Ok(("Approve", None))),
        ] {
            let data = data.and_then(|data| data.as_object().cloned());
            match (answer(open, words, data), want) {
                (Ok(ask), Ok((decision, reason))) => {
                    assert_eq!(
                        (format!("{:?}", ask.decision).as_str(), ask.reason.as_deref()),
                        (decision, reason),
                        "{words}"
                    );
                }
                (Err(error), Err(want)) => assert!(error.fields.message.contains(want), "{words}: {error:?}"),
                (got, want) => panic!("{words}: {got:?} and not {want:?}"),
            }
        }
        assert_eq!(declined(&unknown).decision, Said::Skip);
        assert_eq!(declined(&call).decision, Said::Refuse);
    }
}
