//! Faults: why a task of a plan cannot run, in words that a planner can act on.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::ErrorCode;

/// Why a task of a plan cannot run. The text says what is wrong and what would be right. Serialises as its kind and its text; in plans that are
/// kept, as its kind and its fields.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "kind", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Fault {
    /// No tool has this name.
    #[error("no tool of this name is known{}", or_list("; the nearest are", .nearest))]
    UnknownTask {
        /// Names of tools that are like it.
        nearest: Vec<String>,
    },
    /// Several tools may be meant.
    #[error("the name fits several tools{}", or_list(":", .candidates))]
    AmbiguousTask {
        /// Their names.
        candidates: Vec<String>,
    },
    /// A required argument is missing.
    #[error("its argument `{arg}` is missing ({takes})")]
    MissingArgument {
        /// The argument.
        arg: String,
        /// What it takes.
        takes: String,
    },
    /// A value is not what the argument takes.
    #[error("its argument `{arg}` is {value}, but must be {takes}")]
    BadValue {
        /// The argument.
        arg: String,
        /// The value, as JSON, cut where it is long.
        value: String,
        /// What it takes.
        takes: String,
    },
    /// A file or an address that the request does not hold.
    #[error("its argument `{arg}` names {value}, which the request does not hold{}", or_list("; it holds", .attached))]
    NoSuchFile {
        /// The argument.
        arg: String,
        /// The name.
        value: String,
        /// The files and addresses of the request.
        attached: Vec<String>,
    },
    /// Something that stands for a result, and nothing says for which.
    #[error(
        "its argument `{arg}` is {value}, which stands for nothing; write `<GENERATED>-k` for the output of task k"
    )]
    UnresolvedReference {
        /// The argument.
        arg: String,
        /// What stands there.
        value: String,
    },
    /// A text that neither the request nor an earlier task gives.
    #[error(
        "its argument `{arg}` is {value}, which the request does not say; write `<GENERATED>-{unused}` for the output of \
         task {unused}"
    )]
    NotGiven {
        /// The argument.
        arg: String,
        /// What stands there.
        value: String,
        /// The earlier task whose output nothing takes.
        unused: i64,
    },
    /// Two readings are equally good.
    #[error("its argument `{arg}` is {value}, which may mean{}", or_list("", .readings))]
    Ambiguous {
        /// The argument.
        arg: String,
        /// What stands there.
        value: String,
        /// What it may mean.
        readings: Vec<String>,
    },
    /// An argument refers to a task that is not in the plan.
    #[error("it refers to `<GENERATED>-{to}`, and no task of the plan has that id")]
    DanglingReference {
        /// The id referred to.
        to: i64,
    },
    /// An argument refers to a part of an output that the tool does not give.
    #[error("its argument `{arg}` refers to `<GENERATED>-{of}{path}`: {problem}")]
    NoSuchField {
        /// The argument.
        arg: String,
        /// The task referred to.
        of: i64,
        /// The path into its output.
        path: String,
        /// What is there instead.
        problem: String,
    },
    /// It cannot run once for each element of a list.
    #[error("it cannot run once for each element: {problem}")]
    NotEach {
        /// Why.
        problem: String,
    },
    /// An argument holds `<GENERATED>` without an id, and no earlier task gives what it needs.
    #[error("its argument `{arg}` names no task, and no earlier task gives what it needs")]
    UnboundReference {
        /// The argument.
        arg: String,
    },
    /// Another task of a plan that changes the world has a fault.
    #[error("nothing of this plan runs, since it would change something and task {} cannot run", .because + 1)]
    Withheld {
        /// The task with the fault.
        because: i64,
    },
    /// The request does not plainly ask for this call: it is no order to change something, or a word of it is not accounted for.
    #[error("{why}")]
    NotOrdered {
        /// What stands against it.
        why: String,
    },
    /// Part of a request that changes the world was not planned.
    #[error("nothing of this plan runs, since it would change something and part of the request was left out: {note}")]
    WithheldBeside {
        /// What was left out.
        note: String,
    },
    /// Its arguments depend on its own output.
    #[error("its arguments depend on its own output")]
    ReferenceCycle,
}

impl Fault {
    /// What a person can do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Fault::MissingArgument { .. } | Fault::NoSuchFile { .. } => {
                Some("name it in the request, or attach the file".to_owned())
            }
            Fault::UnknownTask { .. } | Fault::AmbiguousTask { .. } => {
                Some("`jarvis tools list` and `jarvis models list` name what there is".to_owned())
            }
            Fault::BadValue { .. }
            | Fault::UnresolvedReference { .. }
            | Fault::NotGiven { .. }
            | Fault::Ambiguous { .. }
            | Fault::DanglingReference { .. }
            | Fault::NoSuchField { .. }
            | Fault::NotEach { .. }
            | Fault::UnboundReference { .. }
            | Fault::Withheld { .. }
            | Fault::NotOrdered { .. }
            | Fault::WithheldBeside { .. }
            | Fault::ReferenceCycle => None,
        }
    }

    /// The code of the task's error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Fault::UnknownTask { .. } => ErrorCode::UnsupportedTask,
            Fault::MissingArgument { .. } => ErrorCode::MissingArgument,
            Fault::BadValue { .. } => ErrorCode::InvalidInput,
            Fault::NoSuchFile { .. } => ErrorCode::NotFound,
            Fault::AmbiguousTask { .. }
            | Fault::UnresolvedReference { .. }
            | Fault::NotGiven { .. }
            | Fault::Ambiguous { .. }
            | Fault::DanglingReference { .. }
            | Fault::NoSuchField { .. }
            | Fault::NotEach { .. }
            | Fault::UnboundReference { .. }
            | Fault::Withheld { .. }
            | Fault::NotOrdered { .. }
            | Fault::WithheldBeside { .. }
            | Fault::ReferenceCycle => ErrorCode::BadPlan,
        }
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("kind", <&str>::from(self))?;
        map.serialize_entry("message", &self.to_string())?;
        map.end()
    }
}

/// The names after a lead, in backticks; nothing without names.
fn or_list(lead: &str, names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => format!("{lead} {last}"),
        Some((last, rest)) => format!("{lead} {} or {last}", rest.join(", ")),
    }
}
