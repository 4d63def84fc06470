//! Chats: kept by version, listed, looked through, and each user's own.

use super::*;

fn chat(id: &str, at_ms: u64, title: &str, body: &str, version: u64) -> Chat {
    let summary = ChatSummary { id: id.into(), title: title.into(), updated_at_ms: at_ms, version };
    Chat { summary, body: body.into() }
}

#[tokio::test]
async fn chats_are_written_over_the_version_they_are_made_of() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    for (user, chat, want) in [
        ("ada", chat("a", 1, "first", "{}", 0), ChatWrite::Written(1)),
        ("ada", chat("a", 2, "first", "{}", 0), ChatWrite::Changed(1)),
        ("ada", chat("a", 3, "second", "{}", 1), ChatWrite::Written(2)),
        ("ada", chat("a", 4, "late", "{}", 1), ChatWrite::Changed(2)),
        ("ada", chat("b", 4, "", "{}", 7), ChatWrite::Changed(0)),
        ("bob", chat("a", 4, "bob's", "{}", 0), ChatWrite::Written(1)),
        ("ada", chat("b", 5, "", "{}", 0), ChatWrite::Written(1)),
        ("ada", chat("c", 6, "", "{}", 0), ChatWrite::Full),
    ] {
        let told = format!("{user} {chat:?}");
        assert_eq!(journal.put_chat(user, chat, 2).await.unwrap(), want, "{told}");
    }
    assert_eq!(journal.chat("ada", "a").unwrap(), Some(chat("a", 3, "second", "{}", 2)));
    assert_eq!((journal.chat("bob", "b").unwrap(), journal.chat("", "a").unwrap()), (None, None));
    assert!(!journal.delete_chat("bob", "b").await.unwrap() && journal.delete_chat("ada", "b").await.unwrap());
    assert_eq!(journal.chat("ada", "b").unwrap(), None);
}

#[tokio::test]
async fn chats_are_found_by_what_is_said_in_them() {
    let shelf = Shelf::new();
    let journal = shelf.open();
    for (at, (id, title, body)) in [
        ("a", "Edges", r#"{"role": "x", "said": ["Grüße\nan \"alle\""]}"#),
        ("b", "other", r#"{"said": {"deep": "EDGES"}}"#),
        ("c", "third", r#"{"said": 7}"#),
    ]
    .into_iter()
    .enumerate()
    {
        journal.put_chat("ada", chat(id, at as u64, title, body, 0), 9).await.unwrap();
    }
    let filter = |text: Option<&str>| ChatFilter { user: "ada".into(), text: text.map(str::to_owned), after: None };
    for (text, want) in [
        (None, "c b a"),
        (Some("edges"), "b a"),
        (Some("GRÜSSE"), ""),
        (Some("GRÜßE\nAN \"ALLE\""), "a"),
        (Some("role"), ""),
        (Some("7"), ""),
    ] {
        let ids = |chats: Vec<ChatSummary>| chats.into_iter().map(|chat| chat.id).collect::<Vec<_>>().join(" ");
        assert_eq!(ids(journal.chats(&filter(text), 9).unwrap()), want, "{text:?}");
        let (mut paged, mut after) = (Vec::new(), None);
        while let Some(chat) = journal.chats(&ChatFilter { after, ..filter(text) }, 1).unwrap().pop() {
            after = Some((chat.updated_at_ms, chat.id.clone()));
            paged.push(chat);
        }
        assert_eq!(ids(paged), want, "{text:?}");
    }
    assert!(journal.chats(&ChatFilter::default(), 9).unwrap().is_empty());
}

#[tokio::test]
async fn a_file_that_a_chat_shows_stays_with_it() {
    let shelf = Shelf::new();
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    let journal = shelf.open();
    let shown = media.create(Kind::Image, "png", b"shown").unwrap();
    let told = Event { at_ms: 1, ..event("a", 1, EventKind::Note { level: Level::Info, message: shown.clone() }) };
    for event in [Event { at_ms: 1, ..started("a") }, told, Event { at_ms: 1, ..done("a", 2, true) }] {
        journal.append(&event);
    }
    journal.put_chat("", chat("c", 1, "", &format!(r#"{{"file": "{shown}"}}"#), 0), 9).await.unwrap();
    let all = Prune { before_ms: Some(9), ..Prune::default() };
    assert_eq!(journal.prune(all, Arc::clone(&media)).await.unwrap().media, Vec::<String>::new());
    assert!(media.read(&shown, 99).is_ok());
}
