//! `jarvis taskbench generate` and `format`: the binary against a fake endpoint and a recording.

use std::sync::LazyLock;

use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::{Harness, example};

fn reply(id: &str, check: bool) -> String {
    let mut reply = json!({
        "task_steps": [format!("Use {id}")],
        "user_request": format!("Do what {id} does with 'this'"),
        "invoking_graph": {"nodes": [{"id": id, "input": ["this"]}], "links": []},
    });
    if check {
        reply["check_by_teacher"] = json!("Conclusion: Executable: yes, Correct: yes");
    }
    reply.to_string()
}

fn read(harness: &Harness, name: &str) -> String {
    std::fs::read_to_string(harness.work().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// `generate` into the folder `run` with the tools of the sample domain.
fn in_run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    static FILES: LazyLock<[String; 2]> = LazyLock::new(|| {
        ["graph_desc.json", "tool_desc.json"].map(|file| format!("{}/{file}", example("taskbench/data_studio")))
    });
    let [graph, tools] = &*FILES;
    let base = ["taskbench", "generate", "--data-dir", "run", "--graph-desc", graph, "--tool-desc", tools];
    [&base[..], more].concat()
}

#[test]
fn samples_are_made_kept_and_formatted() {
    let chat = FakeChat::spawn(Script::new().on(
        "generate",
        [
            Reply::text(reply("Narrator", true)),
            Reply::text("I would rather not."),
            Reply::text(format!("```json\n{}\n```", reply("Narrator", true))),
        ],
    ));
    let harness = Harness::new().env("OPENAI_API_KEY", "sk-very-secret").env("OPENAI_BASE_URL", &chat.url());
    let more = "--llm some/model --number_of_samples 4 --method single --seed 1 --check --save_figure true";
    let args = in_run(&more.split(' ').collect::<Vec<_>>());
    let first = harness.run(&args);
    assert_eq!((first.code, first.stdout.as_str()), (1, "3 samples in run/data_raw.json\n"), "{}", first.stderr);
    assert!(first.stderr.contains("ContentFormat") && first.stderr.contains("to go on"), "{}", first.stderr);
    let kept: Value = serde_json::from_str(&read(&harness, "run/data_raw.errors.jsonl")).expect("one line");
    assert_eq!((&kept["kind"], &kept["raw"]), (&json!("ContentFormat"), &json!("I would rather not.")), "{kept}");
    assert!(first.stderr.contains("what failed and why: run/data_raw.errors.jsonl"), "{}", first.stderr);
    let second = harness.run(&args);
    assert_eq!((second.code, second.stdout.as_str()), (0, "4 samples in run/data_raw.json\n"), "{}", second.stderr);
    assert!(second.stderr.contains("has its own description files"), "{}", second.stderr);
    assert_eq!(chat.requests_of("generate").len(), 5);
    assert_eq!(read(&harness, "run/data_raw.json").lines().count(), 4);
    assert_eq!(std::fs::read_dir(harness.work().join("run/task_graphs")).expect("pictures").count(), 4);
    for entry in std::fs::read_dir(harness.work().join("run")).expect("a folder").flatten() {
        if entry.path().is_file() {
            let text = std::fs::read_to_string(entry.path()).expect("text");
            assert!(!text.contains("very-secret"), "{}", entry.path().display());
        }
    }
    let statistics: Value =
        serde_json::from_str(read(&harness, "run/statistics.json").lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&statistics["options"]["seed"], &statistics["options"]["run"]["llm"]),
        (&json!(1), &json!("some/model"))
    );

    let (code, formatted) = harness.json(&["taskbench", "format", "--data-dir", "run", "--require-check", "--json"]);
    assert_eq!((code, &formatted["accepted"], &formatted["total"]), (0, &json!(4), &json!(4)), "{formatted}");
    assert!(read(&harness, "run/data.json").contains("\"task\":\"Narrator\""));
    assert_eq!(read(&harness, "run/user_requests.json").lines().count(), 4);
    let alignment: Value = serde_json::from_str(&read(&harness, "run/alignment_ids.json")).expect("JSON");
    assert_eq!(alignment["self-check_alignment_id"]["single"].as_array().map(Vec::len), Some(4));
}

