//! Retrieval as its users see it: kept vectors, stored vectors, an endpoint on a real socket.

use std::path::Path;
use std::sync::Arc;

use jarvis_chat::{Embedder, OpenAiConfig, OpenAiEmbeddings};
use jarvis_easytool::instructions::builtin_functions;
use jarvis_easytool::retrieval::{Retriever, StoredVectors, catalogue_hash, read_stored};
use jarvis_testing::chat::{FakeChat, Reply, Script};

fn tools() -> Vec<(i64, String)> {
    let text =
        ["search movies by title", "current weather of a city", "search people by name", "search movies by title"];
    (10_i64..).zip(text).map(|(id, text)| (id, text.to_owned())).collect()
}

fn embedder(fake: &FakeChat, model: &str) -> Arc<dyn Embedder> {
    Arc::new(OpenAiEmbeddings::new(OpenAiConfig::new(fake.url(), model)).unwrap())
}

async fn by_vectors(fake: &FakeChat, tools: Vec<(i64, String)>, cache: &Path) -> Retriever {
    Retriever::by_vectors(tools, embedder(fake, "m"), Some(cache.to_owned())).await.unwrap()
}

async fn ids(retriever: &Retriever, text: &str, k: usize) -> Vec<i64> {
    retriever.retrieve(text, k).await.unwrap().iter().map(|found| found.id).collect()
}

