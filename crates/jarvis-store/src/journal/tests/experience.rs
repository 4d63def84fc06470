//! Plans that are kept to plan by.

use super::*;

fn of(run: &str, user: &str) -> Event {
    let mut event = started(run);
    if let EventKind::RunStarted { user: whose, .. } = &mut event.kind {
        user.clone_into(whose);
    }
    event
}

fn approved(run: &str, answer: Option<&str>) -> Event {
    let kind = EventKind::ApprovalGiven {
        id: TaskId(0),
        tool: "book".to_owned(),
        approved: true,
        answer: answer.map(str::to_owned),
        arguments: None,
        always: false,
        done: false,
    };
    event(run, 1, kind)
}

fn row(id: &str, at_ms: u64) -> ExperienceRow {
    let (verdict, body) = (Verdict::Rated, format!("body of {id}"));
    ExperienceRow { id: id.to_owned(), at_ms, good: false, verdict, body }
}

/// Ids with whether they are good and why.
fn kept(journal: &Journal, user: &str) -> Vec<(String, bool, &'static str)> {
    let rows = journal.experience(user).unwrap().into_iter();
    rows.map(|row| (row.id, row.good, row.verdict.as_str())).collect()
}

#[tokio::test]
async fn it_belongs_to_the_user_of_its_run_and_is_rated() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    for (run, user) in [("a1", "ada"), ("a2", "ada"), ("b1", "bob"), ("b2", "bob"), ("b3", "bob")] {
        journal.append(&of(run, user));
    }
    journal.append(&approved("b2", None));
    journal.append(&approved("b3", Some("Rome")));
    let keep = |run: &str, verdict| journal.keep_experience(&RunId(run.to_owned()), verdict, format!("body of {run}"));
    keep("a1", Verdict::Succeeded);
    keep("a2", Verdict::Failed);
    keep("b1", Verdict::Edited);
    keep("b2", Verdict::Succeeded);
    keep("b3", Verdict::Succeeded);
    // Nothing is kept of what is not in the journal.
    keep("unknown", Verdict::Succeeded);
    journal.flush().await.unwrap();
    let is = |user: &str, want: &[(&str, bool, &str)]| {
        let kept = kept(&journal, user);
        let kept: Vec<_> = kept.iter().map(|(id, good, verdict)| (id.as_str(), *good, *verdict)).collect();
        assert_eq!(kept, want, "{user}");
    };
    is("ada", &[("a1", true, "succeeded"), ("a2", false, "failed")]);
    is("bob", &[("b1", true, "edited"), ("b2", true, "approved"), ("b3", true, "succeeded")]);
    is("", &[]);
    assert_eq!(journal.stored(Some("ada")).unwrap().experience, 2);
    let before = journal.experience_stamp("ada").unwrap();
    assert_eq!(journal.rate(Some("bob"), "a1", false).await.unwrap(), None);
    assert_eq!(journal.experience_stamp("ada").unwrap(), before);
    assert_eq!(journal.rate(Some("ada"), "a1", false).await.unwrap().as_deref(), Some("a1"));
    assert_ne!(journal.experience_stamp("ada").unwrap(), before);
    assert_eq!(journal.rate(None, "a2", true).await.unwrap().as_deref(), Some("a2"));
    assert!(matches!(journal.rate(None, "b", true).await, Err(JournalError::Ambiguous { .. })));
    // A run that is kept again stays as it was rated.
    keep("a1", Verdict::Succeeded);
    journal.flush().await.unwrap();
    is("ada", &[("a1", false, "rated"), ("a2", true, "rated")]);
}

#[tokio::test]
async fn what_was_rated_stays_rated_when_it_is_imported_again() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    journal.import_experience("ada", vec![row("old", 5)]).await.unwrap();
    // It is of no run here, and can be rated all the same.
    assert_eq!(journal.rate(None, "ol", false).await.unwrap().as_deref(), Some("old"));
    journal.import_experience("ada", vec![row("old", 6)]).await.unwrap();
    assert_eq!(kept(&journal, "ada"), [("old".to_owned(), false, "rated")]);
    let rated = ExperienceRow { good: true, verdict: Verdict::Rated, ..row("old", 7) };
    journal.import_experience("ada", vec![rated]).await.unwrap();
    assert_eq!(kept(&journal, "ada"), [("old".to_owned(), true, "rated")]);
}

#[tokio::test]
async fn what_is_forgotten_or_removed_with_its_run_is_not_in_the_file() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    for run in ["a1", "a2"] {
        journal.append(&of(run, "ada"));
        journal.append(&event(run, 1, EventKind::Done { ok: true, cancelled: false, usage: Usage::default(), ms: 1 }));
        let run = RunId(run.to_owned());
        journal.keep_experience(&run, Verdict::Succeeded, format!("xylophonequartz {run}"));
    }
    journal.import_experience("ada", vec![row("old", 5), row("older", 3)]).await.unwrap();
    journal.import_experience("ada", vec![row("old", 7)]).await.unwrap();
    let ids = || kept(&journal, "ada").into_iter().map(|(id, ..)| id).collect::<Vec<_>>();
    assert_eq!(ids(), ["older", "old", "a1", "a2"]);
    assert_eq!(journal.forget_experience(Some("bob"), None).await.unwrap(), 0);
    assert_eq!(journal.forget_experience(Some("ada"), Some("a1")).await.unwrap(), 1);
    assert_eq!(journal.forget_experience(Some("ada"), Some("a1")).await.unwrap(), 0);
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    // What is of no run goes by its own age.
    let prune = |before_ms| Prune { before_ms: Some(before_ms), ..Prune::default() };
    journal.prune(prune(6), Arc::clone(&media)).await.unwrap();
    assert_eq!(ids(), ["old", "a2"]);
    journal.prune(prune(u64::MAX), media).await.unwrap();
    assert_eq!(ids(), Vec::<String>::new());
    journal.scrub().await.unwrap();
    for file in fs::read_dir(shelf.folder.path()).unwrap().flatten().filter(|file| file.path().is_file()) {
        let bytes = fs::read(file.path()).unwrap();
        assert!(!bytes.windows(15).any(|window| window == b"xylophonequartz"), "{}", file.path().display());
    }
}

#[tokio::test]
async fn the_oldest_goes_first_and_nothing_is_of_tomorrow() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    journal.append(&of("own", "ada"));
    journal.keep_experience(&RunId("own".to_owned()), Verdict::Succeeded, "own".to_owned());
    let imported = (1..=5_000_u64).map(|at| row(&format!("r{at:04}"), if at == 5_000 { u64::MAX } else { at }));
    journal.import_experience("ada", imported.collect()).await.unwrap();
    let kept = journal.experience("ada").unwrap();
    let ids: Vec<&str> = kept.iter().map(|row| row.id.as_str()).collect();
    assert!(kept.len() == 5_000 && !ids.contains(&"r0001") && ids.contains(&"r0002") && ids.contains(&"own"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert!(kept.iter().all(|row| u128::from(row.at_ms) <= now));
}
