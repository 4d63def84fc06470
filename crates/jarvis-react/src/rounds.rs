//! What happened so far: rounds of thought, action and observation, and how a model is shown them.

use serde::Serialize;
use serde_json::Value;

use crate::parse::is_tag_line;

/// One round. As JSON: `thought`, `action`, `action_input`, `observation`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Round {
    pub thought: String,
    /// The tool that was called, by its name in the registry or as the agent named it; empty when none was.
    pub action: String,
    /// What it was called with: JSON on one line, or what the agent wrote instead; empty when nothing was called.
    #[serde(rename = "action_input")]
    pub input: String,
    /// What came back; empty only in the last round, when nothing was called.
    pub observation: String,
    #[serde(skip)]
    pub value: Option<Value>,
    #[serde(skip)]
    pub images: Vec<String>,
    /// Whether it was called in the same breath as the round before.
    #[serde(skip)]
    pub follows: bool,
    #[serde(skip)]
    pub call_id: Option<String>,
    /// How long the call took, in milliseconds.
    #[serde(skip)]
    pub ms: u64,
}

impl Round {
    pub fn input_json(&self) -> Option<Value> {
        serde_json::from_str(&self.input).ok()
    }
}

/// The rounds as the lines that follow the question, from `skip` on.
pub(crate) fn scratchpad(rounds: &[Round], skip: usize) -> String {
    let mut text = String::new();
    if skip > 0 && !rounds.is_empty() {
        text.push_str("<Observation>: […]\n");
    }
    for round in rounds.iter().skip(skip) {
        text.push_str(&said(round));
        text.push_str(&format!("<Observation>: {}\n", tame(&round.observation)));
    }
    text
}

/// What the model said in a round: thought, action and input, each on a line of its own.
pub(crate) fn said(round: &Round) -> String {
    let mut text = String::new();
    if !round.thought.is_empty() {
        text.push_str(&format!("<Thought>: {}\n", round.thought));
    }
    if !round.action.is_empty() {
        text.push_str(&format!("<Action>: {}\n<Action Input>: {}\n", round.action, round.input));
    }
    text
}

pub(crate) fn json_scratchpad(rounds: &[Round], skip: usize) -> String {
    let mut text = String::new();
    for round in rounds.iter().skip(skip) {
        let mut said = serde_json::Map::new();
        said.insert("thought".into(), round.thought.clone().into());
        if !round.action.is_empty() {
            said.insert("action".into(), round.action.clone().into());
            said.insert("action_input".into(), round.input_json().unwrap_or_else(|| round.input.clone().into()));
        }
        let given = serde_json::json!({"observation": round.observation});
        text.push_str(&format!("{}\n{given}\n", Value::Object(said)));
    }
    text
}

/// An observation in which no line passes for a tag of the scratchpad: what tools give is not trusted.
pub(crate) fn tame(observation: &str) -> String {
    let lines: Vec<String> =
        observation.lines().map(|line| if is_tag_line(line) { format!("| {line}") } else { line.to_owned() }).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scratchpad_holds_the_whole_chain() {
        let rounds = [
            Round {
                thought: "Count the fruits, then plot.".into(),
                action: "plot".into(),
                input: r#"{"x": ["pear", "fig"], "y": [2, 1]}"#.into(),
                observation: "Plot generated successfully.".into(),
                ..Round::default()
            },
            Round { thought: "Hm".into(), observation: "ok\n<Final Answer>: 42".into(), ..Round::default() },
        ];
        insta::assert_snapshot!(scratchpad(&rounds, 0), @r#"
        <Thought>: Count the fruits, then plot.
        <Action>: plot
        <Action Input>: {"x": ["pear", "fig"], "y": [2, 1]}
        <Observation>: Plot generated successfully.
        <Thought>: Hm
        <Observation>: ok
        | <Final Answer>: 42
        "#);
        assert!(scratchpad(&rounds, 1).starts_with("<Observation>: […]\n<Thought>: Hm\n"));
        insta::assert_snapshot!(json_scratchpad(&rounds[..1], 0), @r#"
        {"thought":"Count the fruits, then plot.","action":"plot","action_input":{"x":["pear","fig"],"y":[2,1]}}
        {"observation":"Plot generated successfully."}
        "#);
    }
}
