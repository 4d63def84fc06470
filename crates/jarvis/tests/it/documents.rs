//! Documents and their tables in `jarvis run` with a chat model.

use jarvis_testing::chat::{FakeChat, Script};
use serde_json::json;

use crate::harness::Harness;

const SALES: &[u8] = include_bytes!("../cli/files/sales.xlsx");

/// What a run with this query gives, what the planning model was sent, and the table among the files of the answer.
fn run(sql: &str, files: &[(&str, &[u8])]) -> (i32, serde_json::Value, String, Option<String>) {
    planned(&json!([{"task": "table-query", "id": 0, "dep": [-1], "args": {"sql": sql}}]), files)
}

/// The same with any plan.
fn planned(plan: &serde_json::Value, files: &[(&str, &[u8])]) -> (i32, serde_json::Value, String, Option<String>) {
    let chat = FakeChat::spawn(Script::new().on("parse_task", plan.to_string()).on("response_results", "It is told."));
    let harness = Harness::new().env("JARVIS_LLM", "qwen-2.5-7b-instruct").env("OPENAI_BASE_URL", &chat.url());
    let mut args = vec!["run", "who leads the region that sold most?", "--json", "-q"];
    for (name, bytes) in files {
        harness.file(name, bytes);
        args.extend(["--file", name]);
    }
    let (code, document) = harness.json(&args);
    let asked = chat.requests_of("parse_task").iter().map(|request| request.body.to_string()).collect();
    let made = &document["answer"]["resources"][0];
    let table = (made["name"] == "table.csv").then(|| std::fs::read_to_string(made["path"].as_str().unwrap()).unwrap());
    (code, document, asked, table)
}

#[cfg(feature = "documents")]
#[test]
fn tables_of_two_files_are_joined() {
    let heads: (&str, &[u8]) = ("heads.csv", b"region;head\nNorth;Ann\nSouth;Bo\n");
    let sql = "SELECT head, sum(units) AS units FROM sales JOIN heads USING (region) GROUP BY head ORDER BY units DESC";
    let (code, document, asked, table) = run(sql, &[("sales.xlsx", SALES), heads]);
    assert_eq!(code, 0, "{document:#}");
    assert_eq!(table.as_deref(), Some("head,units\nAnn,9\nBo,6\n"));
    let text = document["outcomes"][0]["outputs"][1]["text"].as_str().unwrap_or_default();
    assert_eq!(text, "| head | units |\n| --- | --- |\n| Ann | 9 |\n| Bo | 6 |", "{document:#}");
    for told in [
        "`sales(region text, item text, units number, price number)`",
        "`heads(region text, head text)`",
        "table-query",
    ] {
        assert!(asked.contains(told), "{told}: {asked}");
    }
}

#[cfg(feature = "documents")]
#[test]
fn a_query_that_is_wrong_fails_and_names_what_there_is() {
    let (code, document, ..) = run("SELECT colour FROM sales", &[("sales.xlsx", SALES)]);
    assert_eq!(code, 1, "{document:#}");
    let failed = document["outcomes"][0]["error"]["message"].as_str().unwrap();
    assert!(failed.contains("no such column: colour; the tables are sales("), "{failed}");
}

#[test]
fn charts_sums_counts_and_search_need_no_configuration() {
    let plan = json!([
        {"task": "table-query", "id": 0, "dep": [-1], "args": {"sql": "SELECT item, units FROM stock"}},
        {"task": "plot", "id": 1, "dep": [0],
         "args": {"x": "<GENERATED-0.values.item>", "y": "<GENERATED-0.values.units>", "kind": "bar"}},
        {"task": "calculator", "id": 2, "dep": [0], "args": {"expression": "<GENERATED-0.rows[0][1]> * 2"}},
        {"task": "count", "id": 3, "dep": [0], "args": {"items": "<GENERATED-0.values.item>"}},
        {"task": "search_document", "id": 4, "dep": [-1], "args": {"query": "lamp"}},
    ]);
    let (code, document, ..) = planned(&plan, &[("stock.csv", b"item,units\nlamp,3\ndesk,4\n")]);
    assert_eq!(code, 0, "{document:#}");
    let texts: Vec<String> = (1..5).map(|task| document["outcomes"][task]["outputs"].to_string()).collect();
    for (text, expected) in texts.iter().zip(["/images/", "\"6\"", "lamp", "lamp,3"]) {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[cfg(not(feature = "documents"))]
#[test]
fn a_build_without_the_feature_names_it() {
    let harness = Harness::new();
    harness.file("sales.xlsx", SALES);
    let ended = harness.run(&["ask", "what is the total of units?", "--file", "sales.xlsx"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("an office file, which needs the feature `documents`"), "{}", ended.stderr);
}
