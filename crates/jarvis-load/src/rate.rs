//! Many clients that each ask, wait, and ask again; and more runs than the server has places for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use bytes::Bytes;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::model::Model;
use crate::server::Server;

/// What a load came to.
pub(crate) struct Figure {
    /// Of the replies with status 200, sorted.
    times: Vec<Duration>,
    /// How often each status came; 0 stands for a broken connection.
    statuses: BTreeMap<u16, usize>,
    /// Refusals that do not say when to come again.
    without_retry: usize,
    /// A reply that was neither 200 nor a refusal.
    example: Option<String>,
    took: Duration,
    cpu: Duration,
}

impl Figure {
    fn new() -> Figure {
        Figure {
            times: Vec::new(),
            statuses: BTreeMap::new(),
            without_retry: 0,
            example: None,
            took: Duration::ZERO,
            cpu: Duration::ZERO,
        }
    }

    fn add(&mut self, other: Figure) {
        self.times.extend(other.times);
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.without_retry += other.without_retry;
        self.example = self.example.take().or(other.example);
    }

    fn note(&mut self, asked: Result<crate::client::Reply>, time: Duration) {
        let (status, said) = match asked {
            Ok(reply) => {
                if matches!(reply.status, 429 | 503) && !reply.retry_after {
                    self.without_retry += 1;
                }
                (reply.status, String::from_utf8_lossy(&reply.body).chars().take(300).collect())
            }
            Err(error) => (0, format!("{error:#}")),
        };
        *self.statuses.entry(status).or_default() += 1;
        match status {
            200 => self.times.push(time),
            429 | 503 => {}
            _ => self.example = self.example.take().or(Some(said)),
        }
    }

    /// Whether something came back that is neither success nor a proper refusal.
    pub(crate) fn broken(&self) -> bool {
        self.without_retry > 0 || self.statuses.keys().any(|status| !matches!(status, 200 | 429 | 503))
    }

    /// The statuses with their counts, and an example of what went wrong.
    pub(crate) fn statuses(&self) -> String {
        let counts: Vec<String> = self
            .statuses
            .iter()
            .map(|(status, count)| match status {
                0 => format!("{count} × broken connection"),
                status => format!("{count} × {status}"),
            })
            .collect();
        let mut text = counts.join(", ");
        if self.without_retry > 0 {
            text.push_str(&format!("; {} refusals without Retry-After", self.without_retry));
        }
        if let Some(example) = &self.example {
            text.push_str(&format!("; such as: {example}"));
        }
        text
    }

    /// Replies of any status.
    pub(crate) fn count(&self) -> usize {
        self.statuses.values().sum()
    }

    fn quantile(&self, part: f64) -> f64 {
        let at = (self.times.len() as f64 * part) as usize;
        let time = self.times.get(at.min(self.times.len().saturating_sub(1)));
        time.copied().unwrap_or_default().as_secs_f64() * 1e3
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.0} | {:.1} | {:.1} | {:.1} | {} | {:.2}",
            self.times.len() as f64 / self.took.as_secs_f64(),
            self.quantile(0.5),
            self.quantile(0.99),
            self.quantile(1.0),
            self.count() - self.times.len(),
            self.cpu.as_secs_f64() * 1e3 / self.count().max(1) as f64,
        )
    }
}

