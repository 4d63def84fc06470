//! The native tools as a registry calls them.

use jarvis_testing::rows;
use serde_json::{Value, json};

use super::*;
use crate::{Documents, Observation, Scope};

const CASES: &str = include_str!("tests.json");

fn registry() -> Registry {
    let mut registry = Registry::new();
    add_to(&mut registry).unwrap();
    registry
}

async fn observe(name: &str, input: &Value, document: &str) -> Result<Observation, String> {
    let scope =
        Scope { documents: Documents::new(vec![("sales.csv".to_owned(), document.into())]), ..Scope::default() };
    registry().call(name, input, &scope).await.map_err(|error| error.message)
}

#[tokio::test]
async fn every_tool_is_told_of_and_takes_its_example() {
    let registry = registry();
    let names: Vec<&str> = registry.specs().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names.len(), 18);
    assert_eq!(names.get(..6), Some(&["plot", "calculator", "count", "search_document", "table-query", "add_"][..]));
    for spec in registry.specs() {
        let properties = spec.input_schema.get("properties").and_then(Value::as_object).unwrap();
        assert!(spec.example.as_object().unwrap().keys().all(|key| properties.contains_key(key)), "{}", spec.name);
        let done = observe(&spec.name, &spec.example, "region,item,units\nNorth,lamp,3\nSouth,lamp,4\n").await;
        assert!(done.is_ok(), "{}: {done:?}", spec.name);
    }
}

#[tokio::test]
async fn calls_are_answered() {
    type Row = (String, Value, String, Result<String, String>);
    for (name, input, document, expected) in rows::<Row>(CASES, "calls") {
        let done = observe(&name, &input, &document).await.map(|done| done.text);
        assert_eq!(done, expected, "{name} {input}");
    }
    let observation = observe("plot", &json!({"x": ["a"], "y": [2]}), "").await.unwrap();
    assert_eq!(observation.media.len(), 1);
    assert_eq!(observation.media[0].mime, "image/png");
    assert!(observation.media[0].bytes.starts_with(b"\x89PNG\r\n"));
    let none = registry().call("search_document", &json!({"query": "x"}), &Scope::default()).await.unwrap_err();
    assert_eq!(none.message, "there is no document to search");
}

#[tokio::test]
async fn results_are_data_too() {
    for (name, input, value) in rows::<(String, Value, Value)>(CASES, "values") {
        let found = observe(&name, &input, "\nRain fell.\n").await.unwrap().value;
        assert_eq!(found, Some(value), "{name} {input}");
    }
    let about = observe("calculator", &json!({"expression": "2^20000"}), "").await.unwrap();
    assert_eq!(about.value, None, "{}", about.text);
}

#[tokio::test]
async fn passages_are_found_with_their_places() {
    let filler =
        "Nothing of interest happened that year in the small town by the river, and people went on. ".repeat(7);
    let document = format!(
        "{filler}\n\n{filler}\nThe company was founded in 1987 by Ada King.\n\n{filler}\n公司成立于一九八七年。\n"
    );
    let found =
        observe("search_document", &json!({"query": "when was the company founded", "top": 1}), &document).await;
    let text = found.unwrap().text;
    assert!(text.starts_with("[passage ") && text.contains("founded in 1987") && !text.contains("成立"), "{text}");
    let text = observe("search_document", &json!({"query": "成立", "top": 50}), &document).await.unwrap().text;
    assert!(text.contains("公司成立于") && text.contains("line 6"), "{text}");
}

#[test]
fn documents_are_read_once() {
    let tool = search::Indexes::default();
    let document: Arc<str> = Arc::from("one two");
    let (first, second) = (tool.index_of(&document), tool.index_of(&document));
    assert!(Arc::ptr_eq(&first, &second));
    for at in 0..20 {
        let other: Arc<str> = Arc::from(format!("text {at}"));
        assert!(!Arc::ptr_eq(&first, &tool.index_of(&other)));
    }
    assert!(Arc::ptr_eq(&first, &tool.index_of(&document)), "documents that are gone make room");
}

