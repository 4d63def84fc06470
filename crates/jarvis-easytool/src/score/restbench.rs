//! RestBench: whether the gold path is in the path of a plan, and how that path comes out of the plan.

use std::sync::LazyLock;

use indexmap::IndexMap;
use jarvis_plan::pattern;
use jarvis_prompt::literal::Literal;
use regex::Regex;
use serde::Serialize;

use super::Rate;
use super::matching::{Coverage, Key, match_rows};
use crate::data::RestQuestion;
use crate::log::{EndpointChoice, LoggedPath};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extracted {
    pub path: Vec<String>,
    pub warnings: Vec<String>,
}

/// The path of a plan: for each step the endpoint of its number, or of each of its numbers. −1 stands for no endpoint;
/// an unknown number is passed over with a warning.
pub fn extract_path(task_path: &[EndpointChoice], tools: &IndexMap<i64, String>) -> Extracted {
    let mut found = Extracted::default();
    for (at, step) in task_path.iter().enumerate() {
        append(&step.id, at + 1, tools, &mut found, true);
    }
    found
}

fn append(id: &Literal, step: usize, tools: &IndexMap<i64, String>, found: &mut Extracted, whole: bool) {
    let number = match id {
        Literal::Int(int) => i64::try_from(int).ok(),
        Literal::Float(float) if float.fract() == 0.0 && float.abs() < 1e15 => Some(*float as i64),
        Literal::Text(text) => text.trim().parse().ok(),
        Literal::List(ids) if whole => {
            return ids.iter().for_each(|id| append(id, step, tools, found, false));
        }
        _ => None,
    };
    match number {
        Some(-1) => {}
        Some(number) => match tools.get(&number) {
            Some(usage) => found.path.push(usage.clone()),
            None => found.warnings.push(format!("step {step}: there is no tool {number}")),
        },
        None => found.warnings.push(format!("step {step}: {id} is no number of a tool")),
    }
}

static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{[^}]*\}"));

/// A path in the form in which paths are compared: no blanks at the ends, one between words, `{}` for every parameter.
fn normalised(path: &[String]) -> Vec<String> {
    let words = |endpoint: &String| endpoint.split_whitespace().collect::<Vec<_>>().join(" ");
    path.iter().map(|endpoint| PLACEHOLDER.replace_all(&words(endpoint), "{}").into_owned()).collect()
}

