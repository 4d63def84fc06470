//! Questions in three languages, answered by the agent with the real tools.

mod cases;
mod documents;
mod honest;
mod trial;

use std::sync::Arc;

use cases::{FIRST, SECOND, THIRD};
use documents::FRUIT;
use honest::Due;
use jarvis_tools::local::add_to;
use jarvis_tools::{Registry, Scope};
use serde_json::json;
use trial::TRIAL;

use super::*;

/// The next step of a question that somebody waits for.
fn step(question: &str, document: &str, rounds: &[Round], language: Language) -> Move {
    next(question, document, rounds, language, &CancellationToken::new())
}

/// Carries a question to its answer: the rounds, the answer, and whether the document told it.
async fn asked(question: &str, document: &str) -> (Vec<Round>, String, bool) {
    let mut registry = Registry::new();
    add_to(&mut registry).unwrap();
    let scope = Scope { document: Some(Arc::from(document)), ..Scope::default() };
    let mut rounds = Vec::new();
    loop {
        assert!(rounds.len() < 6, "{question}: {rounds:?}");
        match step(question, document, &rounds, Language::of(question)) {
            Move::Answer { text, thought, found } => {
                assert!(!thought.is_empty());
                return (rounds, text, found);
            }
            Move::Act { thought, tool, input } => {
                assert!(!thought.is_empty());
                let done = registry.call(&tool, &input, &scope).await;
                let observation = done.map_or_else(|error| error.to_string(), |done| done.text);
                rounds.push(Round { thought, action: tool, input: input.to_string(), observation, ..Round::default() });
            }
        }
    }
}