/// Asks with `clients` at a time until `requests` are sent or `time` is over.
pub(crate) async fn run(
    server: &Server,
    model: &Model,
    clients: usize,
    requests: usize,
    time: Duration,
) -> Result<Figure> {
    let body = model.request();
    let left = Arc::new(AtomicUsize::new(requests));
    let start_together = Arc::new(Barrier::new(clients + 1));
    let mut tasks = JoinSet::new();
    for _ in 0..clients {
        let mut client = Client::connect(server.address, None).await?;
        let (address, body, left, together) = (server.address, body.clone(), left.clone(), start_together.clone());
        tasks.spawn(async move {
            together.wait().await;
            let end = Instant::now() + time;
            let mut figure = Figure::new();
            let one = |left: usize| left.checked_sub(1);
            while Instant::now() < end && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one).is_ok() {
                let start = Instant::now();
                let asked = client.ask("POST", "/hugginggpt", body.clone()).await;
                let broken = asked.is_err();
                figure.note(asked, start.elapsed());
                if broken {
                    match Client::connect(address, None).await {
                        Ok(new) => client = new,
                        Err(_) => break,
                    }
                }
            }
            figure
        });
    }
    let cpu = server.cpu();
    start_together.wait().await;
    let start = Instant::now();
    let mut figure = Figure::new();
    while let Some(part) = tasks.join_next().await {
        figure.add(part?);
    }
    figure.took = start.elapsed();
    figure.cpu = server.cpu().saturating_sub(cpu);
    figure.times.sort_unstable();
    Ok(figure)
}

/// Starts `runs` runs at once with a model that holds its answer; then lets it answer. Says how the server refused what it
/// has no place for, whether it stayed awake, and what was wrong.
pub(crate) async fn overload(server: &Server, model: &Model, runs: usize) -> Result<(String, Vec<String>)> {
    let body = model.request();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..runs {
        let mut client = Client::connect(server.address, None).await?;
        let (body, tell) = (body.clone(), tell.clone());
        tasks.spawn(async move {
            let mut figure = Figure::new();
            let asked = client.ask("POST", "/hugginggpt", body).await;
            let refused = asked.as_ref().is_ok_and(|reply| matches!(reply.status, 429 | 503));
            figure.note(asked, start.elapsed());
            // The receiver outlives all of them.
            let _ = tell.send(refused);
            figure
        });
    }
    drop(tell);
    // What is refused is refused at once: when nothing has come for a second, all that stay have a place.
    let mut refused = 0;
    let mut slowest = Duration::ZERO;
    while let Ok(Some(was)) = tokio::time::timeout(Duration::from_secs(1), told.recv()).await {
        refused += usize::from(was);
        slowest = start.elapsed();
    }
    let asked = Instant::now();
    let health = Client::connect(server.address, None).await?.ask("GET", "/health", Bytes::new()).await?;
    let awake = asked.elapsed();
    model.release();
    let released = Instant::now();
    let mut figure = Figure::new();
    while let Some(part) = tasks.join_next().await {
        figure.add(part?);
    }
    let drained = released.elapsed();
    let mut wrong = Vec::new();
    if figure.broken() {
        wrong.push(figure.statuses());
    }
    if health.status != 200 {
        wrong.push(format!("/health answered {} in the middle of it", health.status));
    }
    if refused == 0 {
        wrong.push(format!("none of {runs} runs was refused"));
    }
    let text = format!(
        "{}; the last refusal after {:.0} ms; /health in {:.1} ms meanwhile; the rest done {:.0} ms after the model answered",
        figure.statuses(),
        slowest.as_secs_f64() * 1e3,
        awake.as_secs_f64() * 1e3,
        drained.as_secs_f64() * 1e3,
    );
    Ok((text, wrong))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::Figure;
    use crate::client::Reply;

    #[test]
    fn a_figure_tells_refusals_from_failures() {
        let reply = |status, retry_after| Ok(Reply { status, retry_after, body: Bytes::from_static(b"said") });
        let mut figure = Figure::new();
        for ms in 1..=100 {
            figure.note(reply(200, false), Duration::from_millis(ms));
        }
        figure.note(reply(503, true), Duration::from_secs(9));
        assert!(!figure.broken(), "{}", figure.statuses());
        assert_eq!((figure.count(), figure.quantile(0.5), figure.quantile(0.99)), (101, 51.0, 100.0));
        for wrong in [reply(429, false), reply(500, false), Err(anyhow::anyhow!("cut"))] {
            let mut broken = Figure::new();
            broken.note(wrong, Duration::ZERO);
            assert!(broken.broken(), "{}", broken.statuses());
            figure.add(broken);
        }
        let told = figure.statuses();
        assert!(told.contains("1 × broken connection") && told.contains("1 refusals without Retry-After"), "{told}");
    }
}
