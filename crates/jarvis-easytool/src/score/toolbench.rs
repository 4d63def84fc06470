//! ToolBench: pass rate, win rate and success rate by a judge; error rates without one.
//!
//! [`Judge`] asks a chat model. [`vote`] turns its judgements into verdicts, and what stays undecided is decided by a
//! [`Seed`] and counted.

mod judge;
mod run;

pub use judge::Judge;
pub use run::{Judging, ToolbenchScore, align, score};

use serde::{Deserialize, Serialize};

use super::Rate;
use crate::log::{LoggedAnswer, LoggedCall};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum AnswerStatus {
    #[serde(alias = "solved", alias = "SOLVED")]
    Solved,
    #[serde(alias = "unsolved", alias = "UNSOLVED")]
    Unsolved,
    #[serde(alias = "unsure", alias = "UNSURE")]
    Unsure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum TaskStatus {
    #[serde(alias = "solvable", alias = "SOLVABLE")]
    Solvable,
    #[serde(alias = "unsolvable", alias = "UNSOLVABLE")]
    Unsolvable,
    #[serde(alias = "unsure", alias = "UNSURE")]
    Unsure,
}

/// Which of two answers is better, by the order in which they were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    First,
    Second,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vote {
    /// The answer solves the query, or the query cannot be solved.
    Passed,
    /// The query can be solved, and the answer does not.
    Failed,
    /// Neither can be told.
    Undecided,
}

/// The verdict of one judgement. The task's status counts only when the answer does not solve the query.
pub fn vote(answer: AnswerStatus, task: TaskStatus) -> Vote {
    match (answer, task) {
        (AnswerStatus::Solved, _) => Vote::Passed,
        (AnswerStatus::Unsolved | AnswerStatus::Unsure, TaskStatus::Unsolvable) => Vote::Passed,
        (AnswerStatus::Unsolved, TaskStatus::Solvable) => Vote::Failed,
        (AnswerStatus::Unsolved, TaskStatus::Unsure)
        | (AnswerStatus::Unsure, TaskStatus::Solvable | TaskStatus::Unsure) => Vote::Undecided,
    }
}

/// Decides what the rules leave open, deterministically: by seed and question, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seed(pub u64);

impl Seed {
    /// Decides one repeat of a question; `about` names the decision.
    pub fn decides(self, key: &str, about: &str, repeat: u32) -> bool {
        // FNV-1a over everything, then the finish of SplitMix64, so that near inputs fall apart.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ self.0;
        let bytes = key.bytes().chain([0]).chain(about.bytes()).chain([0]).chain(repeat.to_le_bytes());
        for byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (hash ^ (hash >> 31)) & 1 == 1
    }
}

/// How often attempts at calls went wrong.
///
/// Attempts are the calls of the log and, where it has a trace, the choices and parameters that were turned down before
/// a call was made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorRates {
    pub attempts: usize,
    /// A tool or an API that is not on offer.
    pub tool: Rate,
    /// Parameters that do not fit: a required one missing, an unknown name, a wrong type.
    pub parameter: Rate,
    /// Calls that were made and failed, of all calls.
    pub call: Rate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Faults {
    tool: bool,
    parameter: bool,
    failed: bool,
}

impl ErrorRates {
    pub fn of(answers: &[LoggedAnswer]) -> ErrorRates {
        let faults: Vec<Faults> =
            answers.iter().flat_map(|answer| answer.calls.iter().map(|call| faults(answer, call))).collect();
        let choices: usize = answers.iter().map(|answer| answer.rejected_choices).sum();
        let parameters: usize = answers.iter().map(|answer| answer.rejected_parameters).sum();
        let attempts = faults.len() + choices + parameters;
        let count = |of: fn(&Faults) -> bool| faults.iter().filter(|call| of(call)).count();
        ErrorRates {
            attempts,
            tool: Rate::new(count(|call| call.tool) + choices, attempts),
            parameter: Rate::new(count(|call| call.parameter) + parameters, attempts),
            call: Rate::new(count(|call| call.failed), faults.len()),
        }
    }
}

fn faults(answer: &LoggedAnswer, call: &LoggedCall) -> Faults {
    let offered = answer.functions.iter().find(|function| function.serves(&call.api));
    let (tool, parameter) = match (&call.parameter_faults, offered) {
        // Our own log says it.
        (Some(faults), _) => (call.code == Some(1), !faults.is_empty() || call.code == Some(2)),
        (None, Some(function)) => (false, !function.faults(&call.arguments).is_empty()),
        // Without a list of what is on offer nothing can be said.
        (None, None) => (!answer.functions.is_empty(), false),
    };
    let failed = match call.code {
        Some(code) => code != 0,
        None => jarvis_tools::fault_of(&call.response).is_some(),
    };
    Faults { tool, parameter, failed }
}

#[cfg(test)]
mod tests {
    use jarvis_prompt::literal::Literal;

    use super::*;
    use crate::log::OfferedFunction;

    fn call(api: &str, arguments: &str, code: Option<u8>, faults: Option<&[&str]>, response: &str) -> LoggedCall {
        LoggedCall {
            tool: String::new(),
            api: api.to_owned(),
            arguments: Literal::parse(arguments).unwrap(),
            response: response.to_owned(),
            code,
            parameter_faults: faults.map(|faults| faults.iter().map(|fault| (*fault).to_owned()).collect()),
        }
    }

    #[test]
    fn attempts_are_counted() {
        let function =
            OfferedFunction { name: "search_for_web".into(), required: vec!["q".into()], ..OfferedFunction::default() };
        let published = LoggedAnswer {
            functions: vec![function],
            calls: vec![
                call("Search", r#"{"q":1}"#, None, None, "[]"),
                call("Search", "{}", None, None, "No respond due to error."),
                call("Other", "{}", None, None, "{'message': 'You are not subscribed to this API.'}"),
            ],
            ..LoggedAnswer::default()
        };
        let ours = LoggedAnswer {
            calls: vec![
                call("a", "{}", Some(0), Some(&[]), "x"),
                call("a", "{}", Some(2), Some(&["`q` is missing"]), ""),
            ],
            rejected_choices: 2,
            rejected_parameters: 1,
            ..LoggedAnswer::default()
        };
        let counts = |answers: &[LoggedAnswer]| {
            let rates = ErrorRates::of(answers);
            (rates.attempts, rates.tool.count, rates.parameter.count, rates.call.count, rates.call.n)
        };
        assert_eq!(counts(std::slice::from_ref(&published)), (3, 1, 1, 2, 3));
        assert_eq!(counts(std::slice::from_ref(&ours)), (5, 2, 2, 1, 2));
        assert_eq!(counts(&[published, ours]), (8, 3, 3, 3, 5));
        assert_eq!(counts(&[]), (0, 0, 0, 0, 0));
    }

    #[test]
    fn votes_follow_the_rules() {
        use AnswerStatus as A;
        use TaskStatus as T;
        for (answer, task, expected) in [
            (A::Solved, T::Solvable, Vote::Passed),
            (A::Solved, T::Unsolvable, Vote::Passed),
            (A::Solved, T::Unsure, Vote::Passed),
            (A::Unsolved, T::Solvable, Vote::Failed),
            (A::Unsolved, T::Unsolvable, Vote::Passed),
            (A::Unsolved, T::Unsure, Vote::Undecided),
            (A::Unsure, T::Solvable, Vote::Undecided),
            (A::Unsure, T::Unsolvable, Vote::Passed),
            (A::Unsure, T::Unsure, Vote::Undecided),
        ] {
            assert_eq!(vote(answer, task), expected, "{answer:?} {task:?}");
        }
    }

    #[test]
    fn the_seed_decides_evenly_and_alike() {
        let heads = |seed: u64| (0..2000).filter(|at| Seed(seed).decides(&at.to_string(), "pass", at % 4)).count();
        for seed in [0, 1, 2, u64::MAX] {
            assert!((900..1100).contains(&heads(seed)), "{seed}: {}", heads(seed));
            assert_eq!(heads(seed), heads(seed));
        }
        let row = |seed: u64| (0..64).map(|at| Seed(seed).decides("61", "pass", at)).collect::<Vec<_>>();
        assert_ne!(row(0), row(1));
    }
}