#[tokio::test]
async fn questions_are_answered() {
    let mut wrong = Vec::new();
    for (part, cases) in [("first", FIRST), ("second", SECOND), ("third", THIRD), ("trial", TRIAL)] {
        let mut right = 0;
        for (question, document, tools, wanted, unwanted) in cases.iter().copied() {
            let (rounds, answer, _) = asked(question, document).await;
            let called: Vec<&str> = rounds.iter().map(|round| round.action.as_str()).collect();
            let called = called.join(" ");
            let lacks: Vec<_> = wanted.iter().filter(|part| !answer.contains(**part)).collect();
            let holds: Vec<_> = unwanted.iter().filter(|part| answer.contains(**part)).collect();
            if called == tools && lacks.is_empty() && holds.is_empty() {
                right += 1;
            } else {
                wrong.push(format!("{part}: {question}\n  [{called}] {answer}\n  lacks {lacks:?}, holds {holds:?}"));
            }
        }
        println!("{part}: {right} of {}", cases.len());
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Words of the agent before a sentence out of which nothing was picked.
const BARE: [&str; 3] = ["The document says: ", "В документе: ", "原文："];

#[tokio::test]
async fn what_is_not_said_is_not_claimed() {
    let mut wrong = Vec::new();
    for (part, cases) in [
        ("known", honest::KNOWN),
        ("more", honest::MORE),
        ("fresh", honest::FRESH),
        ("others", honest::OTHERS),
        ("third", honest::THIRD),
        ("found", honest::FOUND),
        ("plain", honest::PLAIN),
    ] {
        let mut right = 0;
        for (question, document, due) in cases.iter().copied() {
            let (_, answer, found) = asked(question, document).await;
            let open = !found || BARE.iter().any(|words| answer.starts_with(words));
            let fits = match due {
                Due::Told(parts) => found && parts.iter().all(|part| answer.contains(part)),
                Due::Open(parts) => open && !parts.iter().any(|part| answer.contains(part)),
            };
            right += usize::from(fits);
            println!("{} {found} {question} => {answer}", if fits { "ok" } else { "--" });
            if !fits {
                wrong.push(format!("{part}: {question}\n  {answer}\n  {due:?}"));
            }
        }
        println!("{part}: {right} of {}", cases.len());
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn the_chain_of_the_reference_is_whole() {
    let question = "文件中一共有几种水果？请用柱状图展示每种水果的数量";
    let (rounds, answer, _) = asked(question, FRUIT).await;
    assert_eq!(rounds[0].input, "{}");
    let expected = json!({"x": ["apple", "banana", "orange"], "y": [6, 3, 1], "title": "各种类的数量", "y_label": "数量", "kind": "bar"});
    assert_eq!(rounds[1].input_json(), Some(expected));
    assert_eq!(rounds[1].observation, jarvis_tools::local::plot::DONE);
    assert_eq!(answer, "共有 3 种，总计 10 个。apple：6；banana：3；orange：1。 图中已展示。");
}

#[test]
fn failures_of_tools_are_told() {
    let failed = |tool: &str, observation: &str| {
        let rounds = [Round { action: tool.into(), observation: observation.into(), ..Round::default() }];
        let question = if tool == "count" { "How many kinds?" } else { "What is the sum of the numbers?" };
        match step(question, if tool == "count" { FRUIT } else { "1, 2, 3" }, &rounds, Language::English) {
            Move::Answer { text, .. } => text,
            act @ Move::Act { .. } => panic!("{act:?}"),
        }
    };
    assert!(failed("count", "Error: there is no tool `count`").contains("could not be done"));
    assert!(failed("calculator", "Error: gone").contains("could not be done: Error: gone"));
}

/// Documents that tempt readers into quadratic work, of about so many bytes.
fn long(bytes: usize) -> Vec<String> {
    let rows = (0..bytes / 22).map(|at| format!("row {at},{},{}\n", at % 97, at * 3)).collect();
    let pieces =
        ["|", ": 1", "1 ", "a\n", "，", "apple,banana,", "x = ", "1.", "a: 5, ", "\"", "2 cats. ", documents::COMPANY];
    let mut documents: Vec<String> = pieces.into_iter().map(|piece| piece.repeat(bytes / piece.len())).collect();
    documents.push(rows);
    documents
}

#[test]
fn long_documents_are_no_more_work_than_they_are_long() {
    let questions =
        ["What is the total?", "Draw a chart", "How many times does row appear?", "How many cats in row 7?"];
    for document in long(if std::env::var_os("JARVIS_LONG").is_some() { 10 << 20 } else { 200 << 10 }) {
        for question in questions {
            let begin = std::time::Instant::now();
            step(question, &document, &[], Language::English);
            println!("{:>6} ms  {question}  {:?}", begin.elapsed().as_millis(), document.get(..12));
        }
    }
}

/// Documents and questions that take minutes where each row or name is compared with every other.
#[test]
fn rows_and_names_are_not_compared_with_each_other() {
    let sold = "On Monday the shop sold 3 apples to Bob.\n".repeat(20_000);
    let rows = format!("{}fig,blue,2\n", "pear,red,1\n".repeat(200_000));
    let wide = format!("{}\n|-\n{}", "|a".repeat(20_000), "|1\n".repeat(20_000));
    let asking = format!("How many of {} in row 7?", "Boxes and Foxes or ".repeat(100));
    for (question, document, acts) in [
        ("What is the total number of apples?", &sold, true),
        ("What is the total of pear red?", &rows, true),
        ("What is the total?", &wide, true),
        (asking.as_str(), &rows, false),
    ] {
        let next = step(question, document, &[], Language::English);
        assert_eq!(matches!(&next, Move::Act { tool, .. } if tool == "calculator"), acts, "{question} {next:.200?}");
    }
}

#[test]
fn what_nobody_waits_for_is_left_undone() {
    let ended = CancellationToken::new();
    ended.cancel();
    for document in ["pear,1\nfig,2\n", "| a | b |\n|---|---|\n| x | 3 |\n", "pear: 1\nfig: 2\n", "1, 2, 3"] {
        let question = "What is the sum of all values?";
        let calls = |next: Move| matches!(next, Move::Act { tool, .. } if tool == "calculator");
        assert!(!calls(next(question, document, &[], Language::English, &ended)), "{document}");
        assert!(calls(step(question, document, &[], Language::English)), "{document}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]

    /// Whatever is asked of whatever document, and whatever tools give, there is an answer after a few rounds.
    #[test]
    fn nothing_breaks_it(
        question in "(how many |total |average |draw |最多|сколько раз |difference |above 3|[a-zа-я一-十 ?\"“”]){0,8}",
        document in "([a-c|,:;=\n\t0-9.，：、一-十ё%$ -]|: 1|\n\\||\\|---\\|\n|\\n- x: 2|１|İ|é){0,60}",
        observation in "(3 in all|; 2 kinds, 3 in all\n|\\{\"x\":\\[\"a\"\\],\"y\":\\[1\\]\\}|[0-9.\n: -]|\\[passage 1 of 1, line 1\\]\n|text){0,6}",
    ) {
        let mut rounds = Vec::new();
        loop {
            match step(&question, &document, &rounds, Language::of(&question)) {
                Move::Answer { text, .. } => {
                    proptest::prop_assert!(!text.is_empty());
                    break;
                }
                Move::Act { thought, tool, input } => {
                    let (input, observation) = (input.to_string(), observation.clone());
                    rounds.push(Round { thought, action: tool, input, observation, ..Round::default() });
                    proptest::prop_assert!(rounds.len() < 5);
                }
            }
        }
    }
}
