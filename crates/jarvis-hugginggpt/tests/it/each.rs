//! Tasks that run once for each element of a list.

use jarvis_plan::{ErrorCode, Kind, Param, Tool};
use jarvis_testing::chat::{Reply, Script};
use serde_json::{Value, json};

use crate::fixture::{Builder, Does, with_chat};

fn tools() -> Vec<Tool> {
    let text = |name: &str| Param { schema: Some(json!({"type": "string"})), ..Param::required(name, Kind::Text) };
    let list = json!({"type": "object", "properties": {"cities": {"type": "array", "items": {"type": "string"}}}});
    let search = Tool {
        params: vec![text("country")],
        output_schema: Some(list),
        ..Tool::typed("geo/cities", "", &[], &[Kind::Text])
    };
    let forecast = Tool { params: vec![text("city")], ..Tool::typed("weather/forecast", "", &[], &[Kind::Text]) };
    vec![search, forecast, Tool::typed("text-to-speech", "", &[Kind::Text], &[Kind::Audio])]
}

/// A planner that wants the weather of each city of a country, told.
fn weather(cities: Value) -> Builder {
    let plan = json!([
        {"task": "geo/cities", "id": 0, "dep": [-1], "args": {"country": "Norway"}},
        {"task": "weather/forecast", "id": 1, "dep": [0], "each": "<GENERATED>-0.cities", "args": {"city": "<EACH>"}},
        {"task": "text-to-speech", "id": 2, "dep": [1], "args": {"text": "<GENERATED>-1"}},
    ]);
    let script = Script::new().on("parse_task", Reply::text(plan.to_string())).otherwise(Reply::text("Told."));
    let found = json!({"generated text": "found", "data": {"cities": cities}});
    with_chat(script)
        .tools(tools())
        .live("text-to-speech", "org/speak")
        .does("geo/cities", Does::Gives(found))
        .does("org/speak", Does::Gives(json!({"generated audio": "/audios/a.wav"})))
}

#[tokio::test]
async fn each_element_is_a_call_and_what_follows_gets_all_results() {
    let fixture = weather(json!(["Oslo", "Bergen", "Bodø"])).build().await;
    let run = fixture.run("tell me the weather in Norway's cities").await.run.expect("a run");
    assert!(run.ok(), "{:?}", run.not_done);
    let seen = fixture.worker.seen.lock().expect("no poison").clone();
    let of = |task: &str| -> Vec<Value> {
        seen.iter().filter(|(_, name, _)| name == task).map(|(_, _, args)| args.clone()).collect()
    };
    assert_eq!(of("weather/forecast"), [json!({"city": "Oslo"}), json!({"city": "Bergen"}), json!({"city": "Bodø"})]);
    let told = "weather/forecast of Oslo\nweather/forecast of Bergen\nweather/forecast of Bodø";
    assert_eq!(of("text-to-speech"), [json!({"text": told})]);
    let outcome = &run.outcomes[1];
    assert_eq!(outcome.output.as_ref().and_then(|output| output["each"].as_array()).map(Vec::len), Some(3));
    assert_eq!(run.plan.tasks()[1].args["city"].to_value(), json!("<GENERATED>-0.cities[]"));
}

#[tokio::test]
async fn what_is_no_short_list_and_what_fails_is_told_with_its_place() {
    let many: Vec<String> = (0..33).map(|at| format!("City {at}")).collect();
    for (cities, does, said) in [
        (json!([]), None, "the list is empty"),
        (json!("Oslo"), None, "is no list"),
        (json!(many), None, "would run 33 times; the limit is 32 (`planning.max_each`)"),
        (json!(["Oslo", {"name": "Bergen"}]), None, "`city` became {"),
        (
            json!(["Oslo", "Bergen"]),
            Some(Does::Fails(ErrorCode::NotFound, "no such city".into())),
            "call 1 of 2: no such city",
        ),
    ] {
        let fixture = weather(cities.clone());
        let fixture = match does {
            Some(does) => fixture.does("weather/forecast", does),
            None => fixture,
        };
        let fixture = fixture.build().await;
        let run = fixture.run("tell me the weather in Norway's cities").await.run.expect("a run");
        assert!(!run.ok() && run.answer.text.contains(said), "{cities}: {}", run.answer.text);
        let spoken = fixture.worker.seen.lock().expect("no poison").iter().any(|(id, ..)| id == "org/speak");
        assert!(!spoken, "{cities}");
    }
}