/// Whether `gold` is in `path`, in order, with gaps allowed.
fn is_subsequence(gold: &[String], path: &[String]) -> bool {
    let mut path = path.iter();
    gold.iter().all(|wanted| path.any(|endpoint| endpoint == wanted))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Verdict {
    /// The gold path is in it, in order; both normalised.
    pub correct_path: bool,
    /// It is the gold path.
    pub exact: bool,
    /// The gold path is in it without gaps.
    pub contiguous: bool,
    /// The gold path is in it, both as they are written.
    pub untrimmed: bool,
}

impl Verdict {
    pub fn of(gold: &[String], path: &[String]) -> Verdict {
        let (wanted, found) = (normalised(gold), normalised(path));
        Verdict {
            correct_path: is_subsequence(&wanted, &found),
            exact: wanted == found,
            contiguous: wanted.is_empty() || found.windows(wanted.len()).any(|window| window == wanted),
            untrimmed: is_subsequence(gold, path),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    pub id: usize,
    pub question: String,
    pub gold: Vec<String>,
    pub path: Vec<String>,
    pub missing: bool,
    #[serde(flatten)]
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RestbenchScore {
    #[serde(flatten)]
    pub coverage: Coverage,
    /// See [`Verdict::correct_path`]. The figure to quote.
    pub correct_path: Rate,
    pub exact: Rate,
    pub contiguous: Rate,
    pub untrimmed: Rate,
    /// How many endpoints a correct path has beyond the gold ones, on average; none where no path is correct.
    pub mean_extra_calls: Option<f64>,
    #[serde(skip)]
    pub questions: Vec<Judged>,
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Scores a log against the data. A row without a path has the one that follows from its plan and the tools; with no
/// tools its path is empty, and a warning says so.
pub fn score(questions: &[RestQuestion], log: &[LoggedPath], tools: Option<&IndexMap<i64, String>>) -> RestbenchScore {
    let texts: Vec<&str> = questions.iter().map(|question| question.query.as_str()).collect();
    let keys = log.iter().map(|row| Key { number: row.number, question: &row.question });
    let matched = match_rows(&texts, keys);
    let mut warnings = Vec::new();
    let mut judged = Vec::with_capacity(questions.len());
    for (at, (question, row)) in questions.iter().zip(&matched.rows).enumerate() {
        let row = row.and_then(|row| log.get(row));
        let path = match row.map(|row| (&row.path, tools)) {
            None => Vec::new(),
            Some((Some(path), _)) => path.clone(),
            Some((None, None)) => {
                warnings.push(format!("question {}: the log has no path, and no tools are given", at + 1));
                Vec::new()
            }
            Some((None, Some(tools))) => {
                let found = extract_path(row.map_or(&[], |row| &row.task_path), tools);
                warnings.extend(found.warnings.into_iter().map(|text| format!("question {}: {text}", at + 1)));
                found.path
            }
        };
        judged.push(Judged {
            id: at + 1,
            question: question.query.clone(),
            verdict: row.map_or_else(Verdict::default, |_| Verdict::of(&question.solution, &path)),
            gold: question.solution.clone(),
            missing: row.is_none(),
            path,
        });
    }
    let rate = |of: fn(&Verdict) -> bool| Rate::of(&judged, |question| of(&question.verdict));
    let correct: Vec<&Judged> = judged.iter().filter(|question| question.verdict.correct_path).collect();
    let extra: usize = correct.iter().map(|question| question.path.len() - question.gold.len()).sum();
    RestbenchScore {
        correct_path: rate(|verdict| verdict.correct_path),
        exact: rate(|verdict| verdict.exact),
        contiguous: rate(|verdict| verdict.contiguous),
        untrimmed: rate(|verdict| verdict.untrimmed),
        mean_extra_calls: (!correct.is_empty()).then(|| extra as f64 / correct.len() as f64),
        coverage: matched.into(),
        questions: judged,
        warnings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('|').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn paths_are_judged() {
        // correct, exact, contiguous, untrimmed.
        for (gold, found, expected) in [
            ("GET /a|GET /b/{id}", "GET /a|GET /b/{id}", "xxxx"),
            ("GET /a |GET /b/{id}", "GET /a|GET /b/{movie_id}", "xxx."),
            ("GET /a|GET /b", "GET /a|GET /c|GET /b", "x..x"),
            ("GET /a|GET /b", "GET /c|GET /a|GET  /b|GET /d", "x.x."),
            ("GET /a|GET /b", "GET /b|GET /a", "...."),
            ("GET /a|GET /a", "GET /a", "...."),
            ("GET /a", "", "...."),
            ("GET /b/{id", "GET /b/{id", "xxxx"),
        ] {
            let verdict = Verdict::of(&path(gold), &path(found));
            let told: String = [verdict.correct_path, verdict.exact, verdict.contiguous, verdict.untrimmed]
                .map(|yes| if yes { 'x' } else { '.' })
                .iter()
                .collect();
            assert_eq!(told, expected, "{gold} in {found}");
        }
    }

    #[test]
    fn paths_come_out_of_plans() {
        let tools: IndexMap<i64, String> = [(1, "GET /a".to_owned()), (2, "GET /b".to_owned())].into();
        for (ids, expected, warnings) in [
            ("[1, -1, 2]", "GET /a|GET /b", ""),
            ("[\"2\", [1, \"-1\", 2], 1.0]", "GET /b|GET /a|GET /b|GET /a", ""),
            ("[7, null, 1]", "GET /a", "step 1: there is no tool 7|step 2: null is no number of a tool"),
            (
                "[[[1]], \"x\", 1.5]",
                "",
                "step 1: [1] is no number of a tool|step 2: \"x\" is no number of a tool|step 3: 1.5 is no number of a tool",
            ),
            ("[]", "", ""),
        ] {
            let ids = Literal::parse(ids).unwrap();
            let steps: Vec<EndpointChoice> = ids
                .as_list()
                .unwrap()
                .iter()
                .map(|id| EndpointChoice { task: String::new(), id: id.clone() })
                .collect();
            let found = extract_path(&steps, &tools);
            assert_eq!((found.path.join("|"), found.warnings.join("|")), (expected.to_owned(), warnings.to_owned()));
        }
    }
}
