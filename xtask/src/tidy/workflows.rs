//! Workflows call `cargo xtask` and nothing else, by actions that are pinned to a commit; forms of issues have the shape that the forge
//! takes.

use std::collections::HashSet;

use serde_json::Value;

use super::Finding;

const PINNED: &str =
    "an action is pinned by the hash of a commit, with its version behind it: `uses: OWNER/NAME@HASH # v1.2.3`";
const COMMANDS: &str = "a step calls one `cargo xtask` command, so that it can be run by hand";
const FORM: &str = "a form of issues has a name, a description and fields that the forge knows";

/// The kinds of fields of a form.
const FIELDS: [&str; 5] = ["markdown", "textarea", "input", "dropdown", "checkboxes"];

/// What breaks a rule in one file of `.github`.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let json: Value = match serde_saphyr::from_str(text) {
        Ok(json) => json,
        Err(error) => return vec![Finding::new(path, 0, error.to_string(), "files of .github are YAML")],
    };
    if path.starts_with(".github/workflows/") {
        workflow(path, text, &json)
    } else if path.starts_with(".github/ISSUE_TEMPLATE/") && !path.ends_with("/config.yml") {
        form(path, &json)
    } else {
        Vec::new()
    }
}

fn workflow(path: &str, text: &str, json: &Value) -> Vec<Finding> {
    let line_of = |part: &str| text.lines().position(|line| line.contains(part)).map_or(0, |at| at + 1);
    let jobs: Vec<&Value> =
        json.get("jobs").and_then(Value::as_object).into_iter().flat_map(|jobs| jobs.values()).collect();
    let steps = jobs.iter().filter_map(|job| job.get("steps").and_then(Value::as_array)).flatten();
    let parts: Vec<&Value> = jobs.iter().copied().chain(steps).collect();
    let mut findings = Vec::new();
    for part in parts {
        if let Some(action) = part.get("uses").and_then(Value::as_str) {
            let line = text.lines().find(|line| line.contains(action)).unwrap_or_default();
            if !is_own(action) && !is_pinned(action, line) {
                findings.push(Finding::new(path, line_of(action), format!("`{action}`"), PINNED));
            }
        }
        if let Some(script) = part.get("run").and_then(Value::as_str) {
            let first = script.lines().next().unwrap_or_default();
            if !is_command(script) {
                findings.push(Finding::new(path, line_of(first), format!("`{first}`"), COMMANDS));
            }
        }
    }
    findings
}

/// A workflow of this repository, which has the commit of its caller.
fn is_own(action: &str) -> bool {
    action.starts_with("./")
}

