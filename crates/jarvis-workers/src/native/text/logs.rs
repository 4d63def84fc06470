//! Logs: lines that each begin with a time and name a level. How many lines have a level is counted; nothing else is.

use std::sync::LazyLock;

use jarvis_plan::{Language, pattern};
use regex::Regex;

use super::counts::{lines, plain};
use super::segment::{Stemmers, fold};

/// Fewer lines show no pattern.
const FEWEST_LINES: usize = 3;
/// The place of the level among the words of a line.
const LEVEL_WITHIN: usize = 6;

// A test runs both.
static TIME_FIRST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\W?(?:\d{2,4}[-/.:]\d{1,2}[-/.:]\d{1,4}|[A-Z][a-z]{2} +\d{1,2} \d{2}:\d{2})"));
static HOW_MANY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:please |tell me )?(?:how many|count(?: up)?(?: all)?(?: the)?|(?:what is )?the number of) (?P<what>\p{L}+)(?: (?:messages?|lines?|entries|events?))?(?: (?:are|is|were|was|there|in|does|do|did|it|the|this|that|log|logs|file|have|has|contain|contains|logged|occur|occurred|appear|happen|happened|altogether|total))*$|^(?:посчитай )?сколько (?P<ru>\p{L}+)(?: (?:в|этом|логе|журнале|файле|есть|всего|было))*$",
    )
});

/// A line or two of another kind do not change what a text is.
fn nearly_all(count: usize, of: usize) -> bool {
    count * 10 >= of * 9
}

fn rows(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Whether a text is a log.
pub(super) fn is_log(text: &str) -> bool {
    let rows = rows(text);
    rows.len() >= FEWEST_LINES && nearly_all(rows.iter().filter(|row| TIME_FIRST.is_match(row)).count(), rows.len())
}

/// The level of each line: the words in capitals that stand at the same place of nearly all lines.
fn levels(text: &str) -> Option<Vec<&str>> {
    let rows = rows(text);
    (0..LEVEL_WITHIN).find_map(|at| {
        let levels: Vec<&str> = rows
            .iter()
            .filter_map(|row| row.split_whitespace().nth(at))
            .map(|word| word.trim_matches(|ch: char| !ch.is_alphabetic()))
            .filter(|word| word.len() > 2 && word.chars().all(char::is_uppercase))
            .collect();
        nearly_all(levels.len(), rows.len()).then_some(levels)
    })
}

/// How many lines of a log have the level that a question asks for: `7 lines with ERROR`.
pub(super) fn count(question: &str, text: &str) -> Option<String> {
    let asked = plain(question);
    let found = HOW_MANY.captures(&asked)?;
    let what = found.name("what").or(found.name("ru"))?.as_str();
    let levels = levels(text).filter(|_| is_log(text))?;
    let stemmers = Stemmers::new("en");
    let stem = |word: &str| stemmers.stem(&fold(word));
    let same: Vec<&str> = levels.into_iter().filter(|level| stem(level) == stem(what)).collect();
    let level = same.first()?;
    let language = Language::of(question);
    let counted = lines(same.len(), language);
    Some(language.pick(format!("{counted} with {level}"), format!("{counted} с {level}"), format!("{counted} {level}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "2024-03-01 08:19:06 INFO request served\n2024-03-01 08:09:05 WARN disk usage at 87%\n\
        2024-03-02 09:25:35 ERROR connection refused\n2024-03-02 09:26:00 ERROR job failed\n";

    #[test]
    fn lines_of_a_level_are_counted() {
        let check =
            |question: &str, want: Option<&str>| assert_eq!(count(question, LOG).as_deref(), want, "{question}");
        check("how many errors are in server.log?", Some("2 lines with ERROR"));
        check("how many errors are?", Some("2 lines with ERROR"));
        check("count the warnings", Some("1 line with WARN"));
        check("how many error messages are there", Some("2 lines with ERROR"));
        check("how many errors on 2 March?", None);
        check("how many warnings per day are in server.log?", None);
        check("how many jobs are there?", None);
        check("how many users are there?", None);
        let prose = "There were two errors.\nAn ERROR is bad.\nNobody likes errors.";
        assert_eq!(count("how many errors are there?", prose), None);
        assert!(is_log(LOG) && !is_log(prose) && !is_log("2024-03-01: we met.\nIt rained.\nWe left."));
    }
}
