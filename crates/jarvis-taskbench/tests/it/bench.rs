//! Planning benchmarks: each form is read, planned and scored; what cannot be used is reported.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use jarvis_ask::Events;
use jarvis_taskbench::bench::import::read_all;
use jarvis_taskbench::bench::report::{Layout, document, main_table, own_tables};
use jarvis_taskbench::bench::run::{score_floors, score_predictions};
use jarvis_taskbench::bench::score::figures;
use jarvis_taskbench::bench::{Form, Options, PlanSet, PlannedSet, Report, find, floors, plan_set};
use jarvis_taskbench::data::Lines;
use jarvis_taskbench::evaluate::Predictions;
use jarvis_taskbench::evaluate::strict::{Bootstrap, Figure};
use jarvis_taskbench::infer::{InferOptions, Links, PlanBy};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::Scripted;

fn examples(form: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans").join(form)
}

fn sets(path: &Path) -> Vec<PlanSet> {
    read_all(&[path.to_owned()], None).unwrap()
}

/// A sample on one line: its graph by name, and what is offered.
fn shown(set: &PlanSet) -> String {
    let mut out = format!("{} ({}, {}, links by {})\n", set.name, set.form, set.dependency, set.form.links());
    for note in &set.notes {
        writeln!(out, "  note: {note}").unwrap();
    }
    for sample in &set.samples {
        let name = |at: usize| sample.gold.nodes[at].as_str();
        let links: Vec<String> =
            sample.gold.links.iter().map(|(a, b)| format!("{} > {}", name(*a), name(*b))).collect();
        let (turns, offered) = (sample.dialogue.len(), sample.tools.tools.len());
        let nodes = sample.gold.nodes.join(", ");
        writeln!(out, "  {} [{turns} turns, {offered} tools] {}", sample.id, sample.request).unwrap();
        writeln!(out, "    {nodes}; {}", links.join(", ")).unwrap();
    }
    out
}

#[test]
fn each_form_is_read() {
    let all: Vec<String> = sets(&examples("")).iter().map(shown).collect();
    insta::assert_snapshot!("each_form_is_read", all.concat());
    for form in Form::ALL {
        // A form that is named is found where it is, and the others are not.
        let found = find(&examples(""), Some(form)).unwrap();
        assert!(found.iter().all(|source| source.form == form), "{form}: {found:?}");
        let folder = examples(form.as_str());
        assert_eq!(find(&folder, None).unwrap(), found, "{form}");
    }
}

#[test]
fn calls_of_seal_tools_name_the_tools_of_worfbench() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("graph_eval.json");
    std::fs::copy(examples("worfbench/seal_tools/graph_eval.json"), &file).unwrap();
    // Another assignment than words give, so that it shows; one call too few, which says nothing.
    let calls = [
        json!({"id": "x", "query": "Draw a map of  Oxdale and frame the map.",
            "calling": [{"api": "framePicture", "parameters": {}}, {"api": "drawMap", "parameters": {}}]}),
        json!({"id": "y", "query": "Paint a sign with the text 'Mind the herons' and count the herons at Long Mere.",
            "calling": [{"api": "paintSign", "parameters": {}}]}),
    ];
    std::fs::write(dir.path().join("calls.jsonl"), calls.map(|call| format!("{call}\n")).concat()).unwrap();
    let set = sets(&file).remove(0);
    let nodes: Vec<String> = set.samples.iter().take(2).map(|sample| sample.gold.nodes.join(" ")).collect();
    assert_eq!(nodes, ["framePicture drawMap", "paintSign countHerons"]);
    assert!(set.notes[0].starts_with("in 3 of 4 gold plans"), "{:?}", set.notes);
}

/// A set in the neutral form: tools by name, and lines of `plans.jsonl`.
fn neutral(tools: &[&str], plans: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let tools: Vec<Value> = tools.iter().map(|name| json!({"name": name, "description": name})).collect();
    std::fs::write(dir.path().join("tools.json"), json!({"tools": tools}).to_string()).unwrap();
    std::fs::write(dir.path().join("plans.jsonl"), plans).unwrap();
    dir
}

/// A line of `plans.jsonl`.
fn line(id: &str, tools: &[&str], links: &[[usize; 2]]) -> String {
    let tasks: Vec<Value> = tools.iter().map(|tool| json!({"tool": tool, "arguments": {}})).collect();
    json!({"id": id, "request": format!("do {id}"), "plan": {"tasks": tasks, "links": links}}).to_string() + "\n"
}

