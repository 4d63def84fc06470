//! A crate builds on lower floors only; crates set aside are for development.

use serde_json::Value;

use super::Finding;
use super::workspace::Crate;

const RULE: &str = "a crate depends on lower floors only";

/// What stands on the wrong floor.
pub(super) fn check(crates: &[Crate]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in crates {
        let mut found = |what: String, rule| findings.push(Finding::new(&member.manifest, 0, what, rule));
        if member.folder != member.name {
            let what = format!("crate `{}` lives in the folder `{}`", member.name, member.folder);
            found(what, "a folder is named after its crate");
        }
        let floor = match &member.floor {
            Value::String(word) if word == "aside" => None,
            Value::Number(number) if number.is_u64() => number.as_u64(),
            Value::Null => {
                found(
                    format!("`{}` names no floor", member.name),
                    "`[package.metadata.jarvis] floor = N` in each manifest",
                );
                continue;
            }
            other => {
                found(
                    format!("floor `{other}` is no number and not \"aside\""),
                    "`[package.metadata.jarvis] floor = N` in each manifest",
                );
                continue;
            }
        };
        for need in &member.needs {
            let Some(below) = crates.iter().find(|other| other.name == *need) else { continue };
            match (floor, below.floor.as_u64()) {
                (_, None) if below.floor == "aside" => {
                    found(format!("`{need}` is set aside"), "crates set aside are dev-dependencies only");
                }
                (Some(floor), Some(under)) if under >= floor => {
                    found(format!("`{}` on floor {floor} needs `{need}` on floor {under}", member.name), RULE);
                }
                _ => {}
            }
        }
    }
    findings
}
