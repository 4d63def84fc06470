//! Runs beside the leaderboard: the published data, the table, the page, and what hostile files can do to them.

use std::path::Path;

use jarvis_taskbench::data::{DependencyType, Domain, Gold, ToolList};
use jarvis_taskbench::evaluate::Wanted;
use jarvis_taskbench::report::full_size;
use jarvis_taskbench::report::{
    Against, DomainReport, Layout, Report, Run, comparison, document, leaderboard, notes, page, run_name,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::legacy::fixture;
use crate::support::any_json;

/// A domain folder of three tools and three gold plans, with these predictions as run `own`.
fn studio(dir: &Path, predictions: &[Value]) -> Domain {
    let tool = |id: &str, input: &str, output: &str| json!({"id": id, "desc": "", "input-type": [input], "output-type": [output]});
    let tools = json!({"nodes": [tool("Cut Film", "video", "video"), tool("Take Sound", "video", "audio"), tool("Write Down", "audio", "text")]});
    write(dir, "tool_desc.json", &tools.to_string());
    let gold = [
        plan("1", "single", &[("Cut Film", &["a.mp4"])]),
        plan("2", "chain", &[("Take Sound", &["a.mp4"]), ("Write Down", &["<node-0>"])]),
        plan("3", "chain", &[("Cut Film", &["a.mp4"]), ("Take Sound", &["<node-0>"]), ("Write Down", &["<node-1>"])]),
    ];
    write(dir, "data.json", &lines(&gold));
    write(dir, "predictions/own.json", &lines(predictions));
    Domain::open(dir).unwrap()
}

/// A gold line; its `result` twin is made by [`said`].
fn plan(id: &str, shape: &str, nodes: &[(&str, &[&str])]) -> Value {
    let steps: Vec<String> = nodes.iter().map(|(task, _)| format!("Use {task}")).collect();
    let nodes: Vec<Value> =
        nodes.iter().map(|(task, arguments)| json!({"task": task, "arguments": arguments})).collect();
    json!({"id": id, "type": shape, "n_tools": nodes.len(), "user_request": format!("Do {id}"), "task_steps": steps, "task_nodes": nodes, "task_links": []})
}

fn said(id: &str, nodes: &[(&str, &[&str])]) -> Value {
    let plan = plan(id, "", nodes);
    json!({"id": id, "user_request": plan["user_request"], "result": {"task_steps": plan["task_steps"], "task_nodes": plan["task_nodes"]}})
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn against<'a>(tools: &'a ToolList, gold: &'a Gold, dependency: DependencyType) -> Against<'a> {
    Against { tools, gold, dependency, known: None, wanted: Wanted::ALL, worst: 0, intervals: false }
}

fn report(domains: &[&Domain], published: bool) -> Report {
    let mut report = Report::new(published, Wanted::ALL);
    for domain in domains {
        let (tools, gold) = (domain.tools().unwrap(), domain.gold().unwrap());
        let dependency = tools.dependency();
        let mut measured = DomainReport::new(domain, tools.clone(), dependency);
        let against = Against { worst: 20, intervals: true, ..against(&tools, &gold, dependency) };
        for file in domain.prediction_files() {
            measured.add(Run::read(run_name(&file), &file, &against).unwrap());
        }
        report.add(measured);
    }
    report
}

/// What is right, a chain with one tool for another, and a plan that is none.
fn mixed() -> Vec<Value> {
    vec![
        said("1", &[("Cut Film", &["a.mp4"])]),
        said("3", &[("Cut Film", &["a.mp4"]), ("Make Noise", &["<node-0>"]), ("Write_Down", &["<node-1>"])]),
        json!({"id": "2", "result": {"task_steps": [], "task_nodes": "Take Sound"}}),
    ]
}

#[test]
fn the_leaderboard_is_whole() {
    let count = |domain: &str| leaderboard().iter().filter(|row| row.domain == domain).count();
    assert_eq!(["multimedia", "huggingface", "dailylifeapis"].map(count), [17, 17, 17]);
    assert_eq!(leaderboard().len(), 51);
    // One of each column, from the first, the last and a middle row of the tables.
    for (domain, llm, column, figure) in [
        ("multimedia", "gpt-4", 0, 60.84),
        ("multimedia", "vicuna-33b-v1.3", 6, 1.09),
        ("multimedia", "baichuan-13b-chat", 1, 3.77),
        ("huggingface", "gpt-4", 0, 52.42),
        ("huggingface", "claude-2", 2, 88.71),
        ("huggingface", "longchat-7b-v1.5", 4, 0.56),
        ("huggingface", "vicuna-33b-v1.3", 6, 10.07),
        ("dailylifeapis", "gpt-4", 3, 96.91),
        ("dailylifeapis", "codellama-13b", 5, 84.26),
        ("dailylifeapis", "mpt-7b-chat", 6, 3.45),
    ] {
        let row = leaderboard().iter().find(|row| row.domain == domain && row.llm == llm).unwrap();
        assert_eq!(row.figures[column], figure, "{domain} {llm}");
    }
    let best = |domain: &str| {
        leaderboard().iter().filter(|row| row.domain == domain).map(|row| row.figures[3]).fold(0.0, f64::max)
    };
    assert_eq!(["multimedia", "huggingface", "dailylifeapis"].map(best), [90.90, 81.54, 96.91]);
    let all = leaderboard().iter().flat_map(|row| row.figures);
    assert!(all.into_iter().all(|figure| (0.0..=100.0).contains(&figure)));
    assert!(leaderboard().iter().all(|row| full_size(&row.domain).is_some()));
}

#[test]
fn a_domain_of_ones_own_has_a_table_without_published_rows() {
    let dir = tempfile::tempdir().unwrap();
    let domain = studio(&dir.path().join("data_studio"), &mixed());
    let report = report(&[&domain], true);
    insta::assert_snapshot!(comparison(&report, Layout::Terminal).text(), @r"
    model  source    n     R1     R2   n-F1  e-F1   t-F1   v-F1  strict  strict  strict  strict
                                                                   n-F1    e-F1    t-F1    v-F1
    > own  run     2/3  59.26  54.17  85.71  0.00  50.00  50.00   60.00    0.00   40.00   40.00
    ");
    insta::assert_snapshot!(comparison(&report, Layout::Csv).csv(), @r"
    model,source,n,of,R1,R2,BsF,n-F1,e-F1,t-F1,v-F1,strict n-F1,strict e-F1,strict t-F1,strict v-F1
    own,run,2,3,59.26,54.17,,85.71,0.00,50.00,50.00,60.00,0.00,40.00,40.00
    ");
    insta::assert_snapshot!("a_domain_of_ones_own_has_a_table_without_published_rows", notes(&report).join("\n"));
}

#[test]
fn gold_that_is_malformed_is_not_blamed_on_runs_and_equal_notes_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let domain = studio(&dir.path().join("data_studio"), &mixed());
    let gold = std::fs::read_to_string(domain.path("data.json")).unwrap();
    write(domain.dir(), "data.json", &gold.replace("task_nodes", "nodes_of_task"));
    let own = domain.path("predictions/own.json");
    for name in ["a", "b"] {
        std::fs::copy(&own, domain.path(format!("predictions/{name}.json"))).unwrap();
    }
    let report = report(&[&domain], true);
    assert_eq!(
        notes(&report)[1],
        "a, b, own: left out 1 where `task_nodes` is not a list; left out 2 where the gold plan is malformed."
    );
    assert_eq!(page(&report).matches("left out 2 where").count(), 1);
}

#[test]
fn programs_get_one_document() {
    let dir = tempfile::tempdir().unwrap();
    let domain = studio(&dir.path().join("data_multimedia"), &mixed());
    let document = document(&report(&[&domain], true));
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 18);
    let own = rows.iter().find(|row| row["source"] == "run").unwrap();
    assert_eq!(
        own["figures"],
        json!({"R1": 59.2593, "R2": 54.1667, "BsF": null, "n-F1": 85.7143, "e-F1": 0.0, "t-F1": 50.0, "v-F1": 50.0})
    );
    assert_eq!(own["strict"], json!({"n-F1": 60.0, "e-F1": 0.0, "t-F1": 40.0, "v-F1": 40.0}));
    assert_eq!((&own["n"], &own["of"], &own["missing"]), (&json!(2), &json!(3), &json!(0)));
    assert_eq!(own["left_out"], json!({"`task_nodes` is not a list": 1}));
    let published = rows.iter().find(|row| row["model"] == "gpt-4").unwrap();
    assert_eq!(
        (&published["figures"]["n-F1"], &published["n"], &published["strict"]),
        (&json!(90.9), &json!(null), &json!(null))
    );
}

#[test]
fn the_page_begins_with_the_best_and_shows_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let domain = studio(&dir.path().join("data_studio"), &mixed());
    let good = std::fs::read_to_string(domain.path("data.json")).unwrap();
    let good: Vec<Value> = good
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|gold: Value| json!({"id": gold["id"], "result": gold}))
        .collect();
    write(domain.dir(), "predictions/zbest.json", &lines(&good[..2]));
    let nameless = said("3", &[("", &[]), ("", &[])]);
    write(domain.dir(), "predictions/nameless.json", &lines(&[nameless]));
    let made = page(&report(&[&domain], true));
    let table = made.split_once("<table>").unwrap().1.split_once("</table>").unwrap().0;
    let at = |part: &str| table.find(part).unwrap_or_else(|| panic!("{part}: {table}"));
    assert!(at(">zbest<") < at(">own<") && at(">n<") < at(">n-F1<"));
    assert!(!table.contains("BsF"), "nobody has one");
    assert!(made.contains("zbest: 1 gold plan without a prediction"));
    // Two of three plans are right: with so few, the interval reaches from all wrong to all right.
    assert!(made.contains("66.67<small>[0.00, 100.00]</small>"), "{made}");
}

