//! Long results: what the prompt shows of them, and how the rest is read, in every format and without a document.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_plan::Effect;
use jarvis_react::{AgentAnswer, Asked, Format};
use jarvis_testing::chat::{Reply, Request, Script};
use jarvis_tools::{Observation, Registry, Scope, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{Harness, answer};

const FORMATS: [Format; 3] = [Format::Tags, Format::Json, Format::NativeTools];

/// A tool with as much to say as it is asked for: rows of a table, records of a list, or words of a failure.
struct Archive(ToolSpec);

#[async_trait]
impl Tool for Archive {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, input: &Value, _: &Scope) -> Result<Observation, ToolError> {
        let many = |name: &str| input.get(name).and_then(Value::as_u64);
        if let Some(rows) = many("rows") {
            let rows = (1..=rows).map(|row| format!("{row},person {row},{} years\n", row % 90));
            let table: String = std::iter::once("id,name,age\n".to_owned()).chain(rows).collect();
            return Ok(Observation::text(table.replace("person 700,", "Ada Lovelace,")));
        }
        if let Some(words) = many("failure") {
            return Err(ToolError::new(ToolErrorKind::Failed, "no way ".repeat(words as usize)));
        }
        Ok(Observation::text(records(many("records").unwrap_or_default()).to_string()))
    }
}

fn records(count: u64) -> Value {
    let record = |id: u64| json!({"id": id, "name": format!("person {id}"), "city": "Turin", "tags": ["a", "b"]});
    json!({"total": count, "people": (1..=count).map(record).collect::<Vec<_>>()})
}

fn archive(registry: &mut Registry) {
    let number = json!({"type": "integer"});
    registry
        .add(Arc::new(Archive(ToolSpec {
            name: "archive".to_owned(),
            description: "Gives what the archive holds.".to_owned(),
            when: "something is in the archive".to_owned(),
            input_schema: json!({"type": "object", "properties": {"rows": number, "records": number, "failure": number}}),
            example: json!({"rows": 10}),
            output_schema: None,
            effect: Effect::Reads,
            source: ToolSource::Native,
        })))
        .unwrap();
}

/// A reply that calls tools in a format; more than one in a breath only where it can.
fn calls(format: Format, calls: &[(&str, Value)]) -> Reply {
    let (name, input) = &calls[0];
    match format {
        Format::Tags => Reply::text(format!("<Thought>: x\n<Action>: {name}\n<Action Input>: {input}")),
        Format::Json => Reply::text(json!({"thought": "x", "action": name, "action_input": input}).to_string()),
        Format::NativeTools => {
            let call = |(nth, (name, input)): (usize, &(&str, Value))| json!({"id": format!("c{nth}"), "type": "function", "function": {"name": name, "arguments": input.to_string()}});
            let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
            let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
            Reply::json(200, json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}))
        }
    }
}

fn final_answer(format: Format, text: &str) -> Reply {
    match format {
        Format::Tags => Reply::text(answer(text)),
        Format::Json => Reply::text(json!({"thought": "x", "final_answer": text}).to_string()),
        Format::NativeTools => Reply::text(text),
    }
}

/// What a model that calls these, one after the other, gets to see; nothing is attached to its question.
async fn asked(format: Format, rounds: &[&[(&str, Value)]]) -> (AgentAnswer, Vec<Request>) {
    asked_within(format, rounds, 8_000).await
}

async fn asked_within(format: Format, rounds: &[&[(&str, Value)]], most: usize) -> (AgentAnswer, Vec<Request>) {
    let replies = rounds.iter().map(|round| calls(format, round)).chain([final_answer(format, "Ada.")]);
    let mut harness = Harness::with(Script::always(replies.collect::<Vec<_>>()), |settings| {
        settings.format = format;
        settings.max_observation_chars = most;
    })
    .await;
    let mut registry = Registry::clone(&harness.agent.registry);
    archive(&mut registry);
    harness.agent.registry = Arc::new(registry);
    let (answered, _) = harness.ask_with(Asked::over_tools("Who is in the archive?"), CancellationToken::new()).await;
    (answered.unwrap(), harness.chat.requests())
}

