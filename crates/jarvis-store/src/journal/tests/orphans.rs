//! Media that nothing speaks of go, and no others.

use std::time::{Duration, SystemTime};

use super::*;

#[tokio::test]
async fn what_nothing_speaks_of_goes_by_age_and_by_size() {
    let shelf = Shelf::new();
    let media = Arc::new(Media::open(&shelf.folder.path().join("public")).unwrap());
    let journal = shelf.open();
    let day = Duration::from_secs(24 * 60 * 60);
    let made = |name: &str, days: u32, bytes: usize| {
        let path = media.keep(Kind::Image, name, "png", &vec![name.as_bytes()[0]; bytes]).unwrap();
        let (file, _) = media.open_file(&path).unwrap();
        file.set_modified(SystemTime::now() - day * days).unwrap();
        path
    };
    let [of_run, of_chat, of_plan] = ["r", "c", "p"].map(|name| made(name, 9, 100));
    let [old, middle, new] = [("o", 9), ("m", 5), ("n", 0)].map(|(name, days)| made(name, days, 100));
    journal.append(&event("a", 0, EventKind::Note { level: Level::Info, message: of_run.clone() }));
    let summary = ChatSummary { id: "c".into(), title: String::new(), updated_at_ms: 1, version: 0 };
    let chat = Chat { summary, body: format!(r#"{{"file": "{of_chat}"}}"#) };
    journal.put_chat("ada", chat, 9).await.unwrap();
    journal.own("ada", vec![old.clone(), of_run.clone()]).await.unwrap();
    let sweep = |days: Option<u32>, most_bytes: Option<u64>, dry: bool| {
        let (older, grace) = (days.map(|days| day * days), Duration::from_secs(60 * 60));
        let sweep = Sweep { older, most_bytes, grace, spoken_of: [of_plan.clone()].into(), dry };
        journal.sweep(sweep, Arc::clone(&media))
    };
    assert_eq!(sweep(None, None, false).await.unwrap(), Swept::default());
    assert_eq!(sweep(Some(7), None, true).await.unwrap().media, vec![old.clone()]);
    assert_eq!(
        sweep(Some(7), None, false).await.unwrap(),
        Swept { media: vec![old.clone()], bytes: 100, stuck: vec![] }
    );
    assert_eq!(journal.stored(Some("ada")).unwrap().files, vec![of_run.clone()], "it is nobody's any more");
    assert_eq!(sweep(None, Some(450), false).await.unwrap().media, vec![middle.clone()]);
    // What is spoken of, and what is young, stays, however much it is.
    assert_eq!(sweep(Some(0), Some(0), false).await.unwrap(), Swept::default());
    let there = [of_run, of_chat, of_plan, old, middle, new].map(|path| media.read(&path, 999).is_ok());
    assert_eq!(there, [true, true, true, false, false, true]);
}