#[test]
fn known_domains_stand_beside_their_published_rows() {
    let dir = tempfile::tempdir().unwrap();
    let own = studio(&dir.path().join("data_studio"), &mixed());
    let known = studio(&dir.path().join("data_huggingface"), &mixed());
    let report = report(&[&own, &known], true);
    let table = comparison(&report, Layout::Markdown);
    // Published domains first, whatever the order they were named in.
    assert_eq!(table.headers[2..4], ["huggingface n", "huggingface R1"]);
    assert_eq!(table.headers[14], "studio n");
    assert_eq!(table.rows.len(), 18);
    let row = |name: &str| table.rows.iter().find(|row| row[0] == name).unwrap().clone();
    assert_eq!(row("gpt-4")[2..10], ["-", "52.42", "30.38", "90.12", "81.54", "54.70", "77.31", "60.86"]);
    assert!(row("gpt-4")[10..].iter().all(|cell| cell == "-"));
    assert_eq!(row("**own**")[1], "run");
    assert_eq!(row("**own**")[2..14], row("**own**")[14..]);
    let figures: Vec<f64> = table.rows.iter().map(|row| row[6].parse().unwrap()).collect();
    assert!(figures.is_sorted_by(|a, b| a >= b), "{figures:?}");
    // On a terminal the domains stand one below the other.
    insta::assert_snapshot!(
        "known_domains_stand_beside_their_published_rows",
        comparison(&Report { leaderboard: false, ..report }, Layout::Terminal).text()
    );
}

