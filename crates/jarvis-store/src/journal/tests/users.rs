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
        provider: String::new(),
        instead_of: String::new(),
        prompt_tokens: tokens,
        cached_tokens: 0,
        completion_tokens: 1,
        estimated: false,
        cost: Some(Money { amount: 0.5, currency: "USD".into() }),
        ms: 1,
        reply: String::new(),
        ok: true,
        given_up: false,
        key: String::new(),
        whole: None,
        taken_over: false,
    };
    event(run, seq, kind)
}

fn of_user(user: &str) -> RunFilter {
    RunFilter { user: Some(user.to_owned()), ..RunFilter::default() }
}

#[tokio::test]
async fn a_file_belongs_to_whoever_sent_it_and_to_whoever_made_it() {
    let shelf = Shelf::new();
    let media = Media::open(&shelf.folder.path().join("public")).unwrap();
    let journal = shelf.open();
    let (old, sent) =
        (media.create(Kind::Image, "png", b"old").unwrap(), media.keep(Kind::Image, "a", "png", b"x").unwrap());
    journal.owns_what_is_made(media.made());
    journal.own("ada", vec![sent.clone()]).await.unwrap();
    let new = media.create(Kind::Image, "png", b"new").unwrap();
    // Whoever made it tells of it first.
    journal.append(&of("a", "ada"));
    journal.append(&made("a", 1, &new));
    journal.flush().await.unwrap();
    // bob's run speaks of what is ada's, of what was there before, and of what is not there.
    journal.append(&of("b", "bob"));
    journal.append(&made("b", 1, &format!("{new} {sent} {old} /images/none.png /images/asked.png")));
    // Whoever is the only user owns nothing by name.
    let nobodys = media.create(Kind::Image, "png", b"nobody's").unwrap();
    journal.append(&started("c"));
    journal.append(&made("c", 1, &nobodys));
    journal.flush().await.unwrap();
    journal.append(&made("b", 2, &nobodys));
    journal.flush().await.unwrap();
    let all = [&new, &sent, &old, &nobodys, "/images/none.png", "/images/asked.png"];
    let owned = |user: &str| all.map(|path| journal.first_foreign(user, &[path.to_owned()]).unwrap().is_none());
    assert_eq!(owned("ada"), [true, true, false, false, false, false]);
    assert_eq!(owned("bob"), [false; 6]);
    // The same file may be sent by two.
    journal.own("bob", vec![sent.clone()]).await.unwrap();
    assert_eq!((owned("ada")[1], owned("bob")[1]), (true, true));
    assert_eq!(journal.first_foreign("bob", &[sent, new.clone()]).unwrap(), Some(new));
    let runs = |user: &str| {
        journal.select(&of_user(user), 10).unwrap().into_iter().map(|run| run.run_id.0).collect::<Vec<_>>()
    };
    assert_eq!(
        (runs("ada"), runs("bob"), runs("")),
        (vec!["a".to_owned()], vec!["b".to_owned()], vec!["c".to_owned()])
    );
    assert_eq!(journal.runs(10).unwrap().len(), 3);
    assert_eq!(journal.run("a").unwrap().summary.user, "ada");
}

#[tokio::test]
async fn what_a_user_took_in_a_day_is_summed_over_runs_and_outlives_them() {
    let shelf = Shelf::new();
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    let journal = shelf.open();
    let later = |mut event: Event| {
        event.at_ms += 24 * 60 * 60 * 1000;
        event
    };
    for event in [of("a", "ada"), called("a", 1, 10), later(called("a", 2, 20)), of("b", "ada"), called("b", 3, 1)] {
        journal.append(&event);
    }
    for event in [of("c", "bob"), started("d"), called("d", 1, 9), done("a", 3, true), done("b", 4, true)] {
        journal.append(&event);
    }
    // What is written twice counts once.
    journal.append(&called("a", 1, 10));
    journal.flush().await.unwrap();
    let spent = |day| {
        let all = journal.spent_on(day).unwrap();
        all.into_iter().map(|used| (used.user, used.calls, used.tokens, used.cost)).collect::<Vec<_>>()
    };
    let (first, second) = ([("ada".to_owned(), 2, 13, 1.0)], [("ada".to_owned(), 1, 21, 0.5)]);
    assert_eq!((spent(0), spent(1), spent(2)), (first.to_vec(), second.to_vec(), vec![]));
    let all = Prune { before_ms: Some(u64::MAX >> 1), ..Prune::default() };
    assert_eq!(journal.prune(all, media).await.unwrap().runs, 2);
    assert_eq!(spent(0), first);
}

/// What bob sent stays bob's, though ada's run spoke of it and one of bob's, which did not, goes with hers.
#[tokio::test]
async fn a_file_stays_with_whoever_sent_it_when_runs_of_others_go() {
    let shelf = Shelf::new();
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    let journal = shelf.open();
    let path = media.keep(Kind::Image, "a", "png", b"both").unwrap();
    for user in ["ada", "bob"] {
        journal.own(user, vec![path.clone()]).await.unwrap();
    }
    for event in [of("a", "ada"), made("a", 1, &path), done("a", 2, true), of("b", "bob"), done("b", 1, true)] {
        journal.append(&event);
    }
    journal.flush().await.unwrap();
    let all = Prune { before_ms: Some(u64::MAX >> 1), ..Prune::default() };
    let pruned = journal.prune(all, Arc::clone(&media)).await.unwrap();
    assert_eq!((pruned.runs, pruned.media), (2, vec![]));
    assert!(media.open_file(&path).is_ok());
    assert_eq!(journal.first_foreign("bob", std::slice::from_ref(&path)).unwrap(), None);
}

#[tokio::test]
async fn what_is_removed_belongs_to_nobody_and_what_stays_to_whoever_had_it() {
    let shelf = Shelf::new();
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    let journal = shelf.open();
    journal.owns_what_is_made(media.made());
    let hour = Duration::from_secs(3600);
    for (run, grace, sent_by, stays) in
        [("a", hour, "ada", true), ("b", Duration::ZERO, "ada", false), ("c", Duration::ZERO, "bob", true)]
    {
        let path = media.create(Kind::Image, "png", run.as_bytes()).unwrap();
        for event in [of(run, "ada"), made(run, 1, &path), done(run, 2, true)] {
            journal.append(&event);
        }
        journal.own(sent_by, vec![path.clone()]).await.unwrap();
        let all = Prune { before_ms: Some(u64::MAX >> 1), grace, ..Prune::default() };
        let pruned = journal.prune(all, Arc::clone(&media)).await.unwrap();
        assert_eq!((pruned.runs, pruned.media.is_empty()), (1, stays));
        assert_eq!(journal.first_foreign(sent_by, std::slice::from_ref(&path)).unwrap().is_none(), stays, "{run}");
        assert_eq!(media.open_file(&path).is_ok(), stays, "{run}");
    }
}