/// How often a request tells of the tool that reads results.
fn offers(request: &Request) -> usize {
    request.body.to_string().matches("Reads more of a result that was shortened").count()
}

#[tokio::test]
async fn of_long_results_parts_are_read() {
    let read = |input: Value| ("read_result", input);
    for format in FORMATS {
        let rounds: [&[(&str, Value)]; 6] = [
            &[("archive", json!({"rows": 900}))],
            &[read(json!({"handle": "result-1", "first_line": 500, "count": 2}))],
            &[read(json!({"handle": "result-1", "query": "Lovelace"}))],
            &[read(json!({"handle": "result-9"}))],
            &[read(json!({"handle": "result-1", "first_line": 902}))],
            &[("archive", json!({"rows": 3}))],
        ];
        let (answered, requests) = asked(format, &rounds).await;
        let seen: Vec<&str> = answered.rounds.iter().map(|round| round.observation.as_str()).collect();
        assert_eq!(answered.text, "Ada.", "{format:?}: {seen:?}");
        let first = seen[0];
        assert!(first.starts_with("id,name,age\n1,person 1,1 years\n"), "{format:?}: {first}");
        assert!(first.contains("\n900,person 900,0 years\n[shortened: "), "{format:?}: {first}");
        // The way to read on begins where the rest does.
        let from = first.split("[… lines ").nth(1).unwrap().split(' ').next().unwrap();
        assert!(first.ends_with(&format!("in 901 lines. Read more with read_result: {{\"handle\":\"result-1\",\"first_line\":{from},\"count\":40}} or {{\"handle\":\"result-1\",\"query\":\"words\"}}]")), "{first}");
        assert!((7_000..=8_000).contains(&first.chars().count()), "{format:?}: {}", first.chars().count());
        assert_eq!(
            seen[1],
            "[lines 500 to 501 of 901; go on from line 502]\n499,person 499,49 years\n500,person 500,50 years"
        );
        assert!(seen[2].starts_with("[passage ") && seen[2].contains("Ada Lovelace"), "{format:?}: {}", seen[2]);
        assert_eq!(seen[3], "there is no result `result-9`; those that can be read are `result-1`");
        assert_eq!(seen[4], "`result-1` has no line 902; it has 901");
        // What is short stays as it is.
        assert_eq!(seen[5].lines().count(), 4);
        let offered: Vec<usize> = requests.iter().map(offers).collect();
        assert_eq!(offered, [0, 1, 1, 1, 1, 1, 1], "{format:?}");
        // Without a document no prompt speaks of one.
        let documents = requests.iter().filter(|request| request.body.to_string().contains("search_document")).count();
        assert_eq!(documents, 0, "{format:?}");
    }
}

#[tokio::test]
async fn nothing_is_offered_before_there_is_something_to_read() {
    for format in FORMATS {
        let rounds: [&[(&str, Value)]; 2] = [
            &[("archive", json!({"records": 3}))],
            &[("read_result", json!({"handle": "result-1", "first_line": 1, "count": 9}))],
        ];
        let (answered, requests) = asked(format, &rounds).await;
        assert_eq!(answered.rounds[0].observation, records(3).to_string(), "{format:?}");
        assert_eq!(answered.rounds[1].observation, "there is no result `result-1`; no result was shortened");
        assert_eq!(requests.iter().map(offers).sum::<usize>(), 0, "{format:?}");
    }
}

