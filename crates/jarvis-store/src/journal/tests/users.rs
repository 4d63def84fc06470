//! What belongs to whom.

use std::time::Duration;

use jarvis_plan::Money;
use serde_json::json;

use super::*;

fn of(run: &str, user: &str) -> Event {
    let mut event = started(run);
    if let EventKind::RunStarted { user: whose, request, .. } = &mut event.kind {
        user.clone_into(whose);
        request.text = "look at /images/asked.png".to_owned();
    }
    event
}

fn made(run: &str, seq: u64, output: &str) -> Event {
    let mut event = finished(run, seq, Status::Succeeded);
    if let EventKind::TaskFinished { outcome } = &mut event.kind {
        outcome.output = Some(json!({"generated image": output}));
    }
    event
}

fn called(run: &str, seq: u64, tokens: u64) -> Event {
    let kind = EventKind::ModelCall {
        stage: "plan".into(),
        task: None,
        model: "m".into(),
        prompt_tokens: tokens,
        cached_tokens: 0,
        completion_tokens: 1,
        estimated: false,
        cost: Some(Money { amount: 0.5, currency: "USD".into() }),
        ms: 1,
        reply: String::new(),
        ok: true,
        key: String::new(),
        whole: None,
        taken_over: false,
    };
    event(run, seq, kind)
}

#[tokio::test]
async fn a_file_belongs_to_whoever_had_it_first() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    journal.own("ada", vec!["/images/sent.png".into()]).await.unwrap();
    journal.append(&of("a", "ada"));
    journal.append(&made("a", 1, "/images/made.png"));
    // bob's run speaks of what is ada's, and of what bob asked about.
    journal.append(&of("b", "bob"));
    journal.append(&made("b", 1, "/images/made.png and /images/sent.png"));
    // Whoever is the only user owns nothing by name.
    journal.append(&started("c"));
    journal.append(&made("c", 1, "/images/nobodys.png"));
    journal.flush().await.unwrap();
    journal.own("bob", vec!["/images/sent.png".into(), "/images/bobs.png".into()]).await.unwrap();
    for (user, path, is_own) in [
        ("ada", "/images/sent.png", true),
        ("ada", "/images/made.png", true),
        ("bob", "/images/sent.png", false),
        ("bob", "/images/made.png", false),
        ("bob", "/images/bobs.png", true),
        ("bob", "/images/asked.png", false),
        ("bob", "/images/nobodys.png", false),
        ("ada", "/images/unheard-of.png", false),
    ] {
        let foreign = journal.first_foreign(user, &[path.to_owned()]).unwrap();
        assert_eq!(foreign.is_none(), is_own, "{path} for {user}");
    }
    let both = ["/images/bobs.png", "/images/made.png"].map(str::to_owned);
    assert_eq!(journal.first_foreign("bob", &both).unwrap().as_deref(), Some("/images/made.png"));
    let runs = |user: &str| journal.runs_of(user, 10).unwrap().into_iter().map(|run| run.run_id.0).collect::<Vec<_>>();
    assert_eq!((runs("ada"), runs("bob"), runs("")), (vec!["a".to_owned()], vec!["b".to_owned()], vec![]));
    assert_eq!(journal.runs(10).unwrap().len(), 3);
    assert_eq!(journal.run("a").unwrap().summary.user, "ada");
}

#[tokio::test]
async fn what_a_user_took_is_summed_over_runs_and_since_a_time() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    for event in [of("a", "ada"), called("a", 1, 10), called("a", 2, 20), of("b", "ada"), called("b", 3, 1)] {
        journal.append(&event);
    }
    for event in [of("c", "bob"), started("d"), called("d", 1, 9)] {
        journal.append(&event);
    }
    journal.flush().await.unwrap();
    let used = |since| {
        let all = journal.used_since(since).unwrap();
        all.into_iter().map(|used| (used.user, used.calls, used.tokens, used.cost)).collect::<Vec<_>>()
    };
    assert_eq!(used(0), [("ada".to_owned(), 3, 34, 1.5)]);
    assert_eq!(used(1_020), [("ada".to_owned(), 2, 23, 1.0)]);
    assert_eq!(used(2_000), []);
}

#[tokio::test]
async fn what_is_removed_belongs_to_nobody() {
    let shelf = Shelf::new();
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    let path = media.create(Kind::Image, "png", b"x").unwrap();
    let journal = shelf.open();
    for event in [of("a", "ada"), made("a", 1, &path), done("a", 2, true)] {
        journal.append(&event);
    }
    journal.flush().await.unwrap();
    assert_eq!(journal.first_foreign("ada", std::slice::from_ref(&path)).unwrap(), None);
    let all = Prune { before_ms: Some(u64::MAX >> 1), grace: Duration::ZERO, ..Prune::default() };
    let pruned = journal.prune(all, media).await.unwrap();
    assert_eq!((pruned.runs, pruned.media), (1, vec![path.clone()]));
    assert_eq!(journal.first_foreign("ada", std::slice::from_ref(&path)).unwrap(), Some(path));
}
