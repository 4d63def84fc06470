//! Failed attempts, and which of them are worth a retry. The client's only layer of retries.

use std::time::Duration;

use crate::model::ChatError;

#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ChatError,
    pub(crate) transient: bool,
    pub(crate) retry_after: Option<Duration>,
    /// The body of a 400 or 422, which may be about a field that the call can do without.
    pub(crate) refusal: Option<String>,
}

impl Failure {
    pub(crate) fn lasting(error: ChatError) -> Failure {
        Failure { error, transient: false, retry_after: None, refusal: None }
    }

    pub(crate) fn transient(error: ChatError) -> Failure {
        Failure { error, transient: true, retry_after: None, refusal: None }
    }
}

pub(crate) fn is_transient(status: u16) -> bool {
    match status {
        408 | 429 => true,
        501 | 505 => false,
        status => (500..600).contains(&status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transient_statuses() {
        let transient: Vec<u16> = (100..600).filter(|status| is_transient(*status)).collect();
        assert!([408, 429, 500, 502, 503, 504, 529].iter().all(|status| transient.contains(status)));
        assert!([200, 302, 400, 401, 404, 422, 501].iter().all(|status| !transient.contains(status)));
    }
}