fn is_pinned(action: &str, line: &str) -> bool {
    let hash = action.split_once('@').map_or("", |(_, hash)| hash);
    let version = line.split_once(" # v").map_or("", |(_, version)| version);
    hash.len() == 40
        && hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && version.split('.').count() == 3
        && version.split('.').all(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// One command, into whose text nothing is put by the forge: a name of a branch in it would be code.
fn is_command(script: &str) -> bool {
    let line = script.trim_end();
    let joins = ['\n', ';', '|', '&', '`', '>', '<'];
    line.starts_with("cargo xtask ") && !line.contains(joins) && !line.contains("${{") && !line.contains("$(")
}

fn form(path: &str, json: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut find = |what: String| findings.push(Finding::new(path, 0, what, FORM));
    let is_text = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    for key in ["name", "description"].into_iter().filter(|key| !is_text(json.get(key))) {
        find(format!("no `{key}`"));
    }
    let fields: &[Value] = json.get("body").and_then(Value::as_array).map_or(&[], Vec::as_slice);
    if fields.is_empty() {
        find("no `body`".to_owned());
    }
    let mut ids = HashSet::new();
    for (at, field) in fields.iter().enumerate() {
        let kind = field.get("type").and_then(Value::as_str).unwrap_or_default();
        let id = field.get("id").and_then(Value::as_str).unwrap_or_default();
        let attributes = field.get("attributes").unwrap_or(&Value::Null);
        let choices = attributes.get("options").and_then(Value::as_array).map_or(0, Vec::len);
        let fault = match kind {
            "markdown" if !is_text(attributes.get("value")) => "no `value`",
            "markdown" => continue,
            _ if !FIELDS.contains(&kind) => "an unknown `type`",
            _ if !is_text(attributes.get("label")) => "no `label`",
            _ if id.is_empty() => "no `id`",
            _ if !ids.insert(id) => "an `id` that another has",
            "dropdown" | "checkboxes" if choices == 0 => "no `options`",
            _ => continue,
        };
        find(format!("field {} (`{id}`) has {fault}", at + 1));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "3d3c42e5aac5ba805825da76410c181273ba90b1";

    fn found(path: &str, text: &str) -> Vec<String> {
        check(path, text).iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn actions_are_pinned() {
        let cases = [
            (format!("a/b@{HASH} # v7.0.1"), true),
            (format!("a/b/c@{HASH} # v7.0.1"), true),
            ("./.github/workflows/dist.yml".to_owned(), true),
            ("a/b@v7 # v7.0.1".to_owned(), false),
            (format!("a/b@{HASH}"), false),
            (format!("a/b@{HASH} # v7"), false),
            (format!("a/b@{HASH} # main"), false),
            (format!("a/b@{} # v7.0.1", HASH.to_uppercase()), false),
            (format!("a/b@{} # v7.0.1", &HASH[..39]), false),
            ("docker://alpine # v3.8.0".to_owned(), false),
        ];
        for (action, fits) in cases {
            let step = format!("jobs:\n  a:\n    steps:\n      - uses: {action}\n");
            let job = format!("jobs:\n  a:\n    uses: {action}\n");
            for (text, line) in [(step, 4), (job, 3)] {
                let findings = found(".github/workflows/a.yml", &text);
                let name = action.split(' ').next().unwrap();
                assert_eq!(findings, if fits { vec![] } else { vec![format!("{line}: `{name}`")] }, "{action}");
            }
        }
    }

    #[test]
    fn steps_call_xtask() {
        let cases = [
            ("cargo xtask dist", true),
            ("cargo xtask release github \"$TAG\"", true),
            ("cargo test", false),
            ("cargo xtask dist && curl x", false),
            ("cargo xtask dist; true", false),
            ("cargo xtask release-notes ${{ github.ref_name }}", false),
            ("cargo xtask release-notes $(git tag)", false),
            ("|\n          cargo xtask a\n          cargo xtask b", false),
        ];
        for (script, fits) in cases {
            let text = format!("jobs:\n  a:\n    steps:\n      - run: {script}\n");
            assert_eq!(found(".github/workflows/a.yml", &text).is_empty(), fits, "{script}");
        }
    }

    #[test]
    fn forms_have_the_shape_that_the_forge_takes() {
        let form = |field: &str| format!("name: A\ndescription: B\nbody:\n  - {field}\n");
        let cases = [
            (form("{type: input, id: a, attributes: {label: A}}"), ""),
            (form("{type: markdown, attributes: {value: Text}}"), ""),
            (form("{type: checkboxes, id: a, attributes: {label: A, options: [{label: B}]}}"), ""),
            (form("{type: markdown, attributes: {}}"), "field 1 (``) has no `value`"),
            (form("{type: text, id: a, attributes: {label: A}}"), "field 1 (`a`) has an unknown `type`"),
            (form("{type: input, id: a}"), "field 1 (`a`) has no `label`"),
            (form("{type: dropdown, id: a, attributes: {label: A}}"), "field 1 (`a`) has no `options`"),
            (
                form("{type: input, id: a, attributes: {label: A}}\n  - {type: input, id: a, attributes: {label: B}}"),
                "field 2 (`a`) has an `id` that another has",
            ),
            ("name: A\nbody: [{type: input, id: a, attributes: {label: A}}]".to_owned(), "no `description`"),
            ("name: A\ndescription: B\n".to_owned(), "no `body`"),
        ];
        for (text, expected) in cases {
            let expected: Vec<String> = if expected.is_empty() { vec![] } else { vec![format!("0: {expected}")] };
            assert_eq!(found(".github/ISSUE_TEMPLATE/a.yml", &text), expected, "{text}");
        }
        assert_eq!(found(".github/ISSUE_TEMPLATE/config.yml", "blank_issues_enabled: false"), [""; 0]);
        assert_eq!(found(".github/dependabot.yml", "a: [").len(), 1);
    }
}
