//! Which failed attempts are worth repeating, and how long to wait before. The client's only layer of repeats.

use std::time::{Duration, SystemTime};

use backon::ExponentialBuilder;
use reqwest::header::HeaderMap;

use crate::config::Retries;
use crate::model::ChatError;

/// A failed attempt.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the caller is told if nothing helps.
    pub(crate) error: ChatError,
    /// Whether the cause may pass.
    pub(crate) passing: bool,
    /// What `Retry-After` asks for.
    pub(crate) wait: Option<Duration>,
    /// The body of a 400 or 422, which may be about a field that the call can do without.
    pub(crate) refusal: Option<String>,
}

impl Failure {
    /// A failure that a repeat would not mend.
    pub(crate) fn lasting(error: ChatError) -> Failure {
        Failure { error, passing: false, wait: None, refusal: None }
    }

    /// A failure whose cause may pass.
    pub(crate) fn passing(error: ChatError) -> Failure {
        Failure { error, passing: true, wait: None, refusal: None }
    }
}

/// Whether a status tells of a passing trouble.
pub(crate) fn is_passing(status: u16) -> bool {
    match status {
        408 | 429 => true,
        501 | 505 => false,
        status => (500..600).contains(&status),
    }
}

/// The pauses between attempts.
pub(crate) fn pauses(retries: &Retries) -> ExponentialBuilder {
    ExponentialBuilder::default()
        .with_min_delay(retries.first_pause)
        .with_max_delay(retries.longest_pause)
        .with_max_times(retries.max)
        .with_jitter()
}

/// Decides about one more attempt: `usual` is the pause that the schedule gives, `None` when its attempts are used up.
pub(crate) fn pause(failure: &Failure, usual: Option<Duration>, longest: Duration) -> Option<Duration> {
    let usual = usual?;
    Some(failure.wait.unwrap_or(usual).min(longest))
}

/// What `Retry-After` (seconds or an HTTP date) or `retry-after-ms` asks for.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str, unit: f64| {
        let value: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(value * unit).ok()
    };
    if let Some(wait) = text("retry-after-ms").and_then(|text| seconds(text, 0.001)) {
        return Some(wait);
    }
    let text = text("retry-after")?;
    if let Some(wait) = seconds(text, 1.0) {
        return Some(wait);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (name, value, expected) in [
            ("retry-after", "3", Some(3000)),
            ("retry-after", " 0 ", Some(0)),
            ("retry-after", "1.5", Some(1500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "1e99", None),
            ("x-other", "3", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(retry_after(&headers, now).map(|wait| wait.as_millis()), expected, "{name}: {value}");
        }
    }

    #[test]
    fn pauses_are_capped_and_end() {
        let longest = Duration::from_secs(30);
        let mut failure = Failure::passing(ChatError::RateLimited { message: String::new() });
        let usual = Some(Duration::from_secs(1));
        assert_eq!(pause(&failure, usual, longest), usual);
        failure.wait = Some(Duration::from_secs(7));
        assert_eq!(pause(&failure, usual, longest), failure.wait);
        failure.wait = Some(Duration::from_secs(3600));
        assert_eq!(pause(&failure, usual, longest), Some(longest));
        assert_eq!(pause(&failure, None, longest), None);
    }

    #[test]
    fn passing_statuses() {
        let passing: Vec<u16> = (100..600).filter(|status| is_passing(*status)).collect();
        assert!([408, 429, 500, 502, 503, 504, 529].iter().all(|status| passing.contains(status)));
        assert!([200, 302, 400, 401, 404, 422, 501].iter().all(|status| !passing.contains(status)));
    }
}
