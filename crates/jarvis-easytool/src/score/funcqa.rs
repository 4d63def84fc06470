//! FuncQA: whether the number of an answer is the gold one.

use serde::Serialize;

use super::Rate;
use super::matching::{Coverage, Key, match_rows};
use super::numbers::{Number, numbers_in};
use crate::data::FuncqaQuestion;
use crate::log::LoggedAnswer;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Verdict {
    /// The prediction is within 0.1 % of the gold number: `final_value`, or else the last number of the answer.
    pub strict: bool,
    /// Some number of the answer is.
    pub any: bool,
    /// Some number of the answer is within 1 % of it, or within 0.005.
    pub lenient: bool,
    /// The prediction equals it once both are rounded as the function hub rounds.
    pub em: bool,
    /// The last number of the answer is within 0.1 %, whatever `final_value` says.
    pub strict_last_number: bool,
    /// The last number of the last call's result is within 0.1 %.
    pub last_call_strict: bool,
    /// The last number of the last call's result is within 1 %.
    pub last_call_1pct: bool,
}

impl Verdict {
    /// Judges an answer. All false when there is none.
    pub fn of(gold: &Number, answer: &LoggedAnswer) -> Verdict {
        let numbers = numbers_in(&answer.final_answer);
        let last = numbers.last();
        let own = answer.final_value.as_ref().and_then(Number::of);
        let prediction = own.as_ref().or(last);
        let last_call = answer.last_result.as_deref().and_then(|result| numbers_in(result).pop());
        let is = |number: Option<&Number>, near: fn(&Number, &Number) -> bool| number.is_some_and(|it| near(it, gold));
        Verdict {
            strict: is(prediction, Number::is_strictly),
            any: numbers.iter().any(|number| number.is_strictly(gold)),
            lenient: numbers.iter().any(|number| number.is_leniently(gold)),
            em: is(prediction, Number::is_rounded),
            strict_last_number: is(last, Number::is_strictly),
            last_call_strict: is(last_call.as_ref(), Number::is_strictly),
            last_call_1pct: is(last_call.as_ref(), Number::is_within_one_percent),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    pub id: usize,
    pub question: String,
    pub gold: String,
    pub prediction: Option<String>,
    pub missing: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human: Option<bool>,
    #[serde(flatten)]
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FuncqaScore {
    #[serde(flatten)]
    pub coverage: Coverage,
    /// Questions whose gold answer holds no number: wrong.
    pub no_gold: Vec<usize>,
    /// See [`Verdict::strict`]. The figure to quote.
    pub strict: Rate,
    pub any: Rate,
    pub lenient: Rate,
    pub em: Rate,
    pub strict_last_number: Rate,
    pub last_call_strict: Rate,
    pub last_call_1pct: Rate,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human: Option<Rate>,
    #[serde(skip)]
    pub questions: Vec<Judged>,
}

pub fn score(questions: &[FuncqaQuestion], answers: &[LoggedAnswer]) -> FuncqaScore {
    let texts: Vec<&str> = questions.iter().map(|question| question.question.as_str()).collect();
    let keys = answers.iter().map(|answer| Key { number: answer.number, question: &answer.question });
    let matched = match_rows(&texts, keys);
    let mut no_gold = Vec::new();
    let mut judged = Vec::with_capacity(questions.len());
    for (at, (question, row)) in questions.iter().zip(&matched.rows).enumerate() {
        let answer = row.and_then(|row| answers.get(row));
        let gold = Number::of(&question.answer);
        if gold.is_none() {
            no_gold.push(at + 1);
        }
        let verdict = match (&gold, answer) {
            (Some(gold), Some(answer)) => Verdict::of(gold, answer),
            (None, _) | (_, None) => Verdict::default(),
        };
        judged.push(Judged {
            id: at + 1,
            question: question.question.clone(),
            gold: question.answer.as_text().map_or_else(|| question.answer.to_string(), str::to_owned),
            prediction: answer.and_then(prediction),
            missing: answer.is_none(),
            human: answer.and_then(|answer| answer.human_check),
            verdict,
        });
    }
    let rate = |of: fn(&Verdict) -> bool| Rate::of(&judged, |question| of(&question.verdict));
    // The original writes 0 for everything until a person has looked; a log without a single 1 tells nothing.
    let human = judged.iter().any(|question| question.human == Some(true));
    FuncqaScore {
        no_gold,
        strict: rate(|verdict| verdict.strict),
        any: rate(|verdict| verdict.any),
        lenient: rate(|verdict| verdict.lenient),
        em: rate(|verdict| verdict.em),
        strict_last_number: rate(|verdict| verdict.strict_last_number),
        last_call_strict: rate(|verdict| verdict.last_call_strict),
        last_call_1pct: rate(|verdict| verdict.last_call_1pct),
        human: human.then(|| Rate::of(&judged, |question| question.human == Some(true))),
        coverage: matched.into(),
        questions: judged,
    }
}

fn prediction(answer: &LoggedAnswer) -> Option<String> {
    let own = answer.final_value.as_ref().and_then(Number::of);
    let number = own.or_else(|| numbers_in(&answer.final_answer).pop())?;
    Some(number.whole.map_or_else(|| number.value.to_string(), |whole| whole.to_string()))
}

#[cfg(test)]
mod tests {
    use jarvis_prompt::literal::Literal;

    use super::*;

    fn answer(number: u64, question: &str, text: &str, value: Option<&str>, result: Option<&str>) -> LoggedAnswer {
        LoggedAnswer {
            number: Some(number),
            question: question.to_owned(),
            final_answer: text.to_owned(),
            final_value: value.map(|value| Literal::parse(value).unwrap()),
            last_result: result.map(str::to_owned),
            ..LoggedAnswer::default()
        }
    }

    fn verdict(gold: &str, text: &str, value: Option<&str>, result: Option<&str>) -> String {
        let gold = numbers_in(gold).pop().unwrap();
        let verdict = Verdict::of(&gold, &answer(1, "", text, value, result));
        let Verdict { strict, any, lenient, em, strict_last_number, last_call_strict, last_call_1pct } = verdict;
        [strict, any, lenient, em, strict_last_number, last_call_strict, last_call_1pct]
            .map(|yes| if yes { 'x' } else { '.' })
            .iter()
            .collect()
    }

    #[test]
    fn answers_are_judged() {
        for (gold, text, value, result, expected) in [
            ("758", "You need 758 of 892 cups.", None, Some("758"), ".xx..xx"),
            ("758", "You need 758 of 892 cups.", Some("758"), None, "xxxx..."),
            ("758", "You need 758 cups.", Some("757"), Some("1\n\n2"), ".xx.x.."),
            ("1.8476", "1.85 times", None, Some("1.85"), "..xx..x"),
            ("10.5034", "about 10.50", Some("\"10.5034\""), None, "xxxxx.."),
            ("3", "none", Some("null"), Some(""), "......."),
            ("3", "three", None, None, "......."),
        ] {
            assert_eq!(verdict(gold, text, value, result), expected, "{gold} {text} {value:?} {result:?}");
        }
    }

    #[test]
    fn every_question_counts() {
        let data: Vec<FuncqaQuestion> = serde_json::from_str(
            r#"[{"question":"a","answer":"1,000"},{"question":"b","answer":2},{"question":"c","answer":"none"}]"#,
        )
        .unwrap();
        let log =
            [answer(1, "a", "1000", None, None), answer(3, "c", "3", None, None), answer(7, "z", "3", None, None)];
        let score = score(&data, &log);
        assert_eq!((score.coverage.n, score.strict.count, score.strict.n), (3, 1, 3));
        assert_eq!((score.coverage.missing, score.no_gold, score.coverage.unmatched.len()), (vec![2], vec![3], 1));
        assert_eq!(score.human, None);
    }
}
