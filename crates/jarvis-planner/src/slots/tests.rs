//! Values of named parameters in clauses of three languages.

use jarvis_plan::{Kind, Param, Tool};
use serde_json::json;

use super::fill;
use crate::clauses;
use crate::retrieval::ToolIndex;

fn tool(name: &str, params: &[(&str, serde_json::Value)]) -> Tool {
    let mut tool = Tool::typed(name, "", &[], &[]);
    tool.params = params
        .iter()
        .map(|(name, schema)| Param { schema: Some(schema.clone()), ..Param::required(name, Kind::Text) })
        .collect();
    tool
}

fn check(name: &str, params: &[(&str, serde_json::Value)], text: &str, expected: &str) {
    let tool = tool(name, params);
    let index = ToolIndex::new(std::slice::from_ref(&tool));
    let reading = clauses::read(text, &[], &index);
    let clause = &reading.clauses[0];
    let values = fill(&tool, &tool.params.iter().collect::<Vec<_>>(), clause, text);
    let shown: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(shown.join("; "), expected, "{text}");
}

#[test]
fn values_by_shape_cue_and_name() {
    let string = || json!({"type": "string"});
    let date = || json!({"type": "string", "format": "date"});
    let flight = [("date", date()), ("from", string()), ("to", string())];
    check(
        "book_flight",
        &flight,
        "Book a flight from Paris to New York on 2025-03-04",
        "date=2025-03-04; from=Paris; to=New York",
    );
    check("book_flight", &flight, "Book a flight to Rome from Oslo tomorrow", "date=tomorrow; from=Oslo; to=Rome");
    check("book_flight", &flight, "Забронируй рейс из Москвы в Казань на 5 мая", "date=5 мая; from=Москвы; to=Казань");
    check("book_flight", &flight, "Book a flight to Rome", "to=Rome");
    let mail = [("to", string()), ("body", string())];
    check("send_email", &mail, "Send an email to bob@x.org saying \"see you at 5\"", "to=bob@x.org; body=see you at 5");
    check(
        "transfer_money",
        &[("amount", json!({"type": "number"})), ("recipient", string())],
        "Transfer $1,500 to Anna",
        "amount=1500; recipient=Anna",
    );
    check(
        "set_light",
        &[("color", json!({"type": "string", "enum": ["red", "warm white"]}))],
        "Set the light to warm white",
        "color=warm white",
    );
    check(
        "get_weather",
        &[("location", string()), ("date", date())],
        "What is the weather in Beijing on May 5th",
        "location=Beijing; date=May 5th",
    );
    check(
        "open_page",
        &[("url", json!({"type": "string", "format": "uri"}))],
        "Open the page https://x.org/a, please",
        "url=https://x.org/a",
    );
    check("book_flight", &flight, "I want to book a flight to Rome", "to=Rome");
    check("nothing", &flight, "Hello there", "");
}
