//! The log-ins of browsers: random words that stand for the token until the log-out or the end of the server.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use subtle::ConstantTimeEq;
use uuid::Uuid;

/// The most log-ins at once; the oldest ends when there is one more.
const MOST: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<VecDeque<String>>);

impl Sessions {
    pub(crate) fn open(&self) -> String {
        let word = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() == MOST {
            open.pop_front();
        }
        open.push_back(word.clone());
        word
    }

    pub(crate) fn holds(&self, word: &str) -> bool {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().any(|known| known.as_bytes().ct_eq(word.as_bytes()).into())
    }

    pub(crate) fn close(&self, word: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| known != word);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Sessions};

    #[test]
    fn log_ins_are_good_until_they_are_closed_or_pushed_out() {
        let sessions = Sessions::default();
        let (first, second) = (sessions.open(), sessions.open());
        assert!(first != second && first.len() == 64);
        assert!(
            sessions.holds(&first) && sessions.holds(&second) && !sessions.holds("") && !sessions.holds(&first[1..])
        );
        sessions.close(&second);
        assert!(!sessions.holds(&second));
        for _ in 0..MOST {
            sessions.open();
        }
        assert!(!sessions.holds(&first));
    }
}
