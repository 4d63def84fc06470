//! The reasoning that a model writes before its answer, between tags: found and left out.

const TAGS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
];

/// The text after the reasoning of a reasoning model; `None` when there is no reasoning, or nothing after it.
pub(super) fn after_thought(text: &str) -> Option<&str> {
    // The opening tag is often part of the chat template and missing from the reply.
    let (_, after) = TAGS.iter().find_map(|(_, close)| text.rsplit_once(close))?;
    let after = after.trim();
    (!after.is_empty()).then_some(after)
}

/// The answer in a reply, trimmed, without the reasoning before it: what stands between `<think>` and `</think>` (or
/// the tags of like meaning) at the start, or before a closing tag that nothing opened and that stands at the start or
/// the end of a line. Empty when the reply ends within its reasoning. Tags that the answer itself speaks of stay.
pub fn without_reasoning(reply: &str) -> &str {
    let mut rest = reply.trim();
    let mut opened = false;
    while let Some((_, close)) = TAGS.iter().find(|(open, _)| rest.starts_with(open)) {
        opened = true;
        rest = rest.split_once(close).map_or("", |(_, after)| after.trim_start());
    }
    if opened {
        return rest;
    }
    let ends = TAGS.iter().filter_map(|(_, close)| {
        rest.rmatch_indices(close)
            .map(|(at, _)| (at, at + close.len()))
            .find(|(start, end)| at_line_edge(rest, *start, *end))
    });
    ends.map(|(_, end)| end).max().and_then(|end| rest.get(end..)).unwrap_or(rest).trim_start()
}

/// Whether nothing stands before or nothing after a part of a line.
fn at_line_edge(text: &str, start: usize, end: usize) -> bool {
    const BLANKS: [char; 3] = [' ', '\t', '\r'];
    let before = text.get(..start).expect("tags are found at characters").trim_end_matches(BLANKS);
    let after = text.get(end..).expect("tags are found at characters").trim_start_matches(BLANKS);
    before.is_empty() || before.ends_with('\n') || after.is_empty() || after.starts_with('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_reasoning() {
        let check = |reply: &str, answer: &str| assert_eq!(without_reasoning(reply), answer, "{reply:?}");
        check(" plain ", "plain");
        check("<think>hm</think>yes", "yes");
        check("\n<think>\na\nb\n</think>\n\nyes\n", "yes");
        check("<think></think><think>b</think> yes", "yes");
        check("<reasoning>hm</reasoning>\nyes", "yes");
        check("the user wants it\n</think>\n\nyes", "yes");
        check("the user wants it.</think>\nyes", "yes");
        check("Let me see.\n<think>hm\n</think>\nyes", "yes");
        check("<think>never closed", "");
        check("<think>only this</think>", "");
        check("only this\n</think>", "");
        check("", "");
        check("The tag </think> ends the reasoning.", "The tag </think> ends the reasoning.");
        check("<think>hm</think>Write:\n</think>\nat the end.", "Write:\n</think>\nat the end.");
        check("<thinker>yes", "<thinker>yes");
    }
}
