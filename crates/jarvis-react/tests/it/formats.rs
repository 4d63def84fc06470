//! The other formats: one JSON object a round, and the endpoint's own tool calling.

use jarvis_react::Format;
use jarvis_testing::chat::{Reply, Script};
use serde_json::{Value, json};

use crate::harness::{FRUITS, Harness, script};

#[tokio::test]
async fn json_rounds() {
    let replies = [
        r#"{"thought": "Count, then plot.", "action": "plot", "action_input": {"x": ["apple"], "y": [6]}}"#,
        r#"{"thought": "I know", "final_answer": "Six apples."}"#,
    ];
    let harness = Harness::with(script(replies), |settings| settings.format = Format::Json).await;
    let answered = harness.answered("How many apples?").await;
    assert_eq!((answered.text.as_str(), answered.images.len()), ("Six apples.", 1));
    let prompt = &harness.prompts()[1];
    insta::assert_snapshot!(prompt[prompt.rfind("Question: ").unwrap()..].trim_end(), @r#"
    Question: How many apples?
    {"thought":"Count, then plot.","action":"plot","action_input":{"x":["apple"],"y":[6]}}
    {"observation":"Plot generated successfully."}
    "#);
    assert!(harness.chat.requests()[0].body.get("stop").is_none());
}

fn calls(calls: &[(&str, &str, Value)]) -> Reply {
    let call = |(id, name, arguments): &(&str, &str, Value)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let calls: Vec<Value> = calls.iter().map(call).collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    Reply::json(200, json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}))
}

#[tokio::test]
async fn the_endpoints_own_tool_calling() {
    let replies = [
        calls(&[("c1", "add", json!({"a": 5, "b": 10})), ("c2", "plot", json!({"x": ["a"], "y": [1]}))]),
        calls(&[("c3", "nothing", json!({}))]),
        Reply::text("Fifteen."),
    ];
    let harness = Harness::with(Script::always(replies), |settings| settings.format = Format::NativeTools).await;
    let answered = harness.ask("5 + 10, and a chart?", FRUITS).await.0.unwrap();
    assert_eq!((answered.text.as_str(), answered.images.len(), answered.plan.tasks().len()), ("Fifteen.", 1, 2));
    let requests = harness.chat.requests();
    let plot = &requests[0].body["tools"][0]["function"];
    assert_eq!((&plot["name"], &plot["parameters"]["type"]), (&json!("plot"), &json!("object")));
    let told = |message: &Value| {
        let calls = message["tool_calls"].as_array().map(Vec::len);
        json!([message["role"], calls, message["tool_call_id"], message["content"]])
    };
    let messages = requests[2].body["messages"].as_array().unwrap();
    assert!(answered.rounds[2].observation.starts_with("there is no tool `nothing`"));
    assert_eq!(
        messages[2..].iter().map(told).collect::<Vec<Value>>(),
        [
            json!(["assistant", 2, null, ""]),
            json!(["tool", null, "c1", "Addition Result: 15"]),
            json!(["tool", null, "c2", "Plot generated successfully."]),
            json!(["assistant", 1, null, ""]),
            json!(["tool", null, "c3", answered.rounds[2].observation]),
        ]
    );
}

#[tokio::test]
async fn models_that_write_their_calls_are_understood_too() {
    let replies = ["<Action>: add\n<Action Input>: {\"a\": 5, \"b\": 10}", "<Thought>: done\n<Final Answer>: Fifteen."];
    let harness = Harness::with(script(replies), |settings| settings.format = Format::NativeTools).await;
    let answered = harness.answered("5 + 10?").await;
    assert_eq!((answered.text.as_str(), answered.rounds[0].observation.as_str()), ("Fifteen.", "Addition Result: 15"));
}
