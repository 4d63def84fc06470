//! Runs by when they changed last, and the webhooks that go with them.

use jarvis_plan::Thread;

use super::*;

fn in_thread(run: &str, user: &str, thread: &str) -> Event {
    let mut event = started(run);
    if let EventKind::RunStarted { user: whose, request, .. } = &mut event.kind {
        user.clone_into(whose);
        request.thread = Some(Box::new(Thread { id: thread.to_owned(), message: "m".to_owned() }));
    }
    event
}

#[test]
fn runs_are_found_by_when_they_changed_and_by_their_conversation() {
    let shelf = Shelf::new();
    shelf.write(&[in_thread("a", "ada", ""), note("a", 1), done("a", 9, true)]);
    shelf.write(&[in_thread("b", "ada", "a"), note("b", 2)]);
    shelf.write(&[in_thread("c", "bob", "a"), note("c", 3)]);
    let journal = shelf.open();
    let all = || Changed { most: 10, ..Changed::default() };
    let ada = || Changed { user: Some("ada".into()), ..all() };
    for (name, which, want) in [
        ("all", all(), vec![("a", 1_090), ("c", 1_030), ("b", 1_020)]),
        ("two", Changed { most: 2, ..all() }, vec![("a", 1_090), ("c", 1_030)]),
        ("of one user", ada(), vec![("a", 1_090), ("b", 1_020)]),
        ("of a conversation", Changed { thread: Some("a".into()), ..ada() }, vec![("a", 1_090), ("b", 1_020)]),
        ("of one that began with none", Changed { thread: Some("b".into()), ..ada() }, vec![]),
        ("since then", Changed { since_ms: 1_030, ..all() }, vec![("a", 1_090), ("c", 1_030)]),
        ("of nobody", Changed { user: Some(String::new()), ..all() }, vec![]),
    ] {
        let found = journal.changed(&which).unwrap();
        let found: Vec<_> = found.iter().map(|(run, at)| (run.run_id.0.as_str(), *at)).collect();
        assert_eq!(found, want, "{name}");
    }
}

#[tokio::test]
async fn webhooks_go_with_their_run() {
    let shelf = Shelf::new();
    shelf.write(&[started("a"), done("a", 1, true)]);
    let (journal, run) = (shelf.open(), RunId("a".into()));
    for (id, body) in [("y", "first"), ("x", "other"), ("y", "second")] {
        journal.set_webhook(&run, id, body.to_owned()).await.unwrap();
    }
    assert_eq!(journal.webhooks("a").unwrap(), ["other", "second"]);
    assert_eq!(journal.webhook("a", "y").unwrap().as_deref(), Some("second"));
    for _ in 0..2 {
        journal.remove_webhook(&run, "y").await.unwrap();
        assert_eq!(journal.webhook("a", "y").unwrap(), None);
    }
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    journal.prune(Prune { before_ms: Some(u64::MAX), ..Prune::default() }, media).await.unwrap();
    assert_eq!(journal.webhooks("a").unwrap(), [""; 0]);
}
