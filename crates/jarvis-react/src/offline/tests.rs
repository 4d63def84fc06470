//! The agent with the real tools: what it answers about tables, lists and text, and what it refuses.

use jarvis_tools::local::add_to;
use jarvis_tools::{Registry, Scope};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const CASES: &str = include_str!("cases.md");

/// The sections of [`CASES`]: a heading, a document, and the lines below it.
fn sections() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    CASES.split("\n## ").skip(1).map(|section| {
        let (name, rest) = section.split_once("\n\n~~~\n").expect("a document opens below each heading");
        let (document, questions) = rest.split_once("~~~\n").expect("the document ends with three tildes");
        (name, document, questions)
    })
}

fn document(name: &str) -> &'static str {
    sections().find(|section| section.0 == name).expect("the cases hold the document").1
}

/// Carries a question to its answer: the rounds, the answer, and whether it is one.
async fn ask(question: &str, document: &str) -> (Vec<Round>, String, bool) {
    let mut registry = Registry::new();
    add_to(&mut registry).unwrap();
    let scope = Scope { documents: Documents::unnamed(document), ..Scope::default() };
    let mut rounds = Vec::new();
    loop {
        assert!(rounds.len() < 4, "{question}: {rounds:?}");
        match next(question, &scope.documents, &rounds, Language::of(question)) {
            Move::Answer { text, is_found, .. } => return (rounds, text, is_found),
            Move::Call { thought, tool, input } => {
                let observation = registry.call(tool, &input, &scope).await.unwrap();
                rounds.push(Round {
                    thought,
                    action: tool.to_owned(),
                    input: input.to_string(),
                    observation: observation.text,
                    value: observation.value,
                    ..Round::default()
                });
            }
        }
    }
}

#[tokio::test]
async fn questions_are_answered_or_refused() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (_, document, questions) in sections() {
        for case in questions.split("\n- ").skip(1) {
            let (question, expected) = case.trim_end().split_once("\n  ").expect("an answer follows a question");
            let (_, answer, is_found) = ask(question, document).await;
            let answer = if is_found { answer } else { format!("! {answer}") };
            count += 1;
            if answer != expected {
                wrong.push(format!("{question}\n  {answer}\n  instead of: {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 110, "only {count} cases");
}

#[tokio::test]
async fn each_step_is_a_call_of_a_tool() {
    let question = "文件中一共有几种水果？请用柱状图展示每种水果的数量";
    let (rounds, answer, _) = ask(question, document("fruit")).await;
    assert_eq!(rounds[0].input, "{}");
    let expected = json!({"x": ["apple", "banana", "orange"], "y": [6, 3, 1], "title": "各种类的数量", "y_label": "数量", "kind": "bar"});
    assert_eq!(rounds[1].input_json(), Some(expected));
    assert_eq!(rounds[1].observation, jarvis_tools::local::plot::DONE);
    assert_eq!(answer, "共有 3 种，总计 10 个。apple：6；banana：3；orange：1。图中已展示。");
    for (question, document, tools) in [
        ("What is the total revenue?", document("sales"), &["table-query"][..]),
        ("Which fruit is most frequent? Draw it.", document("fruit"), &["count", "plot"]),
        ("total revenue? draw it by month", document("sales"), &["table-query", "table-query", "plot"]),
        ("When was the company founded?", document("company"), &["search_document"]),
        ("What is this about?", " \n", &[]),
    ] {
        let rounds = ask(question, document).await.0;
        assert_eq!(rounds.iter().map(|round| round.action.as_str()).collect::<Vec<_>>(), tools, "{question}");
    }
}

#[test]
fn failures_of_tools_are_reported() {
    for (tool, question, document) in [
        ("count", "How many kinds?", document("fruit")),
        ("table-query", "What is the sum of the numbers?", document("numbers")),
        ("search_document", "Who wrote it?", document("company")),
    ] {
        let documents = Documents::unnamed(document);
        let Move::Call { tool: called, input, .. } = next(question, &documents, &[], Language::English) else {
            panic!("{question}: nothing is called");
        };
        assert_eq!(called, tool);
        let (observation, input) = ("Error: gone".to_owned(), input.to_string());
        let rounds = [Round { action: tool.into(), observation, input, ..Round::default() }];
        let text = "The tool failed: Error: gone".to_owned();
        let expected = Move::Answer { thought: "No further step is needed.".into(), text, is_found: false };
        assert_eq!(next(question, &documents, &rounds, Language::English), expected, "{tool}");
    }
}

/// Documents and questions that take minutes where rows or names are compared with each other.
#[test]
fn long_documents_are_read_in_linear_time() {
    let rows = format!("{}fig,blue,2\n", "pear,red,1\n".repeat(100_000));
    let wide = format!("{}\n|-\n{}", "|a".repeat(20_000), "|1\n".repeat(20_000));
    let asking = format!("How many of {} in row 7?", "Boxes and Foxes or ".repeat(100));
    for (question, document, tool) in [
        ("What is the total of pear red?", rows.as_str(), "table-query"),
        ("What is the total?", &wide, "table-query"),
        (&asking, &rows, "search_document"),
        ("What is the total?", &"a: 5, ".repeat(30_000), "table-query"),
        ("What is the total?", &"1 ".repeat(60_000), "table-query"),
        ("Who is it?", &"|".repeat(200_000), "search_document"),
        ("Who is it?", &document("company").repeat(1_000), "search_document"),
    ] {
        let step = next(question, &Documents::unnamed(document), &[], Language::English);
        assert!(matches!(&step, Move::Call { tool: called, .. } if *called == tool), "{question:.40} {step:.200?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the question, the document and the results, there is an answer after a few calls.
    #[test]
    fn every_question_ends_in_an_answer(
        question in "(how many |total |average |draw |最多|сколько раз |difference |above 3|top 2 |[a-zа-я一-十 ?\"“”]){0,8}",
        document in "([a-c|,:;=\n\t0-9.，：、一-十ё%$ -]|: 1|\n\\||\\|---\\|\n|\\n- x: 2|１|İ|é){0,60}",
        observation in "(Error|[0-9.-]{1,4})",
        value in prop::sample::select(vec![
            None,
            Some(json!({"counts": [{"item": "a", "count": 2}], "total": 2})),
            Some(json!({"counts": [], "total": 0, "passages": [{"text": "a b c"}]})),
            Some(json!(["odd"])),
        ]),
    ) {
        let mut rounds = Vec::new();
        let documents = Documents::unnamed(document);
        loop {
            match next(&question, &documents, &rounds, Language::of(&question)) {
                Move::Answer { text, .. } => {
                    prop_assert!(!text.is_empty());
                    break;
                }
                Move::Call { tool, input, .. } => {
                    let (action, input) = (tool.to_owned(), input.to_string());
                    let (observation, value) = (observation.clone(), value.clone());
                    rounds.push(Round { action, input, observation, value, ..Round::default() });
                    prop_assert!(rounds.len() < 4);
                }
            }
        }
    }
}
