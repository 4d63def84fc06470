//! Requests as clauses: borders, order and text to work on.

use jarvis_plan::{Kind, Tool};

use super::{Join, read};
use crate::retrieval::ToolIndex;

fn index() -> ToolIndex {
    let (image, text, audio) = (Kind::Image, Kind::Text, Kind::Audio);
    ToolIndex::new(&[
        Tool::typed("canny-control", "Draws edges.", &[image], &[image]),
        Tool::typed("image-to-image", "Changes a picture.", &[image], &[image]),
        Tool::typed("image-to-text", "Describes a picture.", &[image], &[text]),
        Tool::typed("image-segmentation", "Divides a picture.", &[image], &[image]),
        Tool::typed("summarization", "Shortens a text.", &[text], &[text]),
        Tool::typed("translation", "Translates a text.", &[text], &[text]),
        Tool::typed("token-classification", "Finds names.", &[text], &[text]),
        Tool::typed("text-to-speech", "Speaks.", &[text], &[audio]),
        Tool::typed("text-to-image", "Draws.", &[text], &[image]),
        Tool::typed("book_flight", "Books a flight.", &[], &[]),
    ])
}

fn check(request: &str, expected: &str) {
    let reading = read(request, &[], &index());
    let mut shown = String::new();
    for clause in &reading.clauses {
        if !shown.is_empty() {
            shown.push_str(if clause.join == Join::Then { " > " } else { " | " });
        }
        let mut words: Vec<(usize, String)> =
            clause.tokens.iter().map(|token| (token.start, token.lower.clone())).collect();
        words.extend(clause.spans.iter().map(|span| (span.start, format!("{{{}}}", span.text))));
        words.sort();
        shown.push_str(&words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" "));
        if clause.question {
            shown.push('?');
        }
    }
    assert_eq!(shown, expected, "{request}");
}

#[test]
fn requests_are_cut_as_the_table_says() {
    let table = include_str!("../../tests/cases/clauses.txt");
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    assert!(lines.peek().is_some());
    while let Some(request) = lines.next() {
        check(&request.replace('⏎', "\n"), lines.next().expect("clauses stand below a request").trim_start());
    }
}
