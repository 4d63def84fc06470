//! `jarvis easytool call`, as people and programs see it.

use serde_json::Value;

use crate::harness::Harness;

#[test]
fn one_call_prints_its_result() {
    let harness = Harness::new();
    for (args, code, stdout) in [
        (&["multiply_", "[535323, 0.03]"][..], 0, "16059.689999999999\n"),
        (&["ADD", "{'Input': (1, 2,)}"], 0, "3\n"),
        (&["divide_", "[1, 3]"], 0, "0.3333333333333333\n"),
        (&["divide_", "[1, 3]", "--mode", "compat"], 0, "0.33\n"),
        (&["multiply_", "[4/3, 3]"], 0, "4\n"),
        (&["power_", "[3, 108]"], 0, "3381391913522726342930221472392241170198527451848561\n"),
        (
            &["divide_", "[1, 3]", "--json"],
            0,
            "{\"function\":\"divide_\",\"args\":[1,3],\"result\":\"0.3333333333333333\"}\n",
        ),
        (&["power_", "[778899, 3456789]"], 1, ""),
        (&["choose_", "[2000, 1000]"], 1, ""),
        (&["add_", "5"], 1, ""),
        (&["cube_", "[1]"], 2, ""),
        (&["add_", "[1,"], 2, ""),
        (&["add_"], 2, ""),
        (&["add_", "[1]", "--mode", "rough"], 2, ""),
        (&["--batch", "missing.jsonl"], 2, ""),
        (&["--out", "x"], 2, ""),
    ] {
        let ended = harness.run(&[&["easytool", "call"][..], args].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (code, stdout), "{args:?} {}", ended.stderr);
        assert_eq!(ended.stderr.is_empty(), code == 0, "{args:?} {}", ended.stderr);
    }
}

#[test]
fn failures_say_what_and_why() {
    let harness = Harness::new();
    insta::assert_snapshot!(harness.told(&["easytool", "call", "divide_", "[1, 0]"]), @r"
    exit 1
    --- stdout
    --- stderr
    error: divide_: division by zero (at argument 2)
    ");
    insta::assert_snapshot!(
        "failures_say_what_and_why_1",
        harness.told(&["easytool", "call", "divide_", "[1, 0]", "--json"])
    );
    insta::assert_snapshot!("failures_say_what_and_why_2", harness.told(&["easytool", "call", "cube_", "[1]"]));
    insta::assert_snapshot!(
        "failures_say_what_and_why_3",
        harness.told(&["easytool", "call", "add_", "__import__('os')"])
    );
}

#[test]
fn a_batch_answers_every_line_in_order() {
    let harness = Harness::new();
    let lines = concat!(
        "{\"id\": \"a\", \"function\": \"add_\", \"args\": [1, 2.5]}\n",
        "\n",
        "{\"function\": \"divide_\", \"args\": {\"input\": [12345678901234567890123, 1]}, \"error\": \"old\", \"id\": 2}\n",
        "{\"function\": \"divide_\", \"args\": [1, 0], \"result\": \"old\"}\n",
        "not a line\n",
        "[1]\n",
        "{\"function\": \"cube_\", \"args\": [1]}\n",
        "{\"function\": \"add_\"}\n",
        "{\"args\": [1]}\n",
        "{\"function\": \"power_\", \"args\": [9**9**9]}\n",
        "{\"function\": \"choose_\", \"args\": [1000000000, 500000000]}",
    );
    harness.file("calls.jsonl", lines);
    insta::assert_snapshot!(
        "a_batch_answers_every_line_in_order",
        harness.told(&["easytool", "call", "--batch", "calls.jsonl", "--mode", "compat"])
    );
    let direct = harness.run(&["easytool", "call", "--batch", "calls.jsonl"]).stdout;
    let ended = harness.run(&["easytool", "call", "--batch", "calls.jsonl", "--out", "made/answers.jsonl"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""));
    assert_eq!(std::fs::read_to_string(harness.work().join("made/answers.jsonl")).expect("written"), direct);
    let piped = harness.run_with_input(&["easytool", "call", "--batch", "-"], lines);
    assert_eq!((piped.code, piped.stdout), (0, direct));
    let same = harness.run(&["easytool", "call", "--batch", "calls.jsonl", "--out", "calls.jsonl"]);
    assert_eq!(same.code, 2);
    assert_eq!(std::fs::read_to_string(harness.work().join("calls.jsonl")).expect("still there"), lines);
}

#[test]
fn lines_that_are_no_text_or_far_too_long_are_errors_of_their_own() {
    let harness = Harness::new();
    let good = "{\"function\": \"add_\", \"args\": [1]}\n";
    let mut bytes = good.as_bytes().to_vec();
    bytes.extend(b"{\"function\": \"\xff\"}\n");
    bytes.extend(b"[".repeat(17 * 1024 * 1024));
    bytes.push(b'\n');
    bytes.extend(good.as_bytes());
    harness.file("calls.jsonl", bytes);
    let ended = harness.run(&["easytool", "call", "--batch", "calls.jsonl"]);
    let answers: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(
        answers.iter().map(|answer| answer.get("result").is_some()).collect::<Vec<_>>(),
        [true, false, false, true]
    );
    assert_eq!(answers[2]["line"], 3);
}

#[test]
fn the_functions_are_listed() {
    let ended = Harness::new().run(&["easytool", "call", "--list"]);
    assert_eq!(ended.stdout.lines().count(), 13);
    insta::assert_snapshot!("the_functions_are_listed", ended.stdout);
}