/// A prediction: tools, and links by name.
fn predicted(id: &str, tools: &[&str], links: &[[&str; 2]]) -> String {
    let nodes: Vec<Value> = tools.iter().map(|tool| json!({"task": tool, "arguments": []})).collect();
    let links: Vec<Value> = links.iter().map(|[source, target]| json!({"source": source, "target": target})).collect();
    json!({"id": id, "result": {"task_steps": [], "task_nodes": nodes, "task_links": links}}).to_string() + "\n"
}

fn value(figure: Figure) -> f64 {
    (figure.value.unwrap() * 1e6).round() / 1e6
}

#[test]
fn plans_are_scored_as_counted_by_hand() {
    let gold = [
        line("right", &["a", "b", "c"], &[[0, 1]]),
        line("twice", &["a", "a"], &[]),
        line("absent", &["a", "c"], &[[0, 1]]),
        line("turned", &["b", "d_d"], &[[0, 1]]),
    ];
    let dir = neutral(&["a", "b", "c", "d_d"], &gold.concat());
    let set = sets(dir.path()).remove(0);
    let plans = [
        predicted("right", &["c", "b", "a"], &[["a", "b"]]),
        predicted("twice", &["a"], &[]),
        // Names are equal with `_` as a blank.
        predicted("turned", &["b", "d d", "d_d"], &[["d_d", "b"]]),
    ];
    let lines = Lines::of("predictions", plans.concat().into_bytes());
    let scores = score_predictions(&set, &Predictions::of(&lines));
    let how = Bootstrap { resamples: 200, seed: 1, all: true };
    let made = figures(scores.iter(), Some(set.form), how);
    assert_eq!((made.samples, made.missing), (4, 1));
    // Tools: 3 + 1 + 0 + 2 common, 3 + 1 + 0 + 3 predicted, 3 + 2 + 2 + 2 gold.
    assert_eq!(made.nodes.map(value), [0.857143, 0.666667, 0.75]);
    // The mean of 1, 2/3, 0 and 4/5.
    assert_eq!(value(made.nodes_macro[2]), 0.616667);
    // Links: 1 common, 2 predicted, 3 gold.
    assert_eq!(made.links.map(value), [0.5, 0.333333, 0.4]);
    assert_eq!(value(made.exact), 0.25);
    let [low, high] = made.nodes[2].interval.unwrap();
    assert!(low < 0.75 && 0.75 < high, "{low} {high}");
    let reasons: Vec<String> = scores.iter().map(|score| score.reasons.join("; ")).collect();
    assert_eq!(
        reasons,
        [
            "",
            "tool a 1 times, wanted 2 times",
            "no prediction",
            "tool d_d 2 times, wanted 1 times; missed link b → d_d; surplus link d_d → b",
        ]
    );
}

#[test]
fn floors_need_no_planner() {
    // Tools of the gold plans, and for each sample the tools of its constant plan.
    let cases: [(&[&[&str]], &[&str]); 5] = [
        (&[&["a"]], &[""]),
        (&[&["a"], &["b"]], &["b", "a"]),
        // Equally frequent plans of the others are taken in the order of the file.
        (&[&["a"], &["a"], &["b"]], &["a", "a", "a"]),
        (&[&["a"], &["b"], &["b"]], &["b", "a", "a"]),
        // The order of the calls does not matter for what is frequent.
        (&[&["a", "b"], &["b", "a"], &["c"]], &["b a", "a b", "a b"]),
    ];
    for (gold, wanted) in cases {
        let plans: String = gold.iter().enumerate().map(|(at, tools)| line(&at.to_string(), tools, &[])).collect();
        let dir = neutral(&["a", "b", "c"], &plans);
        let set = sets(dir.path()).remove(0);
        let constant: Vec<String> = floors::constant(&set.samples).iter().map(|plan| plan.nodes.join(" ")).collect();
        assert_eq!(constant, wanted, "{gold:?}");
        assert_eq!(floors::every_tool(&set.samples[0]).nodes, ["a", "b", "c"]);
    }
    // A perfect constant plan, and all three tools where one is wanted.
    let plans = [line("1", &["a"], &[]), line("2", &["a"], &[])].concat();
    let dir = neutral(&["a", "b", "c"], &plans);
    let set = sets(dir.path()).remove(0);
    let [(_, every), (_, constant)] = score_floors(&set);
    let f1 = |scores: &[jarvis_taskbench::bench::score::SampleScore]| {
        value(figures(scores.iter(), None, Bootstrap { resamples: 1, seed: 0, all: true }).nodes[2])
    };
    assert_eq!((f1(&every), f1(&constant)), (0.5, 1.0));
}

