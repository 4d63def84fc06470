//! A load: many requests, and the figures over all of them. For rates alone, `oha` on `POST /hugginggpt` does as well.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::model::Model;
use crate::server::{Memory, Server};

pub(crate) enum Outcome {
    Answered(Duration),
    /// Refused properly, for want of a place.
    Refused,
    /// Anything else, and what it was.
    Failed(String),
}

/// The head of the table whose rows are [`Figure`]s.
pub(crate) const HEAD: &str = "\
| load | answered | refused | per second | p50 ms | p99 ms | max ms | server CPU ms each | memory |
|---|---|---|---|---|---|---|---|---|";

/// The figures of a load; as text, a row of the table.
pub(crate) struct Figure {
    /// Of the answered requests, sorted.
    times: Vec<Duration>,
    pub(crate) refused: usize,
    failed: Vec<String>,
    took: Duration,
    cpu: Duration,
    memory: Memory,
}

impl Figure {
    pub(crate) async fn of(server: &Server, load: impl Future<Output = Result<Vec<Outcome>>>) -> Result<Figure> {
        let (start, cpu) = (Instant::now(), server.cpu()?);
        let outcomes = load.await?;
        let (took, cpu) = (start.elapsed(), server.cpu()?.saturating_sub(cpu));
        let mut figure =
            Figure { times: Vec::new(), refused: 0, failed: Vec::new(), took, cpu, memory: server.memory()? };
        for outcome in outcomes {
            match outcome {
                Outcome::Answered(time) => figure.times.push(time),
                Outcome::Refused => figure.refused += 1,
                Outcome::Failed(reason) => figure.failed.push(reason),
            }
        }
        figure.times.sort_unstable();
        Ok(figure)
    }

    pub(crate) fn count(&self) -> usize {
        self.times.len() + self.refused + self.failed.len()
    }

    /// What was neither an answer nor a proper refusal.
    pub(crate) fn faults(&self) -> Option<String> {
        let first = self.failed.first()?;
        Some(format!("{} of {} requests failed, such as: {first}", self.failed.len(), self.count()))
    }

    fn quantile(&self, part: f64) -> f64 {
        let at = (self.times.len() as f64 * part) as usize;
        // 0 when nothing was answered.
        self.times.get(at).or(self.times.last()).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} | {} | {:.0} | {:.1} | {:.1} | {:.1} | {:.2} | {}",
            self.times.len(),
            self.refused,
            self.times.len() as f64 / self.took.as_secs_f64(),
            self.quantile(0.5),
            self.quantile(0.99),
            self.quantile(1.0),
            self.cpu.as_secs_f64() * 1e3 / self.count().max(1) as f64,
            self.memory,
        )
    }
}

/// Asks with `clients` connections, each one request at a time, until `requests` are sent or `limit` has passed.
pub(crate) async fn rate(
    server: &Server,
    model: &Model,
    clients: usize,
    requests: usize,
    limit: Duration,
) -> Result<Figure> {
    let mut connected = Vec::new();
    for _ in 0..clients {
        connected.push(Client::connect(server.address, None).await?);
    }
    let left = Arc::new(AtomicUsize::new(requests));
    Figure::of(server, async {
        let end = Instant::now() + limit;
        let mut tasks = JoinSet::new();
        for mut client in connected {
            let (body, left) = (model.request(), Arc::clone(&left));
            tasks.spawn(async move {
                let mut outcomes = Vec::new();
                let one = |left: usize| left.checked_sub(1);
                while Instant::now() < end && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one).is_ok() {
                    outcomes.push(client.run(body.clone()).await);
                    if matches!(outcomes.last(), Some(Outcome::Failed(_))) {
                        break;
                    }
                }
                outcomes
            });
        }
        Ok(tasks.join_all().await.into_iter().flatten().collect())
    })
    .await
}

/// Starts `runs` runs at once with a model that holds its answer back, then lets it answer. Prints how the server refuses
/// what it has no place for, and returns what was wrong.
pub(crate) async fn overload(server: &Server, model: &Model, runs: usize) -> Result<Vec<String>> {
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    let mut outcomes = Vec::new();
    let figure = Figure::of(server, async {
        for _ in 0..runs {
            let mut client = Client::connect(server.address, None).await?;
            let body = model.request();
            tasks.spawn(async move { client.run(body).await });
        }
        // A refusal comes at once: when none has come for a second, all that remain have a place.
        let mut slowest = Duration::ZERO;
        while let Ok(Some(ended)) = tokio::time::timeout(Duration::from_secs(1), tasks.join_next()).await {
            outcomes.push(ended?);
            slowest = start.elapsed();
        }
        let asked = Instant::now();
        Client::connect(server.address, None).await?.health().await?;
        println!("the last refusal after {slowest:.2?}; /health in {:.1?} meanwhile", asked.elapsed());
        let released = Instant::now();
        model.release();
        outcomes.extend(tasks.join_all().await);
        println!("the rest done {:.2?} after the model answered\n", released.elapsed());
        Ok(outcomes)
    })
    .await?;
    println!("{HEAD}\n| {runs} at once | {figure} |");
    let unrefused = (figure.refused == 0).then(|| format!("none of {runs} runs was refused"));
    Ok(figure.faults().into_iter().chain(unrefused).collect())
}