#[test]
fn what_cannot_be_drawn_or_would_be_mixed_is_said_first() {
    let chat = FakeChat::spawn(Script::always(reply("Narrator", false)));
    let harness = Harness::new().env("OPENAI_BASE_URL", &chat.url());
    let studio = example("taskbench/data_studio");
    let generate = |args: &[&str]| harness.run(&[&["taskbench", "generate", "--llm", "m"], args].concat());
    for (args, said) in [
        (&["--tool-number", "30"][..], "error: no graph of 30 tools can be drawn: there are 13\n"),
        (&["--tool-number", "14", "--method", "chain"], "no graph of 14 tools can be drawn: there are 13"),
        (&["--tool-number", "13", "--method", "chain"], "error: no chain of 13 tools can be reached"),
    ] {
        let ended = generate(&[&["--data-dir", &studio, "--play"], args].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said) && ended.stderr.contains("hint:"), "{args:?}: {}", ended.stderr);
    }
    assert!(chat.requests().is_empty());
    let mumble = FakeChat::spawn(Script::always("Perhaps."));
    let unread = generate(&["--data-dir", &studio, "--play", "--base-url", &mumble.url()]);
    assert_eq!((unread.code, unread.stdout.as_str()), (1, ""));
    assert!(unread.stderr.contains("the reply:\nPerhaps.\n"), "{}", unread.stderr);
    let more = "--llm m --number-of-samples 1 --seed 7 --check --method single --tool-number 3";
    let made = harness.run(&in_run(&more.split(' ').collect::<Vec<_>>()));
    assert_eq!((made.code, made.stdout.as_str()), (0, "1 sample in run/data_raw.json\n"), "{}", made.stderr);
    assert!(made.stderr.contains("warning: a single has 1 tool; --tool-number 3 draws 1\n"), "{}", made.stderr);
    assert!(made.stderr.contains("asking m for 1 sample\n"), "{}", made.stderr);
    let more = |args: &[&str]| generate(&[&["--data-dir", "run", "--number-of-samples", "1"], args].concat()).stderr;
    assert!(!more(&["--check"]).contains("warning"), "the seed is taken up again");
    let mixed = more(&["--seed", "8"]);
    let said = "warning: run holds samples made with --seed 7 (now 8), with --check (now without --check)\n";
    assert!(mixed.contains(said) && mixed.contains("nothing to make: run has 1 sample\n"), "{mixed}");
}

#[test]
fn many_samples_are_counted() {
    let chat = FakeChat::spawn(
        Script::new().on(
            "generate",
            (0..60)
                .map(|at| if at % 6 == 0 { Reply::text("No.") } else { Reply::text(reply("Narrator", false)) })
                .collect::<Vec<_>>(),
        ),
    );
    let harness = Harness::new().env("OPENAI_BASE_URL", &chat.url());
    let args = in_run(&["--llm", "m", "--number-of-samples", "60", "--method", "single", "--multiworker", "4"]);
    let ended = harness.run(&args);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let counts = ended.stderr.lines().filter(|line| line.contains(" a second, ")).count();
    assert_eq!(counts, 19, "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("ContentFormat: ").count(), 5, "{}", ended.stderr);
    assert!(ended.stderr.contains("further failures are only in run/data_raw.errors.jsonl"), "{}", ended.stderr);
    assert_eq!(read(&harness, "run/data_raw.errors.jsonl").lines().count(), 10);
}

#[test]
fn a_recorded_run_repeats_and_a_try_keeps_nothing() {
    let chat = FakeChat::spawn(Script::always(reply("Narrator", false)));
    let harness = Harness::new().env("OPENAI_BASE_URL", &chat.url());
    let studio = example("taskbench/data_studio");
    let play = format!(
        "taskbench generate --play --data-dir {studio} --method chain --tool-number 2 --seed 5 --json --record calls.jsonl"
    );
    let play: Vec<&str> = play.split(' ').collect();
    let (code, live) = harness.json(&[&play[..], &["--llm", "m"]].concat());
    assert_eq!((code, &live["record"]["number_of_tools"]), (0, &json!(2)));
    assert!(live["prompt"].as_str().is_some_and(|prompt| prompt.contains("Edge: ")));
    let replay = [&play[..12], &["--llm", "replay:calls.jsonl"]].concat();
    assert_eq!(harness.json(&replay), (0, live));
    assert_eq!(chat.requests().len(), 1);
    let left: Vec<_> = std::fs::read_dir(harness.work()).expect("a folder").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["calls.jsonl"]);
}

/// Ctrl-C ends a run cleanly: what was made is whole, and the way to go on is told.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_says_how_to_go_on() {
    use std::process::{Command, Stdio};
    let chat = FakeChat::spawn(Script::new().on("generate", [Reply::text(reply("Narrator", false)), Reply::never()]));
    let harness = Harness::new().env("OPENAI_BASE_URL", &chat.url());
    let args = in_run(&["--llm", "m", "--number-of-samples", "9"]);
    let mut command = harness.command(&args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    assert!(chat.wait_requests(2).await);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    let ended = tokio::task::spawn_blocking(move || child.wait_with_output().expect("it ends")).await.expect("joined");
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("interrupted") && stderr.contains("--data-dir run"), "{stderr}");
    assert_eq!(read(&harness, "run/data_raw.json").lines().count(), 1);
    assert!(read(&harness, "run/data_raw.json").ends_with('\n'));
    assert!(chat.wait_aborted(1).await);
}
