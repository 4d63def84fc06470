//! Retries: how often, after which pause, and what `Retry-After` asks for.

use std::time::{Duration, SystemTime};

use backon::{ExponentialBuilder, Retryable};
use reqwest::header::HeaderMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// Retries after the first attempt, 2 by default; 0 turns them off.
    pub max: usize,
    /// Doubled at each retry and lengthened by a random share of itself, so that clients that failed together do not
    /// return together; 0.5 s by default.
    pub first_pause: Duration,
    /// 30 s by default.
    pub longest_pause: Duration,
}

impl Default for Retries {
    fn default() -> Retries {
        Retries { max: 2, first_pause: Duration::from_millis(500), longest_pause: Duration::from_secs(30) }
    }
}

impl Retries {
    /// Makes attempts until one succeeds or none is left. `pause` is given a failure and the scheduled pause, and returns
    /// the pause to take, or `None` when the failure is final.
    ///
    /// # Errors
    /// The last failure.
    pub async fn run<T, E, F>(
        &self,
        attempt: impl FnMut() -> F,
        mut pause: impl FnMut(&E, Duration) -> Option<Duration>,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let schedule = ExponentialBuilder::default()
            .with_min_delay(self.first_pause)
            .with_max_delay(self.longest_pause)
            .with_max_times(self.max)
            .with_jitter();
        attempt.retry(schedule).adjust(|error, scheduled| pause(error, scheduled?)).await
    }
}

/// The pause that `Retry-After` (seconds or an HTTP date) or `retry-after-ms` asks for.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str, unit: f64| {
        let value: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(value * unit).ok()
    };
    if let Some(pause) = text("retry-after-ms").and_then(|text| seconds(text, 0.001)) {
        return Some(pause);
    }
    let text = text("retry-after")?;
    if let Some(pause) = seconds(text, 1.0) {
        return Some(pause);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // A date in the past means now.
    Some(date.duration_since(now).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;
    use reqwest::header::HeaderName;

    use super::*;

    #[test]
    fn retry_after_is_read() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (name, value, expected) in rows::<(String, String, Option<u128>)>(include_str!("retry.json"), "retry_after")
        {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::try_from(&name).unwrap(), value.parse().unwrap());
            assert_eq!(retry_after(&headers, now).map(|pause| pause.as_millis()), expected, "{name}: {value}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_end_when_the_failure_is_final_or_none_is_left() {
        // The failure of each attempt is its number; `last` is the number of the attempt that succeeds.
        let check = async |max, last, is_final: Option<u32>| {
            let (mut made, mut pauses) = (0, Vec::new());
            let retries = Retries { max, first_pause: Duration::from_secs(1), longest_pause: Duration::from_secs(2) };
            let attempt = || {
                made += 1;
                std::future::ready(if made == last { Ok(made) } else { Err(made) })
            };
            let result = retries.run(attempt, |failure, scheduled| {
                pauses.push(scheduled.as_secs());
                (Some(*failure) != is_final).then_some(Duration::from_secs(3600))
            });
            (result.await, pauses.len())
        };
        assert_eq!(check(2, 1, None).await, (Ok(1), 0));
        assert_eq!(check(2, 3, None).await, (Ok(3), 2));
        assert_eq!(check(2, 4, None).await, (Err(3), 2));
        assert_eq!(check(0, 4, None).await, (Err(1), 0));
        assert_eq!(check(9, 4, Some(2)).await, (Err(2), 2));
    }

    #[tokio::test(start_paused = true)]
    async fn scheduled_pauses_double_up_to_the_longest() {
        let mut pauses = Vec::new();
        let retries = Retries { max: 4, first_pause: Duration::from_secs(1), longest_pause: Duration::from_secs(3) };
        let failed: Result<(), ()> = retries
            .run(
                || std::future::ready(Err(())),
                |(), scheduled| {
                    pauses.push(scheduled.as_secs_f64());
                    Some(scheduled)
                },
            )
            .await;
        assert_eq!(failed, Err(()));
        // Jitter adds at most the pause itself.
        for (pause, least) in pauses.iter().zip([1.0, 2.0, 3.0, 3.0]) {
            assert!((least..=2.0 * least).contains(pause), "{pauses:?}");
        }
        assert_eq!(pauses.len(), 4);
    }
}
