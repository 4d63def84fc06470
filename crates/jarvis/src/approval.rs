//! Leave for calls that change something: the flags that give it, and the question at the terminal.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use clap::Args;
use jarvis_pipeline::approval::{ASK_PERSON, Approver, Decision, Nobody, question};
use jarvis_plan::{Approval, RunId};
use tokio::sync::Mutex;

use crate::printer::harmless;
use crate::progress::{until_shown, without_bars};

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

/// Asks at the terminal, one question at a time.
#[derive(Debug, Default)]
struct Terminal {
    turn: Arc<Mutex<()>>,
    asked: AtomicU64,
}

#[async_trait]
impl Approver for Terminal {
    async fn ask(&self, _: &RunId, asked: &Approval) -> Decision {
        until_shown(self.asked.fetch_add(1, Ordering::Relaxed) + 1).await;
        let turn = Arc::clone(&self.turn).lock_owned().await;
        let (question, is_question, unknown) = (question(asked), asked.tool == ASK_PERSON, asked.unknown);
        let answered = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            // Not locked: a run that is interrupted meanwhile says so, and ends.
            let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr());
            without_bars(|| match is_question {
                true => told(&question, &mut input, &mut output),
                false if unknown => became(&question, &mut input, &mut output),
                false => answer(&question, &mut input, &mut output),
            })
        });
        answered.await.unwrap_or_else(|_| refused("the question could not be asked"))
    }
}

/// Asks what the planner wants to know. An empty line answers nothing.
fn told(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Decision {
    let _ = write!(output, "{}> ", harmless(question));
    let _ = output.flush();
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(_) if !line.trim().is_empty() => {
            let answer = ("answer".to_owned(), line.trim().into());
            Decision::Approve { arguments: Some([answer].into_iter().collect()) }
        }
        Ok(_) | Err(_) => refused("nothing was answered"),
    }
}

/// Asks what became of a call that may have arrived.
fn became(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Decision {
    let choices = "Look, and say: d = it was done, r = call it again, s = go on without it: ";
    until_answered(question, choices, input, output, |typed| match typed {
        "d" | "done" => Some(Decision::Done),
        "r" | "retry" => Some(Decision::Approve { arguments: None }),
        "s" | "skip" => Some(refused("you left it")),
        _ => None,
    })
}

/// Asks for leave.
fn answer(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> Decision {
    let choices = "Allow it? y = yes, n = no, a = always this tool in this run: ";
    until_answered(question, choices, input, output, |typed| match typed {
        "y" | "yes" => Some(Decision::Approve { arguments: None }),
        "a" | "always" => Some(Decision::ApproveAlways),
        "n" | "no" => Some(refused("you said no")),
        _ => None,
    })
}

/// Puts the question, then the choices until one of them is typed.
fn until_answered(
    question: &str,
    choices: &str,
    input: &mut impl BufRead,
    output: &mut impl Write,
    read: impl Fn(&str) -> Option<Decision>,
) -> Decision {
    let _ = write!(output, "{}", harmless(question));
    loop {
        let _ = write!(output, "{choices}");
        let _ = output.flush();
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) | Err(_) => return refused("the terminal was closed"),
            Ok(_) => {}
        }
        if let Some(decision) = read(line.trim().to_lowercase().as_str()) {
            return decision;
        }
    }
}

fn refused(reason: &str) -> Decision {
    Decision::Refuse { reason: reason.to_owned(), hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let check = |typed: &str, decision: Decision| {
            assert_eq!(became("Book?\n", &mut typed.as_bytes(), &mut Vec::new()), decision, "{typed:?}");
        };
        check("d\n", Decision::Done);
        check("yes\nretry\n", Decision::Approve { arguments: None });
        check("S\n", refused("you left it"));
        check("y\n", refused("the terminal was closed"));
    }
}
