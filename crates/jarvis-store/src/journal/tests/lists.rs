//! Which runs are listed, in which pages, and what is removed by hand.

use super::*;

fn at(run: &str, at_ms: u64, user: &str, request: &str, end: Option<EventKind>) -> Vec<Event> {
    let mut first = Event { at_ms, ..started(run) };
    if let EventKind::RunStarted { user: whose, request: asked, door, .. } = &mut first.kind {
        (*whose, asked.text, *door) = (user.to_owned(), request.to_owned(), "server".to_owned());
    }
    let last = end.map(|kind| Event { at_ms, ..event(run, 1, kind) });
    std::iter::once(first).chain(last).collect()
}

fn failed(code: &str) -> Option<EventKind> {
    Some(EventKind::Error { code: code.into(), message: String::new(), hint: None, ms: 1 })
}

fn ended(ok: bool, cancelled: bool) -> Option<EventKind> {
    Some(EventKind::Done { ok, cancelled, usage: Usage::default(), ms: 1 })
}

#[tokio::test]
async fn runs_are_chosen_and_come_in_pages() {
    let shelf = Shelf::new();
    shelf.write(&at("left", 7, "ada", "left behind", None));
    let journal = shelf.open();
    let all = [
        at("done", 1, "ada", "find the Edges", ended(true, false)),
        at("failed", 2, "bob", "find ÉCLAIRS", ended(false, false)),
        at("stopped", 3, "ada", "find", ended(false, true)),
        at("stopped-too", 3, "ada", "", failed("cancelled")),
        at("cut", 4, "bob", "", failed("interrupted")),
        at("lost", 5, "", "", failed("unavailable")),
        at("runs", 6, "ada", "", None),
    ];
    all.iter().flatten().for_each(|event| journal.append(event));
    journal.flush().await.unwrap();
    let known = journal.known(&["cut", "nothing", "runs"].map(|run| RunId(run.into()))).unwrap();
    assert_eq!(known, ["cut", "runs"].map(|run| RunId(run.into())).into());
    let check = |filter: RunFilter, want: &str| {
        let found = journal.select(&filter, 9).unwrap();
        assert!(found.iter().all(|run| filter.fits(run)), "{filter:?}");
        let found: Vec<&str> = found.iter().map(|run| run.run_id.0.as_str()).collect();
        assert_eq!(found.join(" "), want, "{filter:?}");
        // Page by page it is the same.
        let (mut paged, mut after) = (Vec::new(), filter.after.clone());
        while let Some(run) = journal.select(&RunFilter { after, ..filter.clone() }, 1).unwrap().pop() {
            after = Some((run.started_at_ms, run.run_id.clone()));
            paged.push(run.run_id.0);
        }
        assert_eq!(paged, found, "{filter:?}");
    };
    let of = |statuses: &[RunStatus]| RunFilter { statuses: statuses.to_vec(), ..RunFilter::default() };
    check(RunFilter::default(), "left runs lost cut stopped-too stopped failed done");
    for (status, want) in [
        (RunStatus::Done, "done"),
        (RunStatus::Failed, "lost failed"),
        (RunStatus::Cancelled, "stopped-too stopped"),
        (RunStatus::Interrupted, "left cut"),
        (RunStatus::Running, "runs"),
        (RunStatus::Waiting, ""),
    ] {
        check(of(&[status]), want);
    }
    check(of(&[RunStatus::Running, RunStatus::Done]), "runs done");
    let text = |text: &str| RunFilter { text: Some(text.to_owned()), ..RunFilter::default() };
    check(text("FIND"), "stopped failed done");
    check(text("éclair"), "failed");
    check(text("%"), "");
    let user = |user: &str| RunFilter { user: Some(user.to_owned()), ..RunFilter::default() };
    check(user("bob"), "cut failed");
    check(user(""), "lost");
    check(RunFilter { statuses: vec![RunStatus::Cancelled], ..user("ada") }, "stopped-too stopped");
    check(RunFilter { since_ms: Some(3), until_ms: Some(4), ..RunFilter::default() }, "cut stopped-too stopped");
    check(RunFilter { after: Some((3, RunId("stopped-too".into()))), ..RunFilter::default() }, "stopped failed done");
    let plan = |sql: &str| -> String {
        let connection = Connection::open(shelf.path()).unwrap();
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let told: rusqlite::Result<Vec<String>> = plan.query_map([], |row| row.get("detail")).unwrap().collect();
        told.unwrap().join("; ")
    };
    let ordered = "ORDER BY started_at_ms DESC, run_id DESC LIMIT 5";
    for (wanted, index) in [("TRUE", "runs_by_time"), ("user <> '' AND user = 'ada'", "runs_by_user")] {
        let told =
            plan(&format!("SELECT run_id FROM runs WHERE {wanted} AND (ended = 'failed' AND how = 'x') {ordered}"));
        assert!(told.contains(&format!("COVERING INDEX {index}")) && !told.contains("TEMP B-TREE"), "{told}");
    }
}

#[tokio::test]
async fn one_run_or_those_of_a_user_go_and_nothing_of_theirs_stays() {
    let shelf = Shelf::new();
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    let made = |name: &str| media.keep(Kind::Image, name, "png", name.as_bytes()).unwrap();
    let (alone, shared, planned) = (made("alone"), made("shared"), made("planned"));
    let of = |run: &str, user: &str, files: &[&String], ends: bool| {
        let said = files.iter().map(|file| file.as_str()).collect::<Vec<_>>().join(" ");
        at(run, 5, user, &said, if ends { ended(true, false) } else { None })
    };
    shelf.write(&of("left", "ada", &[], false));
    let journal = shelf.open();
    for event in [
        of("a", "ada", &[&alone, &shared, &planned], true),
        of("b", "bob", &[&shared], true),
        of("goes-on", "ada", &[], false),
    ]
    .iter()
    .flatten()
    {
        journal.append(event);
    }
    journal.flush().await.unwrap();
    let prune = |user: &str, only: Option<&str>| {
        let only = only.map(|run| RunId(run.to_owned()));
        let (user, spoken_of) = (Some(user.to_owned()), [planned.clone()].into());
        let before_ms = only.is_none().then_some(u64::MAX);
        journal.prune(Prune { before_ms, user, only, cut_off: true, spoken_of, ..Prune::default() }, Arc::clone(&media))
    };
    assert_eq!(prune("bob", Some("a")).await.unwrap().runs, 0, "it is not bob's");
    let gone = prune("ada", Some("a")).await.unwrap();
    assert_eq!((gone.runs, gone.media), (1, vec![alone.clone()]));
    assert!(media.read(&alone, 99).is_err() && media.read(&shared, 99).is_ok() && media.read(&planned, 99).is_ok());
    assert_eq!(prune("ada", Some("goes-on")).await.unwrap().runs, 0, "it goes on");
    assert_eq!(prune("ada", None).await.unwrap().runs, 1, "the one whose process died");
    assert_eq!(prune("bob", None).await.unwrap().media, vec![shared]);
    let connection = Connection::open(shelf.path()).unwrap();
    let count = |table: &str| -> i64 {
        connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!(["runs", "events", "requests", "mentions"].map(count), [1, 1, 0, 0]);
}

#[test]
fn what_a_run_takes_is_counted_once() {
    let shelf = Shelf::new();
    let events = [started("a"), note("a", 1), done("a", 2, true)];
    shelf.write(&events);
    shelf.write(&events);
    let connection = Connection::open(shelf.path()).unwrap();
    let (counted, there): (i64, i64) = connection
        .query_row("SELECT bytes, (SELECT sum(octet_length(body)) FROM events) FROM runs", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(counted, there);
}
