//! Sizes, times and tables as people read them, and questions.

use std::io::{BufRead, IsTerminal, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::Failure;
use crate::printer::harmless;
use crate::progress::without_bars;

/// `246 MB`: decimal units, as sellers of disks and the Hub have them.
pub(super) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    if value < 9.95 && unit != "B" { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// `3 days ago`; `seconds` since 1970.
pub(super) fn ago(seconds: Option<u64>) -> String {
    let Some(at) = seconds else { return "never".to_owned() };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let passed = now.saturating_sub(at);
    let (number, unit) = match passed {
        0..60 => return "just now".to_owned(),
        60..3600 => (passed / 60, "minute"),
        3600..86_400 => (passed / 3600, "hour"),
        _ => (passed / 86_400, "day"),
    };
    format!("{} ago", jarvis_plan::export::plural(number as usize, unit))
}

/// Lines whose columns are as wide as their widest cell; the last is not padded.
pub(super) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Asks at the terminal. Where there is none, only `-y` agrees.
pub(super) fn confirm(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(
            Failure::usage(format!("{question} needs a yes, and there is no terminal to ask at")).hint("add -y")
        );
    }
    let ask = || answer(question, &mut std::io::stdin().lock(), &mut std::io::stderr());
    if without_bars(ask) { Ok(()) } else { Err(Failure::work("nothing was done")) }
}

fn answer(question: &str, input: &mut impl BufRead, output: &mut impl Write) -> bool {
    let _ = write!(output, "{}? [y/N] ", harmless(question)).and_then(|()| output.flush());
    let mut line = String::new();
    let read = input.read_line(&mut line).unwrap_or(0);
    read > 0 && matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (246_100_000, "246 MB"),
            (999_600_000, "1.0 GB"),
            (2_497_281_312, "2.5 GB"),
            (u64::MAX, "18446744 TB"),
        ] {
            assert_eq!(size(bytes), text, "{bytes}");
        }
        assert_eq!((ago(None), ago(Some(0)).ends_with(" days ago")), ("never".to_owned(), true));
    }

    #[test]
    fn only_yes_is_yes() {
        for (typed, agreed) in [("y\n", true), ("YES\n", true), ("\n", false), ("", false), ("no\n", false)] {
            assert_eq!(answer("Pull", &mut typed.as_bytes(), &mut Vec::new()), agreed, "{typed:?}");
        }
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["a".to_owned(), "bb".to_owned()], vec!["ccc".to_owned(), String::new()]];
        assert_eq!(columns(&rows), ["a    bb", "ccc"]);
    }
}
