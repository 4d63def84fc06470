//! Outcomes that are kept before anything follows from them, and runs that go on from what was kept.

use std::sync::atomic::AtomicU64;

use jarvis_events::{Journal, Memory, Past, Written};
use jarvis_plan::Event;
use proptest::prelude::*;
use tokio::sync::watch;

use super::cast::{Act, Cast, Role, paint, run};
use super::*;
use crate::{Events, NotWritten};

/// A journal that keeps nothing before it is told to, and then so many times.
#[derive(Debug)]
struct Slow {
    allowed: watch::Sender<u64>,
    asked: AtomicU64,
    fails: bool,
}

impl Journal for Slow {
    fn append(&self, _: &Event) {}

    fn written<'a>(&'a self, _: &'a jarvis_plan::RunId) -> Written<'a> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let mut allowed = self.allowed.subscribe();
        Box::pin(async move {
            let _ = allowed.wait_for(|allowed| *allowed > turn).await;
            if self.fails { Err(NotWritten::Lost("the disk is full".to_owned())) } else { Ok(()) }
        })
    }
}

fn slow(fails: bool) -> Arc<Slow> {
    Arc::new(Slow { allowed: watch::Sender::new(0), asked: AtomicU64::new(0), fails })
}

fn engine_kept(cast: &Arc<Cast>, journal: Arc<dyn Journal>, past: Past) -> Engine {
    let (events, _) = Events::resumed(jarvis_plan::RunId("run".to_owned()), past);
    events.kept_in(journal);
    events.emit(EventKind::run_started("test", jarvis_plan::Request::new("paint"), None));
    Engine::shared(cast.clone()).selector(cast.clone()).events(events).limits(Limits::default())
}

#[tokio::test(start_paused = true)]
async fn nothing_follows_from_an_outcome_before_it_is_kept() {
    let cast = Cast::new(vec![Role::giving(), Role::giving()]);
    let journal = slow(false);
    let engine = engine_kept(&cast, Arc::clone(&journal) as Arc<dyn Journal>, Past::default());
    let told = Mutex::new(Vec::new());
    let told = &told;
    let tell = move |outcome: &Outcome| told.lock().expect("no panic").push(outcome.id);
    let running = run(vec![paint(0, &[]), paint(1, &[0])], engine, tell);
    tokio::pin!(running);
    assert!(tokio::time::timeout(Duration::from_secs(60), &mut running).await.is_err());
    assert_eq!(performed(&cast), [0], "the second waits for what the first gave to be kept");
    journal.allowed.send_replace(u64::MAX);
    let outcomes = running.await;
    assert!(outcomes.iter().all(Outcome::succeeded));
    assert_eq!(*told.lock().expect("no panic"), [TaskId(0), TaskId(1)]);
}

#[tokio::test]
async fn a_run_whose_outcomes_cannot_be_kept_ends() {
    let cast = Cast::new(vec![Role::giving(), Role::giving()]);
    let journal = slow(true);
    journal.allowed.send_replace(u64::MAX);
    let engine = engine_kept(&cast, Arc::clone(&journal) as Arc<dyn Journal>, Past::default());
    let outcomes = run(vec![paint(0, &[]), paint(1, &[0])], engine, |_| {}).await;
    assert_eq!(performed(&cast), [0]);
    let error = outcomes[1].error.clone().expect("it was not performed");
    assert_eq!(error.code, ErrorCode::Internal);
    assert!(error.message.contains("the disk is full"), "{error}");
}

fn performed(cast: &Cast) -> Vec<u32> {
    cast.seen().tries.iter().map(|(id, _)| id.0).collect()
}

/// Graphs of up to eight tasks: for each, what it needs of those before it, and whether it fails.
fn graphs() -> impl Strategy<Value = Vec<(Vec<u32>, bool)>> {
    prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 0..3), prop::bool::weighted(0.2)), 1..8)
        .prop_map(|rows| {
            let of = |(at, (needs, fails)): (usize, (Vec<prop::sample::Index>, bool))| {
                let needs: Vec<u32> = needs.iter().filter(|_| at > 0).map(|need| need.index(at) as u32).collect();
                (needs, fails)
            };
            rows.into_iter().enumerate().map(of).collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Whatever the graph and wherever it is cut off: what was kept is not done again, and it ends as it would have.
    #[test]
    fn a_graph_goes_on_from_what_was_kept(rows in graphs(), cut in any::<prop::sample::Index>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        runtime.block_on(async {
            let cast = || Cast::new(rows.iter().map(|(_, fails)| match fails {
                true => Role::trying(&[Act::Fail(ErrorCode::InvalidInput)]),
                false => Role::giving(),
            }).collect());
            let tasks = || rows.iter().zip(0..).map(|((needs, _), id)| paint(id, needs)).collect::<Vec<Task>>();
            let whole = Arc::new(Memory::new());
            let undisturbed = cast();
            let ended = run(tasks(), engine_kept(&undisturbed, keeping(&whole), Past::default()), |_| {}).await;
            let most = cut.index(whole.events().len());
            let (first, journal) = (cast(), Arc::new(Memory::ending_after(most)));
            let cut_off = run(tasks(), engine_kept(&first, keeping(&journal), Past::default()), |_| {});
            let mut seen = Vec::new();
            tokio::select! {
                biased;
                () = journal.ended() => {}
                _ = cut_off => {}
            }
            let past = Past::of(&journal.events()).expect("it is readable");
            let kept: Vec<u32> = past.last_outcomes().map(|outcome| outcome.id.0).collect();
            let (second, rest) = (cast(), Arc::new(Memory::new()));
            let gone_on = run(tasks(), engine_kept(&second, keeping(&rest), past), |outcome| seen.push(outcome.id)).await;
            let told = |outcomes: &[Outcome]| outcomes.iter().map(|o| (o.id, o.status, o.output.clone())).collect::<Vec<_>>();
            assert_eq!(told(&gone_on), told(&ended));
            assert!(performed(&second).iter().all(|id| !kept.contains(id)), "{:?} of {kept:?}", performed(&second));
            seen.sort_unstable();
            assert_eq!(seen, gone_on.iter().map(|outcome| outcome.id).collect::<Vec<_>>(), "each is told once");
        });
    }
}

fn keeping(journal: &Arc<Memory>) -> Arc<dyn Journal> {
    Arc::clone(journal) as Arc<dyn Journal>
}