#[test]
fn expressions_are_worked_out() {
    for (expression, expected) in rows::<(String, String)>(CASES, "expressions") {
        let found = evaluate(&expression).unwrap_or_else(|error| format!("Err {error}"));
        assert_eq!(found, expected, "{expression}");
    }
    assert!(evaluate("__import__('os')").is_err());
    assert!(evaluate("f(1)").unwrap_err().what.starts_with("there is no function `f`"));
    assert!(evaluate("2^20000").unwrap().starts_with("about 3.98027684033e6020"));
    for deep in ["(".repeat(10_000), "-".repeat(10_000), "2^".repeat(5_000), "sum(".repeat(3_000), "1".repeat(30_000)] {
        assert!(evaluate(&deep).is_err());
    }
    // What is costly is costly in small pieces too.
    for (piece, times) in
        [("3000!+", 3_300), ("1500!+", 3_300), ("gcd(3^30000,2^30000)+", 900), ("lcm(3^30000,2^30000)+", 900)]
    {
        let found = evaluate(&format!("{}1", piece.repeat(times)));
        assert!(found.is_err_and(|error| error.what.contains("too much work")), "{piece}");
        assert!(evaluate(&format!("{}1", piece.repeat(3))).is_ok(), "{piece}");
    }
    assert!(evaluate("3000!").unwrap().starts_with("about 4.14935960343e9130 "));
    assert_eq!(evaluate("3000! // 2998! - 3000 * 2999").as_deref(), Ok("0"));
    let zeros = format!("10^30000{}", "*1e-400*1e400".repeat(150));
    assert!(evaluate(&zeros).is_ok_and(|shown| shown.starts_with("about 1.00000000000e30000")));
    let long = format!("sum({}1)", "1.25, ".repeat(3_000));
    assert_eq!(evaluate(&long).as_deref(), Ok("3751"));
}

proptest::proptest! {
    /// Whatever is written, there is a result or a reason.
    #[test]
    fn no_expression_breaks_the_calculator(expression in "([0-9.,()+*/%^!eE \\[\\]-]|sum\\(|median\\(|round\\(|sqrt\\(|log\\(|floor\\(|9\\^9|\\*\\*|//|[×÷−π，（）]){0,24}") {
        let _ = evaluate(&expression);
    }
}

#[tokio::test]
async fn tables_are_queried() {
    let sales = ("sales.csv".to_owned(), "Region,Item,Units\nNorth,lamp,3\nNorth,desk,4\nSouth,lamp,5\n".into());
    let heads = ("heads.md".to_owned(), "| Region | Head |\n|---|---|\n| North | Ann |\n| South | Bo |\n".into());
    let scope = Scope { documents: Documents::new(vec![sales, heads]), ..Scope::default() };
    let registry = registry();
    let query = async |sql: &str| registry.call("table-query", &json!({"sql": sql}), &scope).await;
    let one = query("SELECT sum(units) AS units FROM sales WHERE item = 'lamp' AND region = 'North'").await.unwrap();
    assert_eq!(one.text, "3");
    let value = json!({"columns": ["units"], "rows": [[3]], "values": {"units": [3]}});
    assert_eq!((one.value, one.media), (Some(value), Vec::new()));
    let joined =
        query("SELECT head, sum(units) AS units FROM sales JOIN heads USING (region) GROUP BY head").await.unwrap();
    let values = json!({"head": ["Ann", "Bo"], "units": [7, 5]});
    assert_eq!(
        joined.value,
        Some(json!({"columns": ["head", "units"], "rows": [["Ann", 7], ["Bo", 5]], "values": values}))
    );
    assert_eq!(
        (joined.media[0].mime.as_str(), &joined.media[0].bytes[..]),
        ("text/csv", &b"head,units\nAnn,7\nBo,5\n"[..])
    );
    let wrong = query("SELECT colour FROM sales").await.unwrap_err();
    assert!(
        wrong.message.contains("no such column: colour; the tables are sales(region text, item text, units number)")
    );
    let none = registry.call("table-query", &json!({"sql": "SELECT 1"}), &Scope::default()).await.unwrap_err();
    assert!(none.message.starts_with("there is no table to query; attach a file"), "{}", none.message);
}
