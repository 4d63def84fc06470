//! Who writes a run, and what is left to others.

use super::*;

#[tokio::test]
async fn a_run_is_claimed_once_and_its_last_owner_writes_no_more() {
    let shelf = Shelf::new();
    let (first, second, third) = (shelf.open(), shelf.open(), shelf.open());
    let run = RunId("a".into());
    assert_eq!(first.claim(&run).await.unwrap(), Claim::Unknown);
    first.append(&started("a"));
    first.flush_run(&run).await.unwrap();
    assert_eq!(second.claim(&run).await.unwrap(), Claim::Held, "its owner lives");
    assert!(!second.runs(1).unwrap()[0].resumable);
    // Left by its owner, as by one that died: of two, one gets it.
    first.abandon(&run);
    first.flush().await.unwrap();
    assert!(second.runs(1).unwrap()[0].resumable);
    let claims = tokio::join!(second.claim(&run), third.claim(&run));
    let claims = [claims.0.unwrap(), claims.1.unwrap()];
    assert!(claims.contains(&Claim::Ours) && claims.contains(&Claim::Held), "{claims:?}");
    let owner = if claims[0] == Claim::Ours { &second } else { &third };
    // What the first still writes is refused, and told to it.
    first.append(&note("a", 1));
    assert!(matches!(first.flush_run(&run).await, Err(JournalError::Taken { .. })));
    first.append(&note("b", 0));
    first.flush_run(&RunId("b".into())).await.expect("other runs are its own");
    owner.append(&planned("a", 1, 2));
    owner.append(&done("a", 2, true));
    owner.flush_run(&run).await.unwrap();
    let events = shelf.open().run("a").unwrap().events;
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names, ["run_started", "plan", "done"]);
    assert_eq!(first.claim(&run).await.unwrap(), Claim::Ended);
}

#[tokio::test]
async fn what_was_left_and_what_is_to_be_cancelled_is_due() {
    let shelf = Shelf::new();
    let of = |run: &str, door: &str| {
        let mut event = started(run);
        if let EventKind::RunStarted { door: place, .. } = &mut event.kind {
            door.clone_into(place);
        }
        event
    };
    shelf.write(&[of("died", "server"), of("of-a-command", "command line")]);
    shelf.write(&[of("ended", "server"), done("ended", 1, true)]);
    let (mine, other) = (shelf.open(), shelf.open());
    mine.append(&of("mine", "server"));
    other.append(&of("others", "server"));
    mine.flush().await.unwrap();
    other.flush().await.unwrap();
    let ids = |runs: &[RunId]| runs.iter().map(|run| run.0.clone()).collect::<Vec<_>>();
    let due = mine.due("server").unwrap();
    assert_eq!((ids(&due.left), ids(&due.to_cancel)), (vec!["died".to_owned()], vec![]));
    assert_eq!(other.ask_to_cancel(&RunId("mine".into())).await.unwrap(), Claim::Held);
    assert_eq!(other.ask_to_cancel(&RunId("died".into())).await.unwrap(), Claim::Ours);
    assert_eq!(other.ask_to_cancel(&RunId("ended".into())).await.unwrap(), Claim::Ended);
    assert_eq!(ids(&mine.due("server").unwrap().to_cancel), ["mine"]);
    assert_eq!(ids(&other.due("server").unwrap().to_cancel), Vec::<String>::new());
}
