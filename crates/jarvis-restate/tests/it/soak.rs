//! Thousands of runs while workers and the host of runs are killed: nothing is lost, nothing doubled. Only where
//! `JARVIS_RESTATE_SOAK` says how many runs; `JARVIS_KILL_SEED` says who is killed when.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use futures::{StreamExt, stream};
use jarvis_plan::{Request, RunId};
use jarvis_restate::{Error, RunEnd, RunInput, RunStatus};

use crate::far::Far;
use crate::node::{Line, Node, planned};
use crate::world::World;

/// Runs that go on at once.
const AT_ONCE: usize = 128;

/// A number that follows from a seed, below a bound.
fn chance(seed: u64, nth: u64, below: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, nth).hash(&mut hasher);
    hasher.finish() % below
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Starts a run and waits for its end, through whatever is away meanwhile.
async fn carried_out(world: &World, nth: u64, input: &RunInput) -> RunEnd {
    let run = RunId(format!("soak-{nth}"));
    loop {
        match world.client.start(&run, input).await {
            Ok(_) => break,
            Err(Error::Unreachable { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{run}: {error}"),
        }
    }
    loop {
        match world.client.attach(&run).await {
            Ok(end) => return end,
            Err(Error::Unreachable { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{run}: {error}"),
        }
    }
}

/// The resident memory of a process in MB.
fn memory(node: &Node) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", node.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0) / 1_000
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_doubled_over_many_kills() {
    let Some(runs) = number("JARVIS_RESTATE_SOAK") else { return };
    let seed = number("JARVIS_KILL_SEED").unwrap_or(1);
    let Some(world) = World::new(Far::echo().await).await else { return };
    let mut nodes = [world.worker(&["a"]).await, world.worker(&["b!"]).await, world.host().await];
    let plan = [Line::new("x", "a", &[]), Line::new("y", "b", &["x"]).allowed(), Line::new("z", "a", &["y"])];
    let input = RunInput::new(Request::new("a plan")).with_plan(planned(&plan));
    let (began, mut kills, mut ended, mut next) = (Instant::now(), 0, 0, 100);
    let mut ends = stream::iter(0..runs).map(|nth| carried_out(&world, nth, &input)).buffer_unordered(AT_ONCE);
    while let Some(end) = ends.next().await {
        assert_eq!((end.status, end.succeeded), (RunStatus::Answered, 3), "seed {seed}: {end:?}");
        ended += 1;
        if ended == next {
            let victim = &mut nodes[chance(seed, kills, 3) as usize];
            victim.kill().await;
            victim.again().await;
            kills += 1;
            next += 50 + chance(seed, kills + 1_000_000, 250);
        }
    }
    drop(ends);
    let counts = world.far.counts();
    let (mut again, mut writes) = (0, 0);
    for nth in 0..runs {
        for step in ["0", "1", "2", "answer"] {
            let times = counts.get(&format!("soak-{nth}/{step}")).copied().unwrap_or(0);
            assert!(times >= 1, "seed {seed}: step {step} of run {nth} was not done");
            again += times - 1;
            writes += usize::from(step == "1");
        }
    }
    // Of a process that dies what it had under way is done again, a write with the same key.
    assert_eq!(counts.len() as u64, runs * 4, "a step has one key");
    assert!(
        again <= usize::try_from(kills).unwrap_or(usize::MAX) * 64,
        "{again} steps were done again over {kills} kills"
    );
    let memories = nodes.each_ref().map(memory);
    println!(
        "{runs} runs in {:.0} s, {kills} kills, {again} of {} steps done again, {writes} writes under one key each; MB: {memories:?}",
        began.elapsed().as_secs_f64(),
        runs * 4,
    );
}