async fn planned(set: &PlanSet, by: &PlanBy, options: &Options, dir: Option<&Path>) -> PlannedSet {
    let stop = CancellationToken::new();
    plan_set(set, by, options, (dir, "m"), (&Events::unread(), &(), &stop)).await.unwrap()
}

#[tokio::test]
async fn the_offline_planner_plans_every_form() {
    for form in Form::ALL {
        for set in sets(&examples(form.as_str())) {
            let ended = planned(&set, &PlanBy::offline(), &Options::default(), None).await;
            assert!(ended.summary.is_complete(), "{}: {:?}", set.name, ended.summary);
            let how = Bootstrap { resamples: 10, ..Bootstrap::default() };
            let report = Report::new("offline", &[(set.clone(), ended)], how, None);
            let plans: Vec<&str> = report.rows.iter().map(|row| row.plans.as_str()).collect();
            assert_eq!(plans, ["offline", "every listed tool", "a constant plan"], "{}", set.name);
            for row in &report.rows {
                // The samples are easy; a form whose tools or gold plans were read wrongly falls below the floor.
                let f1 = row.figures.nodes[2].value.unwrap();
                assert!(row.is_floor || f1 > 0.7, "{} {f1}", set.name);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_sees_the_dialogue_and_what_links_mean() {
    let set = sets(&examples("neutral")).remove(0);
    // What each prompt holds; the first message is the start of the dialogue where there is one.
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&seen);
    let model = Scripted::new(move |_, prompt: &str| {
        log.lock().unwrap().push(prompt.to_owned());
        Ok(r#"{"task_steps": [], "task_nodes": [{"task": "set_timer", "arguments": []}], "task_links": []}"#.to_owned())
    });
    let by = PlanBy::Model(model);
    let dir = tempfile::tempdir().unwrap();
    let ended = planned(&set, &by, &Options::default(), Some(dir.path())).await;
    assert_eq!((ended.summary.done, ended.summary.calls, ended.summary.usage.prompt), (5, 5, 50));
    let prompts = seen.lock().unwrap().clone();
    let dialogue = prompts.iter().find(|prompt| prompt.starts_with("Find a recipe for plum cake"));
    assert!(dialogue.is_some_and(|prompt| !prompt.contains("TASK LIST")), "{prompts:?}");
    let alone = prompts.iter().find(|prompt| prompt.contains("# USER REQUEST #: Set a timer")).unwrap();
    assert!(alone.contains("A link must stand exactly where a task needs the result of another"), "{alone}");
    // A part of the list is offered to one sample alone.
    let part = prompts.iter().find(|prompt| prompt.contains("with pumpkin")).unwrap();
    assert!(part.contains("find_recipe") && !part.contains("convert_units"), "{part}");

    // A second run asks nothing, and the plans are scored all the same.
    let again = planned(&set, &by, &Options::default(), Some(dir.path())).await;
    assert_eq!((again.summary.already, again.summary.calls), (5, 0));
    assert_eq!(again.scores.iter().filter(|score| score.exact).count(), 1);
    let options = Options { links: Some(Links::Order), infer: InferOptions::default() };
    planned(&set, &by, &options, None).await;
    let last = seen.lock().unwrap().last().cloned().unwrap();
    assert!(!last.contains("A link must stand exactly"), "{last}");
}

/// A plan that was kept answers the request that it was made for, not another one that stands under its id now.
#[tokio::test(start_paused = true)]
async fn a_kept_plan_of_another_request_is_made_anew() {
    let (dir, asked) = (tempfile::tempdir().unwrap(), Arc::new(Mutex::new(0)));
    let model = |works: bool| {
        let asked = Arc::clone(&asked);
        let nodes = r#"{"task_steps": [], "task_nodes": [{"task": "set_timer", "arguments": []}], "task_links": []}"#;
        PlanBy::Model(Scripted::new(move |_, _: &str| {
            *asked.lock().unwrap() += 1;
            if works { Ok(nodes.to_owned()) } else { Ok("no plan".to_owned()) }
        }))
    };
    let (read, both) = (|plans: &str| sets(neutral(&["set_timer"], plans).path()).remove(0), Options::default());
    let plans = line("1", &["set_timer"], &[]) + &line("2", &["set_timer"], &[]);
    planned(&read(&plans), &model(true), &both, Some(dir.path())).await;
    assert_eq!(*asked.lock().unwrap(), 2);

    let changed = read(&plans.replace("do 2", "do 3"));
    let failed = planned(&changed, &model(false), &both, Some(dir.path())).await;
    assert_eq!((failed.summary.already, failed.summary.failed), (1, 1));
    assert_eq!(failed.scores.iter().map(|score| score.missing).collect::<Vec<_>>(), [false, true]);
    // The error stays while other requests of the folder are planned.
    let errors = || std::fs::read_to_string(dir.path().join("m.errors.jsonl")).unwrap_or_default();
    planned(&read(&line("1", &["set_timer"], &[])), &model(true), &both, Some(dir.path())).await;
    assert!(errors().contains("\"id\":\"2\""), "{}", errors());
    let mended = planned(&changed, &model(true), &both, Some(dir.path())).await;
    assert!(mended.scores.iter().all(|score| score.exact), "{:?}", mended.scores);
    assert_eq!(planned(&changed, &model(true), &both, Some(dir.path())).await.summary.already, 2);
    assert_eq!(errors(), "");
}

#[tokio::test]
async fn reports_hold_every_row() {
    let mut ended = Vec::new();
    for set in sets(&examples("complextool-plan")) {
        let planned = planned(&set, &PlanBy::offline(), &Options::default(), None).await;
        ended.push((set, planned));
    }
    let report = Report::new("offline", &ended, Bootstrap { resamples: 50, ..Bootstrap::default() }, None);
    assert_eq!(report.rows.len(), 9);
    let last = report.rows.last().unwrap();
    assert_eq!((last.set.as_str(), last.form, last.figures.samples), ("all sets", Some(Form::ComplexToolPlan), 8));
    let whole = document(&report, true);
    assert_eq!(whole["samples"].as_array().unwrap().len(), 8);
    assert_eq!(whole["rows"][0]["figures"]["own"].as_object().unwrap().len(), 3);
    let csv = main_table(&report, Layout::Csv);
    assert!(csv.rows.iter().all(|row| row.len() == csv.headers.len()));
    assert_eq!((main_table(&report, Layout::Terminal).rows.len(), own_tables(&report, Layout::Markdown).len()), (9, 1));
}

#[test]
fn what_cannot_be_used_is_reported() {
    // Lines of plans.jsonl, and the error or the notes.
    let cases = [
        ("", "holds no sample that can be used"),
        ("no JSON\n", "line 1 is left out: not JSON: expected ident at line 1 column 2"),
        (r#"{"id": "1"}"#, "line 1 is left out: it has no list under `plan.tasks`"),
        (
            r#"{"id": "1", "request": "r", "plan": {"tasks": [{"tool": "a"}], "links": [[0, 1]]}}"#,
            "line 1 is left out: link [0, 1] leads to no task",
        ),
        (
            r#"{"id": "1", "request": "r", "dialogue": [{"role": "judge"}], "plan": {"tasks": [{"tool": "a"}]}}"#,
            "line 1 is left out: a turn of the dialogue has the role `judge`, not user or assistant",
        ),
    ];
    for (plans, wanted) in cases {
        let dir = neutral(&["a"], plans);
        let error = read_all(&[dir.path().to_owned()], None).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(error.is_usage() && error.hint().is_some());
    }
    let plans = [line("1", &["a"], &[]), line("1", &["b", "gone"], &[])].concat();
    let dir = neutral(&["a", "b"], &plans);
    let set = sets(dir.path()).remove(0);
    assert_eq!(set.samples.iter().map(|sample| sample.id.as_str()).collect::<Vec<_>>(), ["1", "1#2"]);
    assert_eq!(
        set.notes,
        [
            "1 gold plans name a tool that is not offered, such as gone of 1",
            "1 samples repeat the id of another, such as 1; they are numbered"
        ]
    );
    let empty = tempfile::tempdir().unwrap();
    std::fs::write(empty.path().join("settings.json"), "{\"a\": 1}").unwrap();
    let error = find(empty.path(), Some(Form::SealTools)).unwrap_err();
    assert!(error.to_string().ends_with("in the form seal-tools"), "{error}");
    assert!(find(Path::new("/nowhere/at/all"), None).is_err());
}
