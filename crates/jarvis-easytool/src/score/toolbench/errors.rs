//! Error rates from the trace alone.

use serde::Serialize;

use super::super::Rate;
use crate::log::{LoggedAnswer, LoggedCall};

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
}
