//! Literals as replies hold them, and what must be refused: the rows of `literals.tsv`.

use jarvis_prompt::literal::{Literal, read_literal};
use jarvis_prompt::reader::Want;

/// The rows of the kinds that `is_wanted` takes.
pub(crate) fn rows(is_wanted: impl Fn(&str) -> bool) -> Vec<(&'static str, String, String)> {
    let text = include_str!("literals.tsv");
    let plain = |text: &str| {
        let marks = [('⏎', "\n"), ('␀', "\0"), ('⍽', "\u{a0}"), ('␛', "\u{feff}"), ('␡', "\u{7f}")];
        marks.iter().fold(text.to_owned(), |text, (mark, plain)| text.replace(*mark, plain))
    };
    let rows = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let mut fields = line.split('\t');
        let kind = fields.next().expect("each row has a kind");
        (kind, plain(fields.next().expect("each row has a text")), plain(fields.next().unwrap_or_default()))
    });
    let rows: Vec<_> = rows.filter(|row| is_wanted(row.0)).collect();
    assert!(!rows.is_empty());
    rows
}

#[test]
fn every_row_reads_as_it_says() {
    let mut wrong = Vec::new();
    for (kind, text, expected) in rows(|kind| !matches!(kind, "json" | "repeat")) {
        let read = |want| read_literal(&text, want).map_err(|error| error.to_string());
        let found = match kind {
            "whole" => Literal::parse(&text).map_err(|error| error.to_string()),
            "object" => read(Want::Object),
            "array" => read(Want::Array),
            "any" => read(Want::Any),
            other => panic!("no such kind: {other}"),
        };
        let found = found.map_or_else(|error| format!("! {error}"), |value| value.to_string());
        if found != expected {
            wrong.push(format!("{text}\n  {found}\n  instead of: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn depth_length_and_work_are_bounded() {
    let nested = |count: usize| format!("{}1{}", "[".repeat(count), "]".repeat(count));
    assert!(Literal::parse(&nested(128)).is_ok());
    for text in [
        nested(129),
        "[".repeat(100_000),
        "(".repeat(100_000),
        "{'a':".repeat(100_000),
        "-(".repeat(100_000),
        format!("2{}", "**1".repeat(100_000)),
        format!("[{}]", "0,".repeat(1 << 21)),
        format!("[{}]", "2**1000000,".repeat(100_000)),
        "9".repeat(10_000_000),
        "'".repeat(9_999_999),
        "\\".repeat(10_000_000),
        format!("'{}", "\\".repeat(10_000_000)),
        "#".repeat(1_000_000),
        "/*".repeat(1_000_000),
    ] {
        let error = Literal::parse(&text).expect_err("out of bounds");
        assert!(error.to_string().len() < 300);
    }
    // Long chains of arithmetic are no nesting.
    let shown = |text: &str| Literal::parse(text).unwrap().to_string();
    assert_eq!(shown(&format!("0{}", "+1".repeat(200_000))), "200000");
    assert_eq!(shown(&format!("{}1", "-".repeat(200_000))), "1");
    let digits = "7".repeat(300_000);
    assert_eq!(shown(&digits), digits);
}

#[test]
fn fields_and_ids() {
    let value = Literal::parse(r#"{"id": 1, "ID": "-12", "Parameters": {"input": []}, "n": 5.0}"#).expect("JSON");
    assert_eq!(value.field("ID").and_then(Literal::id), Some(-12));
    assert_eq!(value.field("Id").and_then(Literal::id), Some(1));
    assert!(value.field("parameters").and_then(|found| found.field("INPUT")).is_some());
    assert_eq!(value.field("n").and_then(Literal::as_int), None);
    assert_eq!(value.field("other"), None);
    assert_eq!(Literal::Null.field("a"), None);
    assert_eq!(Literal::Text("15".to_owned()).as_int(), None);
    assert_eq!(Literal::Text("x".to_owned()).id(), None);
}

#[test]
fn long_hostile_replies_end_soon() {
    for (_, unit, _) in rows(|kind| kind == "repeat") {
        let text = unit.repeat((1 << 16) / unit.len());
        for want in [Want::Object, Want::Array, Want::Any] {
            if let Err(error) = read_literal(&text, want) {
                assert!(error.to_string().len() < 400, "{error}");
            }
        }
    }
}
