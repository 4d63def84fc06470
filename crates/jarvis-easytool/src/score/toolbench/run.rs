//! Judging a whole log.

use std::collections::HashMap;

use futures::stream::{self, StreamExt, TryStreamExt};
use jarvis_ask::AskError;
use serde::Serialize;

use super::super::Rate;
use super::super::matching::{Coverage, Key, Matched, match_rows};
use super::{AnswerStatus, ErrorRates, Judge, Preference, Seed, TaskStatus, Vote, vote};
use crate::data::ToolbenchItem;
use crate::log::LoggedAnswer;

pub struct Judging<'a> {
    pub judge: &'a Judge,
    pub repeats: u32,
    pub seed: Seed,
    pub parallel: usize,
}

#[derive(Debug, Clone, Copy)]
struct Judged<'a> {
    id: usize,
    key: &'a str,
    answer: Option<&'a LoggedAnswer>,
    reference: Option<&'a LoggedAnswer>,
}

/// The rows of a log, in the order of the data or, without data, in their own; and the keys of the questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Aligned {
    pub keys: Vec<String>,
    pub log: Matched,
    pub reference: Matched,
}

/// Matches a log and a reference to the data, or the reference to the log where no data is given.
pub fn align(data: Option<&[ToolbenchItem]>, log: &[LoggedAnswer], reference: &[LoggedAnswer]) -> Aligned {
    let questions: Vec<(&str, String)> = match data {
        Some(items) => items.iter().map(|item| (item.query.as_str(), item.id_text())).collect(),
        None => {
            let id = |row: &LoggedAnswer| row.query_id.clone().unwrap_or_default();
            log.iter().map(|row| (row.question.as_str(), id(row))).collect()
        }
    };
    let texts: Vec<&str> = questions.iter().map(|(text, _)| *text).collect();
    let places: HashMap<&str, u64> = questions
        .iter()
        .zip(1_u64..)
        .filter(|((_, id), _)| !id.is_empty())
        .map(|((_, id), at)| (id.as_str(), at))
        .collect();
    let matched = |rows: &[LoggedAnswer]| {
        let place = |row: &LoggedAnswer| match &row.query_id {
            Some(id) => places.get(id.as_str()).copied(),
            None => row.number,
        };
        match_rows(&texts, rows.iter().map(|row| Key { number: place(row), question: &row.question }))
    };
    let log = match data {
        Some(_) => matched(log),
        None => Matched { rows: (0..log.len()).map(Some).collect(), ..Matched::default() },
    };
    let keys =
        questions.iter().enumerate().map(|(at, (_, id))| if id.is_empty() { (at + 1).to_string() } else { id.clone() });
    Aligned { keys: keys.collect(), log, reference: matched(reference) }
}

