//! The log-ins of browsers: random words that stand for a user's token until the log-out or the end of the server.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use jarvis_net::Secret;
use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::users::{Caller, Users};

/// The most log-ins of one user at once; the oldest ends when there is one more.
const MOST: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<VecDeque<LogIn>>);

#[derive(Debug)]
struct LogIn {
    word: String,
    caller: Caller,
    /// The token that it was traded for.
    token: Secret,
}

impl Sessions {
    pub(crate) fn open(&self, caller: Caller, token: Secret) -> String {
        let word = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_theirs = |other: &LogIn| other.caller.name() == caller.name();
        if open.iter().filter(|login| is_theirs(login)).count() >= MOST
            && let Some(oldest) = open.iter().position(is_theirs)
        {
            open.remove(oldest);
        }
        open.push_back(LogIn { word: word.clone(), caller, token });
        word
    }

    /// Who logged in with this word.
    pub(crate) fn whose(&self, word: &str) -> Option<Caller> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &str| bool::from(known.as_bytes().ct_eq(word.as_bytes()));
        open.iter().find(|login| is_it(&login.word)).map(|login| login.caller.clone())
    }

    pub(crate) fn close(&self, word: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|login| login.word != word);
    }

    /// Ends the log-ins whose token is none any more; the others are of their users as these are now.
    pub(crate) fn reload(&self, users: &Users) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain_mut(|login| match users.still(&login.token) {
            Some(caller) => {
                login.caller = caller.in_browser();
                true
            }
            None => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use jarvis_net::Secret;

    use super::{MOST, Sessions};
    use crate::options::Options;
    use crate::users::Users;

    #[test]
    fn log_ins_are_good_until_they_are_closed_or_pushed_out() {
        let (sessions, caller) = (Sessions::default(), Users::of(&Options::default()).at_home());
        let token = || Secret::new("a token").expect("a token");
        let (first, second) = (sessions.open(caller.clone(), token()), sessions.open(caller.clone(), token()));
        let holds = |word: &str| sessions.whose(word).is_some();
        assert!(first != second && first.len() == 64);
        assert!(holds(&first) && holds(&second) && !holds("") && !holds(&first[1..]));
        sessions.close(&second);
        assert!(!holds(&second));
        for _ in 0..MOST {
            sessions.open(caller.clone(), token());
        }
        assert!(!holds(&first));
    }
}
