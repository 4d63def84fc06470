//! Turns the published replays into recordings that `--llm replay:FILE` answers from.
//!
//! A replay holds what was read out of the model's replies, not the replies. Its parts are written
//! back as replies, one line of a recording for each call that the pipeline makes, in the order of the flow:
//!
//! | part of the replay | stage | `contains` |
//! |---|---|---|
//! | `decompose` | `task_decompose` | the question |
//! | `topology` | `task_topology` | the question |
//! | `steps[].tool.ID` | `choose_tool` | the subtask |
//! | `steps[].parameters` | `choose_parameter`, or `choose_parameter_depend` where `dep` is not `[-1]` | the subtask |
//! | `steps[].answer` | `answer_generation`, or `answer_generation_depend` | the subtask |
//! | `final_answer` | `answer_summarize` | the question |
//! | `answer_check` | `answer_check` | the question |
//!
//! One-hop replays have no decomposition and no `dep`; the question is the one subtask. RestBench replays have one line,
//! `restbench_decompose` with `task_path`. Numbers keep their digits: rows are read as exact literals.

use jarvis_prompt::literal::Literal;
use serde_json::json;

pub(crate) struct Case {
    pub(crate) row: Literal,
}

impl Case {
    pub(crate) fn read(line: &str) -> Case {
        Case { row: Literal::parse(line).unwrap() }
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.row.field(name).and_then(Literal::as_text).unwrap_or_else(|| panic!("no {name}"))
    }

    pub(crate) fn list(&self, name: &str) -> &[Literal] {
        self.row.field(name).and_then(Literal::as_list).unwrap_or_default()
    }

    /// Whether the row says that it can be reproduced exactly.
    pub(crate) fn is_clean(&self) -> bool {
        self.row.field("clean") == Some(&Literal::Bool(true))
    }

    pub(crate) fn funcqa(&self) -> String {
        let question = self.text("question");
        let mut lines = Vec::new();
        let mut say = |stage: &str, about: &str, reply: String| {
            lines.push(json!({"stage": stage, "contains": [about], "reply": reply}).to_string());
        };
        if let Some(split) = self.row.field("decompose").filter(|split| split.as_map().is_some()) {
            say("task_decompose", question, split.to_string());
            say("task_topology", question, self.row.field("topology").unwrap().to_string());
        }
        for step in self.list("steps") {
            let task = step.field("task").and_then(Literal::as_text).unwrap();
            let dep = step.field("dep").and_then(Literal::as_list).unwrap_or_default();
            let depends = dep.first().is_some_and(|first| first.id() != Some(-1));
            let form = |stage: &str| if depends { format!("{stage}_depend") } else { stage.to_owned() };
            let id = step.field("tool").and_then(|tool| tool.field("ID")).unwrap();
            say("choose_tool", task, format!("{{\"ID\": {id}}}"));
            let parameters = step.field("parameters").unwrap();
            say(&form("choose_parameter"), task, format!("{{\"Parameters\": {parameters}}}"));
            let answer = step.field("answer").and_then(Literal::as_text).unwrap();
            say(&form("answer_generation"), task, answer.to_owned());
        }
        say("answer_summarize", question, self.text("final_answer").to_owned());
        let choice = json!({"Reason": "as published", "Choice": self.text("answer_check")});
        say("answer_check", question, choice.to_string());
        lines.join("\n")
    }

    pub(crate) fn restbench(&self) -> String {
        let path = self.row.field("task_path").unwrap().to_string();
        json!({"stage": "restbench_decompose", "contains": [self.text("question")], "reply": path}).to_string()
    }
}