#[test]
fn figures_by_other_rules_get_columns_where_a_run_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let domain = studio(&dir.path().join("data_studio"), &mixed());
    let mut report = report(&[&domain], true);
    let run = &mut report.domains[0].runs[0];
    run.figures["strict"] = json!({"nodes": {"f1": 0.5}, "links": {"f1": null}});
    insta::assert_snapshot!(comparison(&report, Layout::Terminal).text(), @r"
    model  source    n     R1     R2   n-F1  e-F1   t-F1   v-F1  strict  strict
                                                                   n-F1    e-F1
    > own  run     2/3  59.26  54.17  85.71  0.00  50.00  50.00   50.00       -
    ");
    assert!(notes(&report).iter().any(|note| note.starts_with("strict: ")));
    assert!(page(&report).contains(">strict n-F1<"));
}

#[test]
fn the_worst_samples_come_first() {
    let dir = tempfile::tempdir().unwrap();
    let domain = studio(&dir.path().join("data_studio"), &mixed());
    let report = report(&[&domain], true);
    let run = &report.domains[0].runs[0];
    let worst = |sample: &jarvis_taskbench::report::Sample| {
        format!("{} {:?} {:?}: {}", sample.id, sample.node_f1, sample.link_f1, sample.lost.join("; "))
    };
    insta::assert_snapshot!(run.worst.iter().map(worst).collect::<Vec<_>>().join("\n"), @r"
    2 Some(0.0) Some(0.0): malformed prediction: `task_nodes` is text, not a list
    3 Some(0.6666666666666666) Some(0.0): missed tool Take Sound; unknown tool Make Noise; missed link Cut Film → Take Sound; missed link Take Sound → Write Down; surplus link Cut Film → Make Noise; surplus link Make Noise → Write Down; missed argument of Write Down: audio `Take Sound`; surplus argument of Write Down: other `Make Noise`
    ");
    assert_eq!(run.wrong, 2);
}

#[test]
fn the_page_holds_everything_and_asks_for_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let domain = studio(&dir.path().join("data_multimedia"), &mixed());
    let made = page(&report(&[&domain], true));
    for part in [
        "<h2>multimedia</h2>",
        "3 tools, 3 gold plans, resource dependencies",
        "gpt-4",
        "90.90",
        "Strict figures with their intervals",
        "Worst samples of own",
        "2 of 3 predictions not right",
        "missed tool Take Sound",
        "How to read it",
        "color-scheme:light dark",
        "width=device-width",
        "default-src 'none'",
    ] {
        assert!(made.contains(part), "{part}");
    }
    for part in ["<script", "http://", "https://", " src=", "@import", "url(", "NaN", "inf\"", " style="] {
        assert!(!made.contains(part), "{part}");
    }
    assert_eq!(made, page(&report(&[&domain], true)), "the same bytes again");
    balanced(&made);
}

