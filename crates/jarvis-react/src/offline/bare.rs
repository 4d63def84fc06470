//! Questions without a document: plain arithmetic goes to the calculator, everything else is refused.

use jarvis_plan::Language;
use jarvis_tables::question::{Intent, Question};
use serde_json::json;

use super::messages::Messages;
use super::{Move, Step};
use crate::rounds::Round;

/// What may stand around an expression. Anything else gives the numbers a meaning that the calculator does not know.
const FRAMES: &[&str] = &[
    "",
    "what is",
    "what's",
    "how much is",
    "calculate",
    "compute",
    "work out",
    "сколько будет",
    "чему равно",
    "посчитай",
    "вычисли",
    "计算",
    "请计算",
    "等于多少",
    "等于几",
    "是多少",
];

/// The next step of a question without a document.
pub(super) fn next(question: &str, rounds: &[Round], language: Language) -> Move {
    let question = Question::new(question);
    let intent = Intent::read(&question);
    Step { question: &question, intent: &intent, rounds, document: "", messages: Messages(language) }.bare()
}

impl Step<'_> {
    fn bare(&self) -> Move {
        let Some(expression) = expression(&self.question.raw) else { return self.refuse("no_document", &[]) };
        let thought = || self.text("arithmetic", &[]);
        match self.result("calculator", thought, json!({"expression": expression})) {
            Ok(_) => {
                let result = self.round("calculator").map(|round| round.observation.as_str()).unwrap_or_default();
                self.answer(format!("{expression} = {result}"), true)
            }
            Err(step) => step,
        }
    }
}

/// The expression that a question consists of, as the calculator takes it.
pub(crate) fn expression(question: &str) -> Option<String> {
    let start = question.find(|c: char| c.is_ascii_digit() || matches!(c, '(' | '-'))?;
    let end = question.rfind(|c: char| c.is_ascii_digit() || matches!(c, ')' | '!'))? + 1;
    let typed = question.get(start..end)?.trim_end_matches('!').trim();
    let is_part = |c: char| c.is_ascii_digit() || ". +-*/^()×÷·".contains(c);
    let operators: Vec<char> = typed.chars().filter(|c| "+-*/^×÷·".contains(*c)).collect();
    // `2026-11-25` and `10/2/2026` are dates, `555-12-34` is a telephone number.
    let is_number = operators.len() > 1
        && !typed.contains(' ')
        && ['-', '/'].iter().any(|sign| operators.iter().all(|operator| operator == sign));
    if operators.is_empty() || is_number || !typed.chars().all(is_part) {
        return None;
    }
    let around = [question.get(..start)?, question.get(end..)?].map(|part| {
        let is_mark = |c: char| c.is_whitespace() || "?=.!:？＝。！：".contains(c);
        part.trim_matches(is_mark).to_lowercase()
    });
    if !FRAMES.contains(&around.join(" ").trim()) {
        return None;
    }
    let expression = typed.replace(['×', '·'], "*").replace('÷', "/");
    jarvis_tools::local::evaluate(&expression).ok().map(|_| expression)
}

#[cfg(test)]
mod tests {
    use super::expression;

    #[test]
    fn only_plain_arithmetic_is_an_expression() {
        for (question, expected) in [
            ("What is 2 + 3 * 4?", Some("2 + 3 * 4")),
            ("(2.5 + 1) / 7 =", Some("(2.5 + 1) / 7")),
            ("сколько будет 12×3?", Some("12*3")),
            ("100 ÷ 8 等于多少？", Some("100 / 8")),
            ("2-3", Some("2-3")),
            ("2^0.5!", Some("2^0.5")),
            ("What is 2026-11-25?", None),
            ("10/2/2026", None),
            ("how many apples are 2 + 3?", None),
            ("what is 15% of 80", None),
            ("What is 7?", None),
            ("1,000 + 1", None),
            ("1 / 0", None),
            ("Who wrote it?", None),
            ("", None),
        ] {
            assert_eq!(expression(question).as_deref(), expected, "{question}");
        }
    }
}