impl Aligned {
    fn questions<'a>(&'a self, log: &'a [LoggedAnswer], reference: &'a [LoggedAnswer]) -> Vec<Judged<'a>> {
        let rows = self.keys.iter().zip(&self.log.rows).zip(&self.reference.rows).enumerate();
        rows.map(|(at, ((key, row), other))| Judged {
            id: at + 1,
            key,
            answer: row.and_then(|row| log.get(row)),
            reference: other.and_then(|row| reference.get(row)),
        })
        .collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Outcome {
    /// Whether it passed: most repeats say so, and at a tie the seed.
    pub passed: bool,
    pub solved: bool,
    pub votes: u32,
    pub undecided: u32,
    pub tied: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Win,
    Lose,
    Tie,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionScore {
    pub id: usize,
    pub query_id: String,
    #[serde(flatten)]
    pub outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// Whether both answers are the same text, so that the seed decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identical: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedScore {
    pub repeats: u32,
    pub seed: u64,
    /// Passed: the answer solves the query, or the query cannot be solved.
    pub pass: Rate,
    /// The answer solves the query: by people where the log has their verdicts, else by most repeats.
    pub success: Rate,
    /// Who says so: `human` or `judge`.
    pub success_by: &'static str,
    /// Repeats that the rules left open and the seed decided, of all repeats.
    pub undecided: Rate,
    /// Questions whose repeats were even, so that the seed decided.
    pub tied: Rate,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_pass: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub win: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lose: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tie: Option<Rate>,
    /// Questions with the same answer in both, decided by the seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identical: Option<usize>,
    #[serde(skip)]
    pub questions: Vec<QuestionScore>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolbenchScore {
    #[serde(flatten)]
    pub coverage: Coverage,
    /// Answers that are there: the run came to its end, did not give up, and said something.
    pub answered: Rate,
    pub errors: ErrorRates,
    #[serde(flatten)]
    pub judged: Option<JudgedScore>,
}

pub async fn score(
    data: Option<&[ToolbenchItem]>,
    log: &[LoggedAnswer],
    reference: Option<&[LoggedAnswer]>,
    judging: Option<&Judging<'_>>,
) -> Result<ToolbenchScore, AskError> {
    let aligned = align(data, log, reference.unwrap_or_default());
    let questions = aligned.questions(log, reference.unwrap_or_default());
    let counted: Vec<LoggedAnswer> = questions.iter().filter_map(|question| question.answer).cloned().collect();
    let judged = match judging {
        Some(judging) => Some(judge_all(&questions, reference.is_some(), judging).await?),
        None => None,
    };
    Ok(ToolbenchScore {
        answered: Rate::of(&questions, |question| question.answer.is_some_and(is_answered)),
        errors: ErrorRates::of(&counted),
        judged,
        coverage: aligned.log.into(),
    })
}

async fn judge_all(
    questions: &[Judged<'_>],
    with_reference: bool,
    judging: &Judging<'_>,
) -> Result<JudgedScore, AskError> {
    let judged = stream::iter(questions).map(|question| judge_question(question, with_reference, judging));
    let scores: Vec<QuestionScore> = judged.buffered(judging.parallel.max(1)).try_collect().await?;
    let repeats = judging.repeats.max(1);
    let by_people = scores.iter().any(|question| question.human == Some(true));
    let success = |question: &QuestionScore| match by_people {
        true => question.human == Some(true),
        false => question.outcome.solved,
    };
    let undecided: u32 = scores.iter().map(|question| question.outcome.undecided).sum();
    let standing =
        |wanted: Standing| with_reference.then(|| Rate::of(&scores, |question| question.standing == Some(wanted)));
    Ok(JudgedScore {
        repeats,
        seed: judging.seed.0,
        pass: Rate::of(&scores, |question| question.outcome.passed),
        success: Rate::of(&scores, success),
        success_by: if by_people { "human" } else { "judge" },
        undecided: Rate::new(undecided as usize, scores.len() * repeats as usize),
        tied: Rate::of(&scores, |question| question.outcome.tied),
        reference_pass: with_reference
            .then(|| Rate::of(&scores, |question| question.reference.is_some_and(|outcome| outcome.passed))),
        win: standing(Standing::Win),
        lose: standing(Standing::Lose),
        tie: standing(Standing::Tie),
        identical: with_reference.then(|| scores.iter().filter(|question| question.identical == Some(true)).count()),
        questions: scores,
    })
}

async fn judge_question(
    question: &Judged<'_>,
    with_reference: bool,
    judging: &Judging<'_>,
) -> Result<QuestionScore, AskError> {
    let outcome = judge_run(question.answer, question.key, "pass", judging).await?;
    let mut score = QuestionScore {
        id: question.id,
        query_id: question.key.to_owned(),
        outcome,
        human: question.answer.and_then(|answer| answer.human_check),
        reference: None,
        standing: None,
        identical: None,
    };
    if with_reference {
        let other = judge_run(question.reference, question.key, "reference", judging).await?;
        let (standing, identical) = compare(question, outcome.passed, other.passed, judging).await?;
        score.reference = Some(other);
        score.standing = Some(standing);
        score.identical = Some(identical);
    }
    Ok(score)
}

fn is_answered(answer: &LoggedAnswer) -> bool {
    answer.finished && !answer.gave_up && !answer.final_answer.trim().is_empty()
}

async fn judge_run(
    answer: Option<&LoggedAnswer>,
    key: &str,
    about: &str,
    judging: &Judging<'_>,
) -> Result<Outcome, AskError> {
    // A run that did not come to its end failed, and nobody need look.
    let Some(answer) = answer.filter(|answer| answer.finished) else { return Ok(Outcome::default()) };
    let repeats = judging.repeats.max(1);
    let mut outcome = Outcome::default();
    let mut solved = 0;
    for repeat in 0..repeats {
        let status = match is_answered(answer) {
            false => AnswerStatus::Unsolved,
            true => match judging.judge.answer(answer).await? {
                AnswerStatus::Unsure => judging.judge.answer_detail(answer).await?,
                status @ (AnswerStatus::Solved | AnswerStatus::Unsolved) => status,
            },
        };
        let task = match status {
            AnswerStatus::Solved => TaskStatus::Solvable,
            AnswerStatus::Unsolved | AnswerStatus::Unsure => judging.judge.task(answer).await?,
        };
        solved += u32::from(status == AnswerStatus::Solved);
        outcome.votes += u32::from(match vote(status, task) {
            Vote::Passed => true,
            Vote::Failed => false,
            Vote::Undecided => {
                outcome.undecided += 1;
                judging.seed.decides(key, about, repeat)
            }
        });
    }
    outcome.tied = outcome.votes * 2 == repeats;
    outcome.passed = if outcome.tied { judging.seed.decides(key, about, repeats) } else { outcome.votes * 2 > repeats };
    outcome.solved = solved * 2 > repeats;
    Ok(outcome)
}

async fn compare(
    question: &Judged<'_>,
    passed: bool,
    reference_passed: bool,
    judging: &Judging<'_>,
) -> Result<(Standing, bool), AskError> {
    let of = |win: bool| if win { Standing::Win } else { Standing::Lose };
    if passed != reference_passed {
        return Ok((of(passed), false));
    }
    let (ours, theirs) = match (question.answer, question.reference) {
        (Some(ours), Some(theirs)) => (ours, theirs),
        (Some(_), None) => return Ok((Standing::Win, false)),
        (None, Some(_)) => return Ok((Standing::Lose, false)),
        (None, None) => return Ok((Standing::Tie, false)),
    };
    if ours.final_answer.trim() == theirs.final_answer.trim() {
        return Ok((of(judging.seed.decides(question.key, "identical", 0)), true));
    }
    let repeats = judging.repeats.max(1);
    let mut wins = 0;
    let mut usable = 0;
    for repeat in 0..repeats {
        // Each comes first in every other repeat, since judges favour a place.
        let ours_first = repeat % 2 == 0;
        let (first, second) = if ours_first { (ours, theirs) } else { (theirs, ours) };
        if let Some(better) = judging.judge.preference(first, second).await? {
            usable += 1;
            wins += u32::from((better == Preference::First) == ours_first);
        }
    }
    Ok(match (wins * 2).cmp(&usable) {
        std::cmp::Ordering::Greater => (Standing::Win, false),
        std::cmp::Ordering::Less => (Standing::Lose, false),
        std::cmp::Ordering::Equal => (Standing::Tie, false),
    })
}

#[cfg(test)]
mod tests;
