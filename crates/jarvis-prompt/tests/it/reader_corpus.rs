//! The corpus of broken replies: each case of `reader_corpus.md` gives the value or the error that it says.

use jarvis_prompt::reader::{ReadFault, Want, read_json};
use serde_json::Value;

struct Case {
    title: String,
    want: Want,
    gives: Option<Value>,
    fails: Option<String>,
    mends: Option<String>,
    reply: String,
}

/// A case is `## title`, lines `- want:`, `- gives:` or `- fails:`, optionally `- mends:`, and a reply between lines of
/// four tildes. `␛` stands for a control character.
fn cases() -> Vec<Case> {
    let text = include_str!("reader_corpus.md");
    let mut cases = Vec::new();
    for section in text.split("\n## ").skip(1) {
        let (head, rest) = section.split_once("\n~~~~\n").expect("a reply");
        let reply = rest.rsplit_once("\n~~~~").expect("an end of the reply").0;
        let mut lines = head.lines();
        let title = lines.next().expect("a title").to_owned();
        let mut case = Case {
            title,
            want: Want::Array,
            gives: None,
            fails: None,
            mends: None,
            reply: reply.replace('␛', "\u{1}"),
        };
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let (name, value) = line.trim_start_matches("- ").split_once(": ").expect("a field");
            match name {
                "want" => {
                    case.want = match value {
                        "array" => Want::Array,
                        "object" => Want::Object,
                        "any" => Want::Any,
                        other => panic!("{}: no such shape: {other}", case.title),
                    }
                }
                "gives" => {
                    let value = value.trim_matches('`');
                    case.gives = Some(serde_json::from_str(value).unwrap_or_else(|e| panic!("{}: {e}", case.title)));
                }
                "fails" => case.fails = Some(value.to_owned()),
                "mends" => case.mends = Some(value.to_owned()),
                other => panic!("{}: no such field: {other}", case.title),
            }
        }
        cases.push(case);
    }
    cases
}

fn name(fault: &ReadFault) -> &'static str {
    match fault {
        ReadFault::Empty => "empty",
        ReadFault::NoJson { .. } => "no json",
        ReadFault::Shape { .. } => "shape",
        ReadFault::Syntax { .. } => "syntax",
        ReadFault::Cut => "cut",
        ReadFault::Several => "several",
        ReadFault::TooDeep { .. } => "too deep",
        ReadFault::Type { .. } => "type",
    }
}

#[test]
fn every_case_reads_as_it_says() {
    let cases = cases();
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let result = read_json(&case.reply, case.want);
        match (&result, &case.gives, &case.fails) {
            (Ok(read), Some(value), None) if read.value == *value => {
                let mends = format!("{:?}", read.mended);
                if case.mends.as_ref().is_some_and(|expected| *expected != mends) {
                    wrong.push(format!("{}: mends {mends}", case.title));
                }
            }
            (Err(error), None, Some(expected)) if name(&error.fault) == expected => assert_eq!(error.reply, case.reply),
            _ => wrong.push(match result {
                Ok(read) => format!("{}: gives {} {:?}", case.title, read.value, read.mended),
                Err(error) => format!("{}: fails {error}", case.title),
            }),
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
