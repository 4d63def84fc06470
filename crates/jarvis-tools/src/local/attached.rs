//! `attached-files`: the files that came with the request, for tasks that run once for each.

use jarvis_plan::Kind;
use serde_json::{Value, json};

use super::{NativeTool, Work, native, wrong};
use crate::{Observation, Scope};

/// The name of the tool.
pub const NAME: &str = "attached-files";

/// The tool `attached-files`.
pub(super) fn tool() -> NativeTool {
    let kinds: Vec<&str> = Kind::ALL.into_iter().filter(|kind| kind.is_media()).map(Kind::as_str).collect();
    let spec = native(
        NAME,
        "Lists the attached files of one kind, in their order.",
        "a task is to run once for each of many attached files",
        json!({
            "type": "object",
            "properties": {"kind": {"type": "string", "enum": kinds}},
            "required": ["kind"],
        }),
        json!({"kind": "image"}),
    );
    let prepare = |input: &Value, scope: &Scope| {
        let kind = input.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
        let of_kind = scope.files.iter().filter(|(own, _)| own.as_str() == kind);
        let paths: Vec<String> = of_kind.map(|(_, path)| path.clone()).collect();
        if paths.is_empty() {
            return Err(wrong(format!(
                "no file of the kind `{kind}` is attached; a plan that was saved needs its files again"
            )));
        }
        Ok(Box::new(move || Ok(Observation { text: paths.join("\n"), value: Some(paths.into()), media: Vec::new() }))
            as Work)
    };
    NativeTool { spec, prepare: Box::new(prepare) }
}
