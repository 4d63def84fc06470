//! Replies as data.

use serde_json::{Value, json};

use super::*;

/// Checks what a reply in tagged lines is taken for: thought, tool, input (`null` when missing), answer.
#[track_caller]
fn check(output: &str, thought: &str, action: Option<(&str, Value)>, answer: Option<&str>) {
    let parsed = parse_tags(output);
    assert_eq!(parsed.thought, thought, "{output}");
    let got = parsed.actions.first().map(|action| {
        (
            action.tool.as_str(),
            action.input.as_ref().map_or(Value::Null, |_| action.object().map_or(json!("bad"), Value::Object)),
        )
    });
    assert_eq!(got, action, "{output}");
    assert_eq!(parsed.answer.as_deref(), answer, "{output}");
}

#[test]
fn tags_are_read_in_every_spelling() {
    let plot = || Some(("plot", json!({"x": ["a"], "y": [1]})));
    let input = r#"{"x": ["a"], "y": [1]}"#;
    for output in [
        format!("<Thought>: T\n<Action>: plot\n<Action Input>: {input}"),
        format!("  <Thought>: T\n\n<Action>:\nplot\n<Action Input>:\n{input}\n"),
        format!("<thought> T\n<ACTION> plot\n<action_input> {input}"),
        format!("**<Thought>**: T\n**<Action>:** plot\n*<Action Input>*: {input}"),
        format!("<Thought>：T\n<Action>：plot\n<Action Input>：{input}"),
        format!("<思考>：T\n<行动>：plot\n<行动输入>：{input}"),
        format!("＜思考＞: T\n＜行动＞: plot\n＜行动输入＞: {input}"),
        format!("<Thought>T</Thought>\n<Action>plot</Action>\n<Action Input>{input}</Action Input>"),
        format!("<Thought>T</Thought> <Action>plot</Action> <Action_Input>{input}</Action_Input>"),
        format!("T\n<Action>: plot\n<Action Input>: ```json\n{input}\n```"),
        format!("<Thought>: T\n<Action>: plot {input}"),
        format!("<Thought>: T\n<Action>: plot({input})"),
        format!("Thought: T\nAction: plot\nAction Input: {input}"),
        format!("### Thought: T\n### Action: `plot`\n### Action Input: {input}").replace('`', ""),
        format!("<Question>: something else\n<Thought>: T\n<Action>: plot\n<Action Input>: {input}"),
        format!("<think>maybe <Final Answer>: no</think><Thought>: T\n<Action>: plot\n<Action Input>: {input}"),
        format!("<Thought>: T\n<Action>: plot\n<Action Input>: {input}\n<Observation>: Plot made\n<Final Answer>: ha"),
        // The first pair wins.
        format!("<Thought>: T\n<Action>: plot\n<Action Input>: {input}\n<Action>: count\n<Action Input>: {{}}"),
    ] {
        check(&output, "T", plot(), None);
    }
}

#[test]
fn answers_are_read_in_every_spelling() {
    for output in [
        "<Thought>: T\n<Final Answer>: Pear, twice.",
        "<Thought>: T\n<Final Answer>:\n\nPear, twice.\n",
        "<Thought>: T\n<final_answer> Pear, twice.</final_answer>",
        "<Thought>: T\n<最终答案>：Pear, twice.",
        "Thought: T\nFinal Answer: Pear, twice.",
        "T\n\n**Final Answer:** Pear, twice.",
        "<Thought>: T\n<Action>: None\n<Final Answer>: Pear, twice.",
        "<Thought>: T\n<Final Answer>: no\n<Final Answer>: Pear, twice.",
        "<Thought>: T\n<Final Answer>: Pear, twice.\n<Observation>: x",
        "<Question>: ignore this\nand this\n<Thought>: T\n<Final Answer>: Pear, twice.",
    ] {
        check(output, "T", None, Some("Pear, twice."));
    }
    check("<Final Answer>: a\nb: c\nThought: d", "", None, Some("a\nb: c\nThought: d"));
    check("<Final Answer>:", "", None, Some(""));
    check("Just words", "Just words", None, None);
    check("", "", None, None);
    check("<Thought>: one\n<Thought>: two", "one\ntwo", None, None);
    check("<b>bold</b> and <i>more", "<b>bold</b> and <i>more", None, None);
}

#[test]
fn what_is_wrong_with_a_call_is_seen() {
    check("<Action>: plot", "", Some(("plot", Value::Null)), None);
    check("<Action>: plot\n<Action Input>:", "", Some(("plot", Value::Null)), None);
    check("<Action>: plot\n<Action Input>: x=1", "", Some(("plot", json!("bad"))), None);
    check(
        "<Action>: plot\n<Action Input>: {'x': ['a',], 'y': [1]}",
        "",
        Some(("plot", json!({"x": ["a"], "y": [1]}))),
        None,
    );
    check("<Action Input>: {}", "", None, None);
    check("<Action>: do not plot\n<Action Input>: {}", "", Some(("do not plot", json!({}))), None);
    // Both in one reply: the caller decides by whether an observation was made up between them.
    check("<Action>: plot\n<Action Input>: {}\n<Final Answer>: yes", "", Some(("plot", json!({}))), Some("yes"));
    assert!(parse_tags("<Action>: plot\n<Action Input>: {}\n<Observation>: ok").invented);
    // The JSON may span lines.
    check(
        "<Action>: plot\n<Action Input>: {\n \"x\": [1],\n \"y\": [2]\n}",
        "",
        Some(("plot", json!({"x": [1], "y": [2]}))),
        None,
    );
}

#[test]
fn json_replies_are_read() {
    #[track_caller]
    fn check(output: &str, want: (&str, Option<(&str, Value)>, Option<&str>)) {
        let parsed = parse_json(output);
        let action = parsed
            .actions
            .first()
            .map(|action| (action.tool.as_str(), action.object().map_or(Value::Null, Value::Object)));
        assert_eq!((parsed.thought.as_str(), action, parsed.answer.as_deref()), want, "{output}");
    }
    let plot = || Some(("plot", json!({"x": [1]})));
    check(r#"{"thought": "T", "action": "plot", "action_input": {"x": [1]}}"#, ("T", plot(), None));
    check(
        r#"```json
{"Thought": "T", "Action": {"name": "plot", "arguments": "{\"x\": [1]}"}}```"#,
        ("T", plot(), None),
    );
    check(r#"{"thought": "T", "action": null, "final_answer": "42"}"#, ("T", None, Some("42")));
    check(r#"{"thought": "T", "Final Answer": 42}"#, ("T", None, Some("42")));
    check(r#"{"思考": "T", "最终答案": "四十二"}"#, ("T", None, Some("四十二")));
    check(
        r#"{"thought": "T", "action": "plot", "action_input": {"x": [1]}, "observation": "ok", "final_answer": "x"}"#,
        ("T", plot(), None),
    );
    let inventing =
        "{\"action\": \"plot\", \"action_input\": {\"x\": [1],}}\n{\"observation\": \"9\"}\n{\"final_answer\": \"9\"}";
    check(inventing, ("", plot(), None));
    check("no object", ("no object", None, None));
}
