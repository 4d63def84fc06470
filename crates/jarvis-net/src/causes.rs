//! An error and what caused it.

use std::error::Error;

/// The error and its causes, the innermost last.
pub fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// The innermost cause, which is the error itself where nothing caused it.
pub fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    chain(error).last().unwrap_or(error)
}

/// The messages of an error and its causes, without those that the message before already ends with.
pub fn messages(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for message in chain(error).map(ToString::to_string) {
        if messages.last().is_none_or(|before| !before.ends_with(&message)) {
            messages.push(message);
        }
    }
    messages
}

/// An error with its causes, in one sentence.
pub fn in_one(error: &(dyn Error + 'static)) -> String {
    messages(error).join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{said}")]
    struct Told {
        said: &'static str,
        source: Option<Box<Told>>,
    }

    #[test]
    fn each_cause_is_said_once() {
        for (said, expected) in [
            (&["no file"][..], "no file"),
            (&["cannot read", "no file"], "cannot read: no file"),
            (&["cannot read: no file", "no file"], "cannot read: no file"),
            (&["cannot start", "cannot read: no file", "no file"], "cannot start: cannot read: no file"),
        ] {
            let nested = |source, said: &&'static str| Some(Box::new(Told { said, source }));
            let error = said.iter().rev().fold(None, nested).expect("an error");
            assert_eq!(in_one(&*error), expected);
            assert_eq!(innermost(&*error).to_string(), said[said.len() - 1]);
        }
    }
}
