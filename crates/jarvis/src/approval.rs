//! Leave for calls that change something: the flags that give it, and the question at the terminal.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;

use async_trait::async_trait;
use clap::Args;
use jarvis_net::text::cut;
use jarvis_pipeline::approval::{Approver, Decision, Nobody};
use jarvis_plan::{Approval, Effect, RunId};
use tokio::sync::Mutex;

use crate::printer::harmless;

/// Flags that allow calls beforehand.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ApprovalArgs {
    /// Allow every call of a tool that changes something
    #[arg(long)]
    pub(crate) yes: bool,
    /// Allow calls of this tool, or of those that a pattern such as `shop/*` names; may be repeated
    #[arg(long = "approve", value_name = "NAME")]
    pub(crate) approve: Vec<String>,
}

/// Who is asked by a command that a person runs: the person, where there is a terminal.
pub(crate) fn at_this_machine() -> Arc<dyn Approver> {
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        return Arc::new(Terminal::default());
    }
    Arc::new(Nobody { hint: "add `--approve {}`, or `--yes` for all tools".to_owned() })
}

/// Who is asked by a server without a page of its own for it.
pub(crate) fn for_callers() -> Arc<dyn Approver> {
    Arc::new(Nobody {
        hint: "whoever runs the server can allow it with `approved: [\"{}\"]` in its configuration".to_owned(),
    })
}

/// Asks at the terminal, one question at a time.
#[derive(Debug, Default)]
struct Terminal {
    turn: Arc<Mutex<()>>,
}

/// The most characters of an argument that are shown.
const SHOWN: usize = 400;

#[async_trait]
impl Approver for Terminal {
    async fn ask(&self, _: &RunId, asked: &Approval) -> Decision {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let question = question(asked);
        let answered = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            answer(&question, &mut std::io::stdin().lock(), &mut std::io::stderr().lock())
        });
        answered.await.unwrap_or_else(|_| refused("the question could not be asked"))
    }
}

/// The question: what would be called, with what, and where that came from.
fn question(asked: &Approval) -> String {
    let does = match asked.effect {
        Effect::Reads => "reads something",
        Effect::Writes => "changes something",
        Effect::Destroys => "removes something",
    };
    let mut text = format!("Task {} calls `{}`, which {does}:\n", asked.task.0 + 1, asked.tool);
    for (name, value) in &asked.arguments {
        let from = asked.sources.get(name).map_or("the plan", String::as_str);
        text.push_str(&format!("  {name}: {}  (from {from})\n", cut(&value.to_string(), SHOWN, "…")));
    }
    text
}

/// Asks until the answer is one.
fn answer(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Decision {
    let _ = write!(output, "{}", harmless(question));
    loop {
        let _ = write!(output, "Allow it? y = yes, n = no, a = always this tool in this run: ");
        let _ = output.flush();
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) | Err(_) => return refused("the terminal was closed"),
            Ok(_) => {}
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Decision::Approve { arguments: None },
            "a" | "always" => return Decision::ApproveAlways,
            "n" | "no" => return refused("you said no"),
            _ => {}
        }
    }
}

fn refused(reason: &str) -> Decision {
    Decision::Refuse { reason: reason.to_owned(), hint: None }
}

#[cfg(test)]
mod tests {
    use indexmap::IndexMap;
    use jarvis_plan::TaskId;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_question_shows_the_real_call() {
        let asked = Approval {
            task: TaskId(1),
            tool: "shop/reserve".into(),
            effect: Effect::Writes,
            arguments: IndexMap::from([("article".into(), json!(17)), ("note".into(), json!("x\u{1b}[2J"))]),
            sources: IndexMap::from([("article".into(), "task 1".into())]),
        };
        let text = question(&asked);
        assert_eq!(
            text,
            "Task 2 calls `shop/reserve`, which changes something:\n  article: 17  (from task 1)\n  note: \"x\\u001b[2J\"  \
             (from the plan)\n"
        );
    }

    #[test]
    fn only_an_answer_is_one() {
        let check = |typed: &str, decision: Decision| {
            assert_eq!(answer("Book?\n", &mut typed.as_bytes(), &mut Vec::new()), decision, "{typed:?}");
        };
        check("y\n", Decision::Approve { arguments: None });
        check("maybe\n\nYES\n", Decision::Approve { arguments: None });
        check("a\n", Decision::ApproveAlways);
        check("n\n", refused("you said no"));
        check("", refused("the terminal was closed"));
        check("perhaps\n", refused("the terminal was closed"));
    }
}