#[tokio::test]
async fn whatever_is_long_is_shortened_and_read_within_the_same_limit() {
    let all = json!({"handle": "result-1"});
    for (input, begins, holds) in [
        (
            json!({"records": 200}),
            "{\"total\":200,\"people\":[{\"id\":1,",
            " of 200 elements left out]\"]}\n[shortened: ",
        ),
        (json!({"rows": 40_000}), "id,name,age\n", "left out …]"),
        (json!({"failure": 2_000}), "Error: no way no way", "left out …]"),
    ] {
        for read in [all.clone(), json!({"handle": "result-1", "query": "way person 7 years"})] {
            let rounds: [&[(&str, Value)]; 2] = [&[("archive", input.clone())], &[("read_result", read)]];
            let (answered, _) = asked_within(Format::Tags, &rounds, 1_000).await;
            let first = &answered.rounds[0].observation;
            assert!(first.starts_with(begins) && first.contains(holds), "{input}: {first}");
            for round in &answered.rounds[..2] {
                let chars = round.observation.chars().count();
                assert!((300..=1_000).contains(&chars), "{input}: {chars}: {}", round.observation);
            }
            // The plan has what the prompt has not.
            let kept = answered.outcomes[0].error.as_ref().map_or_else(
                || answered.outcomes[0].output.as_ref().unwrap().to_string().len(),
                |error| error.message.len(),
            );
            assert!(kept > 10_000, "{input}: {kept}");
        }
    }
}

#[tokio::test]
async fn calls_of_one_breath_have_handles_of_their_own_and_the_oldest_go() {
    let breath: Vec<(&str, Value)> = (0..17).map(|nth| ("archive", json!({"rows": 800 + nth}))).collect();
    let read =
        ["result-1", "result-1-17", "result-1-2"].map(|handle| ("read_result", json!({"handle": handle, "count": 1})));
    let (answered, _) = asked(Format::NativeTools, &[&breath, &read]).await;
    let seen: Vec<&str> = answered.rounds[17..20].iter().map(|round| round.observation.as_str()).collect();
    assert!(
        seen[0].starts_with("there is no result `result-1`; those that can be read are `result-1-2`, "),
        "{seen:?}"
    );
    assert!(seen[0].ends_with("`result-1-17`; older ones are no longer kept"), "{seen:?}");
    assert!(seen[1].starts_with("[lines 1 to 1 of 817;") && seen[2].starts_with("[lines 1 to 1 of 802;"), "{seen:?}");
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_told() {
    for (input, told) in [
        (json!({}), "`handle` must name a result, such as `result-1`"),
        (json!({"handle": "result-1", "first_line": 0}), "`first_line` must be a whole number above 0"),
        (json!({"handle": "result-1", "count": "many"}), "`count` must be a whole number above 0"),
        (
            json!({"handle": "result-1", "query": "x", "first_line": 2}),
            "give either `query`, or `first_line` and `count`",
        ),
        (json!({"handle": "result-1", "query": 7}), "`query` must be a text"),
        (json!({"handle": "result-1", "query": "zebra"}), "No passage of `result-1` shares a word with the query."),
        // What a model fills in for nothing is nothing.
        (
            json!({"handle": " result-1 ", "query": "", "first_line": "900", "count": null}),
            "[lines 900 to 901 of 901]\n899,person 899,89 years\n900,person 900,0 years",
        ),
    ] {
        let rounds: [&[(&str, Value)]; 2] = [&[("archive", json!({"rows": 900}))], &[("read_result", input.clone())]];
        let (answered, _) = asked(Format::Tags, &rounds).await;
        assert_eq!(answered.rounds[1].observation, told, "{input}");
    }
}

#[tokio::test]
async fn prompts_with_long_results_stay_small() {
    let (answered, requests) = asked(Format::Tags, &[&[("archive", json!({"records": 500}))]]).await;
    let prompt = requests[1].prompt();
    // What stood there before results were shortened by what they are.
    let cut: String = records(500).to_string().chars().take(20_000).collect();
    let before = prompt.replace(&answered.rounds[0].observation, &cut);
    let [now, before] = [&prompt, &before].map(|prompt| jarvis_chat::Tokens::of("gpt-4o").count(prompt));
    println!(
        "tokens of the prompt after a result of 500 records: {now}, and {before} with its first 20,000 characters"
    );
    assert!(now * 3 < before * 2, "{now}, {before}");
}
