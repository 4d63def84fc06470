//! Names of Restate services for capabilities.

use jarvis_engine::Job;
use sha2::{Digest, Sha256};

/// Prefix of the services that perform tasks.
const PREFIX: &str = "Task.";

/// The handler of such a service.
pub(crate) const PERFORM: &str = "perform";

/// The Restate service that performs tasks of a capability. Restate allows letters, digits, `_`, `-` and `.` in a name: any other
/// byte, and the dot itself, is written as `.HEX.`, so that no two capabilities share a service.
pub fn service_of(capability: &str) -> String {
    let mut name = String::from(PREFIX);
    for byte in capability.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!(".{byte:02x}."));
        }
    }
    name
}

/// The capability of a service that [`service_of`] named.
pub fn capability_of(service: &str) -> Option<String> {
    let mut bytes = Vec::new();
    for (at, part) in service.strip_prefix(PREFIX)?.split('.').enumerate() {
        match at % 2 {
            0 => bytes.extend_from_slice(part.as_bytes()),
            _ => bytes.push(u8::from_str_radix(part, 16).ok()?),
        }
    }
    String::from_utf8(bytes).ok()
}

/// The idempotency key of a job: the same for every try of its task, however often a worker is killed in it. The calls of a task that
/// runs once for each element of a list have keys of their own, told apart by their arguments.
pub fn idempotency_key(job: &Job) -> String {
    let task = format!("{}/{}", job.events.run_id(), job.task.id);
    if job.task.each().is_none() {
        return task;
    }
    let digest = Sha256::digest(job.object().to_string());
    let start = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
    format!("{task}/{}", start.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jarvis_engine::Events;
    use jarvis_plan::{Arg, Candidate, FieldPath, RunId, Step, Task, TaskId};
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_for_each_element_have_keys_of_their_own() {
        let job = |arg: Arg, value: i64| {
            let args = [("x".to_owned(), arg)].into_iter().collect();
            let (dep, faults) = (Vec::new(), Vec::new());
            let task = Task { task: "a".to_owned(), id: TaskId(2), dep, args, unfolded_from: None, faults };
            let (task, candidate) = (Arc::new(task), Candidate::tool("a"));
            let args = [("x".to_owned(), json!(value))].into_iter().collect();
            let events = Events::channel(RunId("r".to_owned())).0;
            idempotency_key(&Job { request: Arc::default(), task, args, candidate, events, cancel: Default::default() })
        };
        assert_eq!((job(Arg::literal(1), 1), job(Arg::literal(1), 2)), ("r/2".to_owned(), "r/2".to_owned()));
        let each = || Arg::part(TaskId(0), FieldPath(vec![Step::Each]));
        assert_ne!(job(each(), 1), job(each(), 2));
        assert_eq!(job(each(), 1), job(each(), 1));
        assert!(job(each(), 1).starts_with("r/2/"));
    }

    #[test]
    fn names_are_valid_and_reversible() {
        let cases = [
            ("image-to-text", "Task.image-to-text"),
            ("everything/echo", "Task.everything.2f.echo"),
            ("a.b", "Task.a.2e.b"),
            ("später//", "Task.sp.c3..a4.ter.2f..2f."),
        ];
        for (capability, service) in cases {
            assert_eq!(service_of(capability), service);
            assert_eq!(capability_of(service).as_deref(), Some(capability));
        }
        assert_eq!(capability_of("Run.v1"), None);
    }
}
