//! Tool lists and the one `check` of these tests.

use jarvis_plan::{Arg, Draft, Fault, Kind, Limits, Param, Request, Resource, Source, Task, Tool, Vocabulary};
use jarvis_planner::{Offline, ToolIndex};
use serde_json::json;

/// The tools of some lists of `tests/cases/tools.tsv`.
fn tools(lists: &[&str]) -> Vec<Tool> {
    let rows = include_str!("../cases/tools.tsv").lines().filter(|line| !line.starts_with('#'));
    let fields = rows.map(|row| row.split('\t').collect::<Vec<_>>());
    fields.filter(|fields| lists.contains(&fields[0])).map(|fields| tool(&fields)).collect()
}

fn tool(fields: &[&str]) -> Tool {
    let [_, name, aliases, description, params, outputs] = fields else { panic!("not six fields: {fields:?}") };
    let kind = |text: &str| serde_json::from_value::<Kind>(json!(text));
    let param = |text: &str| {
        let (name, of) = text.split_once(':').unwrap_or((text, text));
        let name = name.trim_end_matches('?');
        let param = match kind(of) {
            Ok(kind) => Param::required(name, kind),
            Err(_) => Param { schema: Some(json!({"type": of})), ..Param::required(name, Kind::Text) },
        };
        Param { required: !text.contains('?'), ..param }
    };
    Tool {
        aliases: aliases.split_whitespace().map(str::to_owned).collect(),
        params: params.split_whitespace().map(param).collect(),
        outputs: outputs.split_whitespace().map(|text| kind(text).unwrap()).collect(),
        ..Tool::typed(name, description, &[], &[])
    }
}

/// Task types as a catalogue that is not jarvis's own may have them.
pub(crate) fn task_types() -> Vec<Tool> {
    serde_json::from_str(include_str!("../cases/task_types.json")).unwrap()
}

/// Tools whose parameters have names and types, and whose outputs are unknown.
pub(crate) fn everyday() -> Vec<Tool> {
    tools(&["everyday"])
}

/// Tools of the lists that are named between blanks.
pub(crate) fn tools_of(lists: &str) -> Vec<Tool> {
    tools(&lists.split(' ').collect::<Vec<_>>())
}

/// A request with files attached: images and sounds by path, other things as text.
pub(crate) fn request(text: &str, attachments: &[&str]) -> Request {
    let attachments = attachments
        .iter()
        .map(|given| match Kind::of_name(given).filter(|kind| kind.is_media() && !given.contains(' ')) {
            Some(kind) => Resource { kind, source: Source::Public((*given).to_owned()), name: None },
            None => Resource { kind: Kind::Text, source: Source::Inline((*given).to_owned()), name: None },
        })
        .collect();
    Request { attachments, ..Request::new(text) }
}

/// `tool(arg=value,…) ; …` with `@k` for the output of task `k` and `<…>` for dependencies that no argument shows.
pub(crate) fn compact(draft: &Draft) -> String {
    let task = |task: &jarvis_plan::DraftTask| {
        let args: Vec<String> = task
            .args
            .iter()
            .map(|(name, arg)| format!("{name}={}", arg.to_string().replace("<GENERATED>-", "@")))
            .collect();
        let shown: Vec<i64> = task.args.values().flat_map(Arg::references).filter_map(|of| of.0).collect();
        let hidden: Vec<String> =
            task.dep.iter().filter(|dep| !shown.contains(dep)).map(|dep| format!("<{dep}>")).collect();
        format!("{}({}){}", task.task, args.join(","), hidden.join(""))
    };
    draft.tasks.iter().map(task).collect::<Vec<_>>().join(" ; ")
}

/// True when `found` is what `expected` says; `~word` in `expected` stands for any value that holds the word.
fn matches(found: &str, expected: &str) -> bool {
    let mut rest = found;
    for (at, piece) in expected.split('~').enumerate() {
        if at == 0 {
            match rest.strip_prefix(piece) {
                Some(after) => rest = after,
                None => return false,
            }
            continue;
        }
        let (word, tail) = piece.find([',', ')']).map_or((piece, ""), |end| piece.split_at(end));
        let end = if tail.is_empty() { Some(rest.len()) } else { find_tail(rest, word, tail) };
        let Some(end) = end else { return false };
        if !rest[..end].to_lowercase().contains(&word.to_lowercase()) {
            return false;
        }
        rest = &rest[end + tail.len()..];
    }
    rest.is_empty()
}

/// Where `tail` stands for the first time after `word`.
fn find_tail(rest: &str, word: &str, tail: &str) -> Option<usize> {
    let lower = rest.to_lowercase();
    let at = lower.find(&word.to_lowercase())? + word.len();
    Some(at + rest.get(at..)?.find(tail)?)
}

/// Whether nothing but what the request lacks or says otherwise than the tool takes it is wrong with a task.
pub(crate) fn is_well_formed(task: &Task) -> bool {
    task.faults.iter().all(|fault| matches!(fault, Fault::MissingArgument { .. } | Fault::BadValue { .. }))
}

/// Checks every case of a table; tells all that differ at once.
pub(crate) fn check_all(tools: &[Tool], cases: &[(&str, &[&str], &str)]) {
    let index = ToolIndex::new(tools);
    let vocabulary = Vocabulary::new(tools.to_vec());
    let mut wrong = Vec::new();
    for (text, attachments, expected) in cases {
        let draft = Offline::draft_with(&index, &request(text, attachments));
        let found = compact(&draft);
        if !matches(&found, expected) {
            wrong.push(format!("request:  {text}\nexpected: {expected}\nfound:    {found}"));
        }
        let plan = jarvis_plan::check(&draft, &vocabulary, Limits::default());
        assert!(plan.tasks().iter().all(is_well_formed), "{text}: {plan:?}");
        assert_eq!(draft.tasks.is_empty(), !draft.notes.is_empty() && draft.tasks.is_empty(), "{text}");
    }
    assert!(wrong.is_empty(), "{} of {} differ\n\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

#[test]
fn the_comparison_can_fail() {
    assert!(matches("a(x=make it gray,y=1)", "a(x=~gray,y=1)"));
    assert!(matches("a(x=gray) ; b()", "a(x=~gray) ; b()"));
    assert!(!matches("a(x=red,y=1)", "a(x=~gray,y=1)"));
    assert!(!matches("a(x=gray) ; b()", "a(x=~gray)"));
    assert!(!matches("a()", "b()"));
}