fn asked(fake: &FakeChat) -> Vec<String> {
    fake.requests()
        .iter()
        .flat_map(|request| request.inputs().into_iter().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[tokio::test]
async fn words_find_the_functions_of_the_hub() {
    let tools: Vec<(i64, String)> =
        builtin_functions().into_iter().map(|function| (function.id, function.description)).collect();
    let retriever = Retriever::by_words(tools).await.unwrap();
    assert_eq!((retriever.id(), retriever.len()), ("bm25".to_owned(), 13));
    for (text, expected) in
        [("the greatest common divisor of 144 and 12", 9), ("square root of 2", 5), ("the remainder of 7 by 3", 10)]
    {
        assert_eq!(ids(&retriever, text, 1).await, [expected], "{text}");
    }
    assert_eq!(ids(&retriever, "", 5).await, [] as [i64; 0]);
}

#[tokio::test]
async fn vectors_are_made_once() {
    let (fake, dir) = (FakeChat::start(Script::new()).await, tempfile::tempdir().unwrap());
    let retriever = by_vectors(&fake, tools(), dir.path()).await;
    assert_eq!(retriever.notes(), [] as [&str; 0]);
    // Equal descriptions have one vector, and keep their order.
    assert_eq!(asked(&fake).len(), 3);
    for _ in 0..2 {
        assert_eq!(ids(&retriever, "movies by their title", 3).await, [10, 13, 12]);
        assert_eq!(ids(&retriever, "weather", 9).await[0], 11);
    }
    assert_eq!(asked(&fake)[3..], ["movies by their title", "weather"]);
    let many = ["weather", "fog", "fog", "rain"].map(str::to_owned);
    retriever.prepare(&many).await.unwrap();
    retriever.prepare(&many).await.unwrap();
    assert_eq!(asked(&fake)[5..], ["fog", "rain"]);
    retriever.keep().await.unwrap();

    // Another process with one tool more asks for that alone.
    let more = [tools(), vec![(20, "translate a text".to_owned())]].concat();
    let retriever = by_vectors(&fake, more, dir.path()).await;
    assert_eq!(ids(&retriever, "rain", 1).await.len(), 1);
    assert_eq!(ids(&retriever, "weather", 1).await, [11]);
    assert_eq!(asked(&fake)[7..], ["translate a text"]);
    // Another model shares nothing.
    let other = Retriever::by_vectors(tools(), embedder(&fake, "m2"), Some(dir.path().to_owned())).await.unwrap();
    assert_eq!((asked(&fake).len(), other.len()), (11, 4));
    assert_ne!(catalogue_hash(&tools()), catalogue_hash(&tools()[1..]));
}

#[tokio::test]
async fn what_was_made_before_a_failure_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let many: Vec<(i64, String)> = (0..300).map(|id| (id, format!("tool number {id}"))).collect();
    let script = Script::new().on(
        "embed",
        [Reply::text(""), Reply::text(""), Reply::text(""), Reply::text(""), Reply::error(400, "no more")],
    );
    let fake = FakeChat::start(script).await;
    let error =
        Retriever::by_vectors(many.clone(), embedder(&fake, "m"), Some(dir.path().to_owned())).await.unwrap_err();
    assert_eq!(error.to_string(), "no more");
    assert_eq!(asked(&fake).len(), 300);
    // The script's last reply repeats, so a second try is refused as well; but it asks for the rest alone.
    Retriever::by_vectors(many, embedder(&fake, "m"), Some(dir.path().to_owned())).await.unwrap_err();
    assert_eq!(asked(&fake).len(), 344);
}

#[tokio::test]
async fn a_damaged_file_is_told_and_made_anew() {
    let (fake, dir) = (FakeChat::start(Script::new()).await, tempfile::tempdir().unwrap());
    by_vectors(&fake, tools(), dir.path()).await;
    let file = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let retriever = by_vectors(&fake, tools(), dir.path()).await;
    let note = format!("{} is damaged: its checksum does not fit; its vectors are made anew", file.display());
    assert_eq!(retriever.notes(), [note]);
    assert_eq!(asked(&fake).len(), 6);
    assert_eq!(by_vectors(&fake, tools(), dir.path()).await.notes(), [] as [&str; 0]);
    assert_eq!(asked(&fake).len(), 6);
}

#[tokio::test]
async fn stored_vectors_are_used_in_their_order() {
    let (fake, dir) = (FakeChat::start(Script::new()).await, tempfile::tempdir().unwrap());
    let path = dir.path().join("pair.json");
    let vector = |text: &str| serde_json::json!(jarvis_testing::chat::fake_vector(text, 64));
    let pair = serde_json::json!([
        ["12", 99, 10, 11],
        [vector("people"), vector("movies"), vector("movies"), vector("weather")]
    ]);
    std::fs::write(&path, pair.to_string()).unwrap();
    let stored = read_stored(&path).unwrap();
    let retriever = Retriever::by_stored(&tools(), stored, embedder(&fake, "m"), None).await.unwrap();
    assert_eq!(
        retriever.notes(),
        [
            "stored vectors left out, since the catalogue has no such tools: 1 (99)",
            "tools without a stored vector, which cannot be found: 1",
        ]
    );
    assert_eq!(ids(&retriever, "movies", 2).await, [10, 12]);

    let short = StoredVectors { ids: vec![10], vectors: vec![vec![1.0]] };
    let retriever = Retriever::by_stored(&tools(), short, embedder(&fake, "m"), None).await.unwrap();
    let error = retriever.retrieve("movies", 1).await.unwrap_err();
    assert_eq!(error.to_string(), "the query's vector has 64 components, and the index is of 1");

    for (text, expected) in [
        ("[[1], [[1.0], [2.0]]]", ": it holds 1 ids and 2 vectors"),
        (r#"[["x"], [[1.0]]]"#, ": \"x\" is not the id of a tool"),
        ("{}", ", line 1: invalid type: map, expected a tuple of size 2"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = read_stored(&path).unwrap_err().to_string();
        assert_eq!(error, format!("{}{expected}", path.display()));
    }
}

#[tokio::test]
async fn there_may_be_no_tools() {
    let fake = FakeChat::start(Script::new()).await;
    let retriever = Retriever::by_vectors(Vec::new(), embedder(&fake, "m"), None).await.unwrap();
    assert!(retriever.is_empty());
    assert_eq!(ids(&retriever, "movies", 5).await, [] as [i64; 0]);
    assert_eq!(fake.requests().len(), 0);
}
