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

/// `|` between clauses, `>` before ordered ones, `{…}` around text to work on.
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
fn and_cuts_between_actions_only() {
    check("Draw a cat and a dog", "draw a cat and a dog");
    check("Describe a.png and read it aloud", "describe {a.png} | read it aloud");
    check("Make a.png black and white", "make {a.png} black and white");
    check("Make a.png grey and half the size", "make {a.png} grey and half the size");
    check("Make a.png grey and blur b.png", "make {a.png} grey | blur {b.png}");
    check("Сделай краткое содержание и найди имена", "сделай краткое содержание | найди имена");
    check("Нарисуй кота и собаку", "нарисуй кота и собаку");
    check("描述图片并朗读", "描 述 图 片 | 朗 读");
    check("画一只猫和一只狗", "画 一 只 猫 和 一 只 狗");
}

#[test]
fn marks_order() {
    check("First segment a.png, then find the edges", "segment {a.png} > find the edges");
    check("Segment a.png. After that, describe it.", "segment {a.png} > describe it");
    check("Сначала опиши a.png, а затем переведи", "опиши {a.png} > переведи");
    check("先分割a.png，然后描边", "分 割 {a.png} > 描 边");
    check("Describe the house next to the church", "describe the house next to the church");
    check("Book a flight and then describe a.png", "book a flight > describe {a.png}");
}

#[test]
fn text_to_work_on_is_kept_whole() {
    check("Translate: draw a cat, then read it.", "translate {draw a cat, then read it.}");
    check("Translate \"draw a cat, then read it\" now", "translate {draw a cat, then read it} now");
    check("Summarise: One. Two. Then read it aloud.", "summarise {One. Two.} > read it aloud");
    check(
        "Summarise this text. The council met on Monday and spoke for hours.",
        "summarise this text | {The council met on Monday and spoke for hours.}",
    );
    check(
        "The council met on Monday and spoke for hours.\nSummarise it.",
        "{The council met on Monday and spoke for hours.} | summarise it",
    );
    check("Who came? Context: Bob came late.", "who came? | context {Bob came late.}");
    check("I have a text: 'It rained.'. Summarise it.", "i have a text {It rained.} | summarise it");
    check("翻译成英文：今天下雨，然后晴了。", "翻 译 成 英 文 {今天下雨，然后晴了。}");
}

#[test]
fn questions_are_told_from_polite_orders() {
    check("Can you describe a.png?", "can you describe {a.png}");
    check("What colour is the car in a.png?", "what colour is the car in {a.png}?");
    check("Tell me how many dogs are in a.png", "tell me how many dogs are in {a.png}?");
    check("Какого цвета машина?", "какого цвета машина?");
    check("图里有几只狗？", "图 里 有 几 只 狗?");
}
