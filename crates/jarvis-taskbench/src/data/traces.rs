//! What a run of inference left beside its predictions, for those who score them: which examples it showed, and which
//! replies held no plan. Files of other programs leave nothing, and then nothing is known.

use std::collections::HashMap;
use std::path::Path;

use super::{Lines, SampleId};
use crate::json::{Look, parse};

/// What stands before the settings of a run in its log.
pub(crate) const SETTINGS: &str = "settings: ";

/// The settings of the last run that wrote this log; `None` too where it cannot be read, since a log stops no run.
pub(crate) fn last_settings(log: &Path) -> Option<String> {
    let log = std::fs::read_to_string(log).ok()?;
    log.lines().rev().find_map(|line| line.split_once(SETTINGS)).map(|(_, settings)| settings.to_owned())
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traces {
    pub examples: Vec<String>,
    /// Requests whose reply held no plan, and why.
    pub no_plan: HashMap<SampleId, String>,
}

impl Traces {
    pub fn beside(predictions: &Path) -> Traces {
        let settings = last_settings(&predictions.with_extension("log"));
        let examples = settings.iter().flat_map(|settings| settings.split("; "));
        let ids = examples.filter_map(|part| part.strip_prefix("examples=")).flat_map(|ids| ids.split(','));
        let examples = ids.filter(|id| !id.is_empty()).map(str::to_owned).collect();
        let mut no_plan = HashMap::new();
        if let Ok(lines) = Lines::read(&predictions.with_extension("errors.jsonl")) {
            for (_, line) in lines.iter() {
                let Ok(error) = parse(line) else { continue };
                let text = |key: &str| error.look(key).and_then(Look::text);
                let id = error.look("id").and_then(SampleId::of);
                if let (Some(id), Some("ContentFormat" | "Schema"), Some(message)) = (id, text("kind"), text("message"))
                {
                    no_plan.insert(id, format!("the reply held no plan: {message}"));
                }
            }
        }
        Traces { examples, no_plan }
    }
}

#[cfg(test)]
mod tests {
    use super::Traces;
    use crate::data::SampleId;

    #[test]
    fn the_last_run_tells() {
        let dir = tempfile::tempdir().unwrap();
        let predictions = dir.path().join("m.json");
        assert_eq!(Traces::beside(&predictions), Traces::default());
        let log = "t - m - INFO - settings: planner=m; examples=1; reformat=false\n\
                   t - m - INFO - settings: planner=m; examples=7,8; reformat=false\nt - m - INFO - completed: 1\n";
        std::fs::write(dir.path().join("m.log"), log).unwrap();
        let errors = r#"{"id": "3", "kind": "Schema", "message": "no nodes"}
{"id": 4, "kind": "RateLimit", "message": "later"}
{"id": 5, "kind": "Content"#;
        std::fs::write(dir.path().join("m.errors.jsonl"), errors).unwrap();
        let traces = Traces::beside(&predictions);
        assert_eq!(traces.examples, ["7", "8"]);
        let known: Vec<(&SampleId, &String)> = traces.no_plan.iter().collect();
        assert_eq!(known, [(&SampleId::Text("3".into()), &"the reply held no plan: no nodes".to_owned())]);
    }
}
