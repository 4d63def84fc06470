//! Questions at the terminal. Enter takes the default that a question shows.

use std::io::{BufRead, IsTerminal, Write};

use crate::failure::Failure;
use crate::printer::harmless;

/// Whether stdin and stderr are a terminal.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// A conversation over any reader and writer, so that tests need no terminal.
pub(crate) struct Dialogue<'a> {
    pub(crate) input: &'a mut dyn BufRead,
    pub(crate) output: &'a mut dyn Write,
}

impl Dialogue<'_> {
    pub(crate) fn say(&mut self, text: &str) {
        // A terminal that went away is noticed when the answer is read.
        let _ = writeln!(self.output, "{}", harmless(text));
    }

    /// A line; empty for Enter alone.
    ///
    /// # Errors
    /// When the input has ended.
    fn line(&mut self, question: &str) -> Result<String, Failure> {
        let _ = write!(self.output, "{}", harmless(question)).and_then(|()| self.output.flush());
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) => Err(closed()),
            Ok(_) => Ok(line.trim().to_owned()),
            Err(error) => Err(Failure::work(error)),
        }
    }

    /// # Errors
    /// When the input has ended.
    pub(crate) fn yes(&mut self, question: &str, default: bool) -> Result<bool, Failure> {
        let choices = if default { "[Y/n]" } else { "[y/N]" };
        loop {
            match self.line(&format!("{question} {choices} "))?.to_lowercase().as_str() {
                "" => return Ok(default),
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => self.say("Type y or n."),
            }
        }
    }

    /// A text that `check` accepts; what it says of any other is shown, and the question comes again.
    ///
    /// # Errors
    /// When the input has ended.
    pub(crate) fn text<T>(
        &mut self,
        question: &str,
        default: Option<&str>,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        let shown = default.map_or_else(String::new, |default| format!(" [{default}]"));
        loop {
            let typed = self.line(&format!("{question}{shown}: "))?;
            let typed = if typed.is_empty() { default.unwrap_or_default() } else { &typed };
            match check(typed) {
                Ok(value) => return Ok(value),
                Err(why) => self.say(&why),
            }
        }
    }

    /// The index of one of the options, which are numbered from 1.
    ///
    /// # Errors
    /// When the input has ended.
    pub(crate) fn choice(&mut self, question: &str, options: &[String], default: usize) -> Result<usize, Failure> {
        self.say(question);
        for (index, option) in options.iter().enumerate() {
            self.say(&format!("  {}. {option}", index + 1));
        }
        self.text("Number", Some(&(default + 1).to_string()), |typed| {
            let number = typed.parse::<usize>().ok().filter(|number| (1..=options.len()).contains(number));
            number.map(|number| number - 1).ok_or_else(|| format!("Type a number from 1 to {}.", options.len()))
        })
    }
}

/// Asks at the terminal whether to go on.
///
/// # Errors
/// Where there is no terminal or it is closed, and when the answer is no.
pub(crate) fn confirm(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !can_ask() {
        let error = format!("nothing was done: there is no terminal to ask at ({question})");
        return Err(Failure::usage(error).hint("add --yes"));
    }
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr());
    let mut dialogue = Dialogue { input: &mut input, output: &mut output };
    if dialogue.yes(question, false)? { Ok(()) } else { Err(Failure::work("nothing was done")) }
}

fn closed() -> Failure {
    Failure::work("the terminal was closed; nothing was done")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a question makes of what is typed, and what is shown meanwhile.
    fn check<T>(typed: &str, ask: impl Fn(&mut Dialogue<'_>) -> Result<T, Failure>) -> (Option<T>, String) {
        let (mut input, mut output) = (typed.as_bytes(), Vec::new());
        let answer = ask(&mut Dialogue { input: &mut input, output: &mut output }).ok();
        (answer, String::from_utf8(output).expect("UTF-8"))
    }

    #[test]
    fn enter_takes_the_default_and_nonsense_is_asked_again() {
        for (typed, default, answer) in [
            ("\n", true, Some(true)),
            ("\n", false, Some(false)),
            ("YES\n", false, Some(true)),
            ("perhaps\nn\n", true, Some(false)),
            ("perhaps\n", true, None),
            ("", true, None),
        ] {
            assert_eq!(check(typed, |dialogue| dialogue.yes("Go?", default)).0, answer, "{typed:?}");
        }
        let options = ["one".to_owned(), "two".to_owned()];
        for (typed, answer) in [("\n", Some(1)), ("1\n", Some(0)), ("0\n3\ntwo\n2\n", Some(1)), ("9\n", None)] {
            let (chosen, shown) = check(typed, |dialogue| dialogue.choice("Which?", &options, 1));
            assert_eq!(chosen, answer, "{typed:?}");
            assert!(shown.starts_with("Which?\n  1. one\n  2. two\nNumber [2]: "), "{shown}");
        }
        let even = |typed: &str| if typed.len().is_multiple_of(2) { Ok(typed.to_owned()) } else { Err("Odd.".into()) };
        for (typed, answer, shown) in [
            ("ab\n", Some("ab"), "Name [four]: "),
            ("\n", Some("four"), "Name [four]: "),
            ("abc\n \n", Some("four"), "Name [four]: Odd.\nName [four]: "),
        ] {
            let (text, said) = check(typed, |dialogue| dialogue.text("Name", Some("four"), even));
            assert_eq!((text.as_deref(), said.as_str()), (answer, shown), "{typed:?}");
        }
    }
}
