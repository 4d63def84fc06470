//! What holds for every request, however odd.

use std::sync::LazyLock;

use jarvis_plan::{Limits, NoteKind, Request, Tool, Vocabulary};
use jarvis_planner::{Offline, Planner, ToolIndex};
use proptest::prelude::*;

use crate::support::{compact, everyday, is_well_formed, request, task_types};

const PIECES: &str = "find the edges| of |/images/a.png| and |, |then |read it aloud|\"|'|«|»|“|：|: |.|?|\n|опиши| картинку |\
    затем |把|变成黑白|然后|，|翻译|<GENERATED>-0|<GENERATED>|both pictures|book a flight| from Paris| to Rome|\
    2025-05-01|a.wav|https://x.org/a.png|the second |what is in |summarise|результат|\u{0}|🎉|e\u{301}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gives_a_sound_draft(text in "\\PC{0,80}") {
        sound(&text);
    }

    #[test]
    fn any_order_of_words_gives_a_sound_draft(pieces in prop::collection::vec(prop::sample::select(PIECES.split('|').collect::<Vec<_>>()), 0..14)) {
        sound(&pieces.concat());
    }
}

static LISTS: LazyLock<Vec<(ToolIndex, Vocabulary)>> = LazyLock::new(|| {
    [task_types(), everyday()].into_iter().map(|tools| (ToolIndex::new(&tools), Vocabulary::new(tools))).collect()
});

fn sound(text: &str) {
    for (index, vocabulary) in LISTS.iter() {
        let asked = request(text, &["/images/x.png"]);
        let draft = Offline::draft_with(index, &asked);
        assert_eq!(draft, Offline::draft_with(index, &asked));
        assert!(!draft.tasks.is_empty() || !draft.notes.is_empty());
        let plan = jarvis_plan::check(&draft, vocabulary, Limits::default());
        assert!(plan.tasks().iter().all(is_well_formed), "{text}: {}", compact(&draft));
        assert!(plan.tasks().len() <= 32);
    }
}

#[test]
fn the_index_follows_the_list() {
    let planner = Offline::new();
    let asked = Request::new("Book a flight to Rome");
    assert!(planner.draft(&asked, &task_types()).tasks.is_empty());
    assert_eq!(compact(&planner.draft(&asked, &everyday())), "book_flight(to=Rome)");
    assert!(planner.draft(&asked, &[]).notes.iter().any(|note| note.text.contains("no tools")));
}

#[tokio::test]
async fn the_trait_gives_what_the_core_gives() {
    let planner = Offline::new();
    let tools: std::sync::Arc<[Tool]> = task_types().into();
    let long = format!("Find the edges. {}", "It was a fine day by the sea. ".repeat(100));
    // The first call reads the tools; short requests after it stay on this thread.
    for text in ["Find the edges", "Find the edges", &long, "Find the edges"] {
        let asked = request(text, &["/images/a.png"]);
        assert_eq!(planner.plan(&asked, &tools).await.unwrap(), Offline::new().draft(&asked, &tools), "{text}");
    }
    let asked = Request::new("Book a flight to Rome");
    assert_eq!(
        compact(&planner.plan(&asked, &std::sync::Arc::from(everyday())).await.unwrap()),
        "book_flight(to=Rome)"
    );
    assert_eq!(planner.name(), "offline");
}

#[test]
fn earlier_turns_name_things() {
    for (text, turns, expected) in [
        ("Now find its edges", &["Describe /images/old.png"][..], "canny-control(image=/images/old.png)"),
        ("Find the edges of it", &["Describe a.png", "Describe b.png"], "canny-control(image=b.png)"),
        (
            "make both grey",
            &["Describe a.png", "Describe b.png", "Describe c.png and b.png"],
            "image-to-image(image=b.png,text=make both grey) ; image-to-image(image=c.png,text=make both grey)",
        ),
        ("Find the edges of the original", &["Describe a.png", "Segment b.png"], "canny-control(image=a.png)"),
        ("describe the first picture", &["Segment a.png", "Segment b.png"], "image-to-text(image=a.png)"),
        ("describe the second picture", &["Segment a.png", "Segment b.png"], "image-to-text(image=b.png)"),
    ] {
        let mut asked = Request::new(text);
        asked.history.extend(turns.iter().map(|turn| jarvis_plan::Turn::user(*turn)));
        assert_eq!(compact(&Offline::new().draft(&asked, &task_types())), expected, "{text}");
    }
}

#[test]
fn the_name_of_an_attached_file_means_the_attachment() {
    let mut asked = request("Make house.png grey, then summarise Notes.txt", &["/images/ab12.png", "The text itself."]);
    asked.attachments[0].name = Some("house.png".to_owned());
    asked.attachments[1].name = Some("/home/ann/notes.txt".to_owned());
    let draft = Offline::new().draft(&asked, &task_types());
    let expected = "image-to-image(image=/images/ab12.png,text=Make grey) ; summarization(text=The text itself.)";
    assert_eq!(compact(&draft), expected);
}

#[test]
fn a_known_name_is_found_in_any_script() {
    let mut asked = request("新闻.txt讲了什么？", &["今天开会。"]);
    asked.attachments[0].name = Some("新闻.txt".to_owned());
    let draft = Offline::new().draft(&asked, &task_types());
    assert_eq!(compact(&draft), "summarization(text=今天开会。)");
}

#[test]
fn a_reference_in_data_stays_text() {
    let draft = Offline::new().draft(&Request::new("Summarise \"see <GENERATED>-0 there\""), &task_types());
    assert_eq!(draft.tasks[0].args["text"].as_literal().as_deref(), Some("see <GENERATED>-0 there"));
}

#[test]
fn a_huge_request_is_cut_and_told() {
    let text = format!("Summarise: {}", "слово ".repeat(20_000));
    let draft = Offline::new().draft(&Request::new(text), &task_types());
    assert_eq!(draft.tasks.len(), 1);
    let told = draft.notes.iter().find(|note| note.text.contains("were read")).map(|note| note.kind);
    assert_eq!(told, Some(NoteKind::LeftOut));
}

#[test]
fn endless_orders_end() {
    for piece in ["find the edges and then ", "a, ", "画一只猫，", "a.png ", "x: ", "\"a\" "] {
        let draft = Offline::new().draft(&Request::new(piece.repeat(20_000 / piece.len())), &task_types());
        assert!(draft.tasks.len() <= 32, "{piece}");
    }
    // These once took half a minute each.
    let text = format!("Summarize: zz. {}", "Then zz. ".repeat(7_000));
    assert_eq!(Offline::new().draft(&Request::new(text), &task_types()).tasks.len(), 1);
    let mut asked = Request::new("Find the edges of it");
    asked.history.push(jarvis_plan::Turn::user("«".repeat(100_000)));
    assert!(Offline::new().draft(&asked, &task_types()).tasks.len() <= 1);
}

#[test]
fn a_crowded_graph_ends() {
    let names: Vec<String> = (0..600).map(|at| format!("book_thing_{at}")).collect();
    let tools: Vec<Tool> = names.iter().map(|name| Tool::typed(name, "Book a thing", &[], &[])).collect();
    let links = names.iter().flat_map(|one| names.iter().take(300).map(move |two| (one.as_str(), two.as_str())));
    let index = ToolIndex::new(&tools).with_graph(links);
    let draft = Offline::draft_with(&index, &Request::new("Book a thing, then ".repeat(30)));
    assert!(draft.tasks.len() <= 32);
}