/// Every element is closed where it was opened.
fn balanced(page: &str) {
    let mut open: Vec<&str> = vec!["html", "head"];
    let body = page.split_once("</style>").unwrap().1;
    for tag in body.split('<').skip(1).filter_map(|piece| piece.split_once('>')).map(|(tag, _)| tag) {
        let name = tag.split([' ', '/']).find(|word| !word.is_empty()).unwrap_or_default();
        match tag.strip_prefix('/') {
            Some(_) => assert_eq!(open.pop(), Some(name)),
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn what_files_say_is_never_markup() {
    let dir = tempfile::tempdir().unwrap();
    let evil = r#"<script>alert("x")</script>'"&gt;<img src=x onerror=alert(1)>"#;
    let dress = |value: &Value| -> Value {
        serde_json::from_str(
            &value.to_string().replace("Cut Film", "EVIL").replace("Do 3", "EVIL").replace("\"3\"", "\"EVIL\""),
        )
        .map(|value: Value| replace(value, evil))
        .unwrap()
    };
    let nodes = |second: &'static str| -> Value {
        said(
            "3",
            &[
                ("Cut Film", &["EVIL"]),
                (second, &["<node-0>", "</title></svg><script>2</script>", "\u{202e}\u{0}"]),
                ("Write Down", &["<node-1>"]),
            ],
        )
    };
    let domain = studio(&dir.path().join("data_multimedia"), &[dress(&nodes("EVIL two")), dress(&mixed()[2])]);
    for file in ["tool_desc.json", "data.json"] {
        let path = domain.path(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let dressed: String =
            text.lines().map(|line| format!("{}\n", dress(&serde_json::from_str(line).unwrap()))).collect();
        std::fs::write(path, dressed).unwrap();
    }
    std::fs::rename(domain.path("predictions/own.json"), domain.path("predictions/<script>3<script>.json")).unwrap();
    let report = report(&[&domain], true);
    assert_eq!(report.domains[0].runs[0].worst.len(), 2);
    let made = page(&report);
    assert!(made.contains("&lt;script&gt;alert"), "it is shown");
    for part in ["<script", "<img", "\u{202e}", "\u{0}"] {
        assert!(!made.contains(part), "{part:?}");
    }
    balanced(&made);
    let markdown = comparison(&report, Layout::Markdown).markdown();
    assert!(markdown.contains(r"\<script\>3") && !markdown.contains(" <script"), "{markdown}");
}

#[test]
fn a_heap_of_a_plan_makes_a_page_of_bearable_size() {
    let dir = tempfile::tempdir().unwrap();
    let all: String = (0..300).map(|at| format!("<node-{at}>")).collect();
    let long = "Long ".repeat(400);
    let names: Vec<String> = (0..300).map(|at| format!("{long}{at}")).collect();
    let arguments: [&str; 2] = [&all, &long];
    let nodes: Vec<(&str, &[&str])> = names.iter().map(|name| (name.as_str(), &arguments[..])).collect();
    let domain = studio(&dir.path().join("data_studio"), &[said("3", &nodes)]);
    let made = page(&report(&[&domain], false));
    assert!(made.len() < 20_000, "{}", made.len());
    balanced(&made);
}

/// Any JSON, with the words of plans in likely and unlikely places.
fn any_part() -> impl Strategy<Value = Value> {
    any_json(
        &["Cut Film", "Write_Down", "<node-0>", "<node--1>", "<node-9>", "<output_of_Take Sound>", "<", ""],
        &["task", "arguments", "name", "value", "source", "target", "x"],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_prediction_has_a_place_on_the_page(steps in any_part(), nodes in any_part(), links in any_part(), temporal in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let said = json!({"id": "3", "result": {"task_steps": steps, "task_nodes": nodes, "task_links": links}});
        let domain = studio(&dir.path().join("data_studio"), &[said]);
        let (tools, gold) = (domain.tools().unwrap(), domain.gold().unwrap());
        let dependency = if temporal { DependencyType::Temporal } else { DependencyType::Resource };
        let against = Against { worst: 5, ..against(&tools, &gold, dependency) };
        let run = Run::read("own", &domain.path("predictions/own.json"), &against).unwrap();
        for sample in &run.worst {
            prop_assert!(!sample.lost.is_empty(), "{sample:?}");
        }
        let mut measured = DomainReport::new(&domain, tools.clone(), dependency);
        measured.add(run);
        let mut report = Report::new(true, Wanted::ALL);
        report.add(measured);
        balanced(&page(&report));
    }
}

/// The value with `EVIL` in every text replaced.
fn replace(value: Value, evil: &str) -> Value {
    match value {
        Value::String(text) => text.replace("EVIL", evil).into(),
        Value::Array(items) => items.into_iter().map(|item| replace(item, evil)).collect(),
        Value::Object(pairs) => {
            Value::Object(pairs.into_iter().map(|(key, item)| (key, replace(item, evil))).collect())
        }
        other => other,
    }
}

#[test]
fn runs_are_found_named_and_refused() {
    let dir = tempfile::tempdir().unwrap();
    let domain = studio(&dir.path().join("data_studio"), &mixed());
    let root = domain.dir().to_owned();
    std::fs::create_dir_all(root.join("predictions_use_demos_2")).unwrap();
    std::fs::copy(root.join("predictions/own.json"), root.join("predictions_use_demos_2/own.json")).unwrap();
    write(&root, "predictions/own.log", "not a run");
    write(&root, "metrics/own.json", "{}");
    let files = domain.prediction_files();
    let found: Vec<String> = files.iter().map(|file| run_name(file)).collect();
    assert_eq!(found, ["own", "own (use_demos_2)"]);

    let (tools, gold) = (domain.tools().unwrap(), domain.gold().unwrap());
    let against = against(&tools, &gold, tools.dependency());
    for (text, expected) in [
        ("", "it is empty"),
        ("{\n  \"overall\": {}\n}\n", "no line is a prediction; line 1: not JSON"),
        ("[]\n", "no line is a prediction; line 1: it is a list, not an object"),
    ] {
        write(&root, "predictions/bad.json", text);
        let error = Run::read("bad", &root.join("predictions/bad.json"), &against).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(Run::read("no", &root.join("predictions/none.json"), &against).is_err());
}

/// The table has what evaluation gives.
pub(crate) fn assert_table_equals(domain: &Domain, metrics: &Value) {
    let report = report(&[domain], true);
    let node_f1 = metrics["overall_overall"]["node_micro_f1_no_matching"].as_f64().unwrap();
    let table = comparison(&report, Layout::Csv);
    let at = table.headers.iter().position(|header| header == "n-F1").unwrap();
    assert_eq!(table.rows[0][at], format!("{:.2}", node_f1 * 100.0), "{}", domain.dir().display());
    assert!(!report.domains[0].runs[0].worst.is_empty());
    balanced(&page(&report));
}

#[test]
fn hostile_samples_give_the_figures_of_an_independent_implementation() {
    for name in ["resource", "temporal"] {
        let domain = Domain::open(fixture(name)).unwrap();
        let metrics = std::fs::read(domain.path("metrics.json")).unwrap();
        assert_table_equals(&domain, &serde_json::from_slice(&metrics).unwrap());
    }
}
