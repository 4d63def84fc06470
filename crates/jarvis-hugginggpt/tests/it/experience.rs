//! Requests planned by what was planned before.

use std::sync::Arc;

use jarvis_hugginggpt::{ExperienceUse, PlanMemory};
use jarvis_pipeline::Kept;
use jarvis_plan::{Request, RunId};
use jarvis_planner::{Basis, Encoder, Texts};
use jarvis_store::Journal;
use jarvis_testing::chat::{Reply, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Builder, Fixture, with_chat};

struct Person {
    _folder: tempfile::TempDir,
    journal: Arc<Journal>,
    fixture: Fixture,
}

impl Person {
    async fn new(builder: Builder) -> Person {
        Person::reading_by(builder, Basis::default()).await
    }

    async fn reading_by(builder: Builder, basis: Basis) -> Person {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Arc::new(Journal::open(&folder.path().join("runs.db")).expect("a journal"));
        let mut fixture = builder.build().await;
        let memory = Some(PlanMemory::new(Arc::clone(&journal), Vec::new()).read_by(basis));
        fixture.pipeline = Arc::new(jarvis_hugginggpt::HuggingGpt { memory, ..(*fixture.pipeline).clone() });
        Person { _folder: folder, journal, fixture }
    }

    /// Runs a request as the run with this number; whether all of it was done.
    async fn asks(&self, number: u64, request: Request) -> bool {
        // Ids tell when their runs began.
        let id = format!("{:012x}7000800000000000{number:04x}", now_ms() + 1_000);
        let id = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| id[part].to_owned()).join("-");
        let (events, _receiver) = jarvis_engine::Events::channel(RunId(id));
        events.kept_in(Arc::new(Kept::awaited(Arc::clone(&self.journal))));
        let run = self.fixture.pipeline.run(Arc::new(request), &events, CancellationToken::new()).await;
        self.journal.flush().await.expect("it is written");
        run.expect("an answer").ok()
    }

    /// The demonstrations of the latest planning call: what was asked, and the tasks of the plan.
    fn shown(&self) -> Vec<(String, String)> {
        let chat = self.fixture.chat.as_ref().expect("a chat model");
        let calls = chat.requests_of("parse_task");
        let messages = calls.last().expect("a planning call").body["messages"].as_array().expect("messages").clone();
        let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
        messages[1..messages.len() - 1].chunks(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
    }

    fn planning_calls(&self) -> usize {
        self.fixture.chat.as_ref().expect("a chat model").requests_of("parse_task").len()
    }
}

fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time after 1970");
    now.as_millis() as u64
}

fn plan(task: &str, text: &str) -> String {
    json!([{"task": task, "id": 0, "dep": [-1], "args": {"text": text}}]).to_string()
}

fn script() -> Script {
    let plans = [
        ("mood of \"great\"", plan("text-classification", "great")),
        ("names in \"Ann and Bo\"", plan("token-classification", "Ann and Bo")),
        ("draw a red fox", plan("text-to-image", "a red fox")),
        ("mood of \"awful\"", plan("text-classification", "awful")),
        ("writer's feelings in \"dull\"", plan("text-classification", "dull")),
    ];
    let script = Script::new().on("choose_model", Reply::text(r#"{"id": "a/b", "reason": "it fits"}"#));
    let script = script.on("response_results", Reply::text("Done."));
    plans.into_iter().fold(script, |script, (said, plan)| {
        script.on_containing("parse_task", &[&format!("Input: the {said}")], Reply::text(plan.clone()))
    })
}

fn person(using: ExperienceUse) -> Builder {
    let mut builder = with_chat(script());
    builder.settings.experience = using;
    let tasks = ["text-classification", "token-classification", "text-to-image"];
    tasks.into_iter().fold(builder, |builder, task| builder.live(task, "a/b"))
}

#[tokio::test]
async fn the_most_alike_plans_are_shown_and_bad_ones_never() {
    let person = Person::new(person(ExperienceUse::Use)).await;
    let said = ["the mood of \"great\"", "the names in \"Ann and Bo\"", "the draw a red fox"];
    for (at, said) in said.iter().enumerate() {
        assert!(person.asks(at as u64, Request::new(*said)).await, "{said}");
    }
    let rows = person.journal.experience("").unwrap();
    assert_eq!(rows.iter().map(|row| (row.good, row.verdict.as_str())).collect::<Vec<_>>(), [(true, "succeeded"); 3]);
    let before = person.shown();
    assert!(before.iter().all(|(said, _)| !said.contains("red fox")), "nothing alike was known: {before:?}");
    assert!(person.asks(3, Request::new("the mood of \"awful\"")).await);
    let shown = person.shown();
    let (request, answer) = shown.last().expect("demonstrations");
    assert_eq!(request, "the mood of \"great\"");
    assert_eq!(
        serde_json::from_str::<Value>(answer).unwrap(),
        serde_json::from_str::<Value>(&plan("text-classification", "great")).unwrap()
    );
    assert_eq!(shown.len(), before.len(), "they stand in the place of others");
    // Rated as bad, it is shown no more.
    let great = rows.iter().find(|row| row.body.contains("great")).expect("it is kept").id.clone();
    person.journal.rate(Some(""), &great, false).await.unwrap();
    assert!(person.asks(4, Request::new("the mood of \"great\"")).await);
    let shown = person.shown();
    assert_eq!(shown.last().map(|(said, _)| said.as_str()), Some("the mood of \"awful\""), "{shown:?}");
    assert!(!shown.iter().any(|(said, _)| said.contains("great")), "{shown:?}");
}

/// Knows that moods are feelings.
struct Moods;

impl Encoder for Moods {
    fn id(&self) -> String {
        "moods".to_owned()
    }

    fn encode(&self, texts: &[String], _: Texts) -> Result<Vec<Vec<f32>>, String> {
        let is = |text: &str, words: [&str; 2]| f32::from(u8::from(words.iter().any(|word| text.contains(word))));
        Ok(texts.iter().map(|text| vec![is(text, ["mood", "feelings"]), is(text, ["names", "people"])]).collect())
    }
}

#[tokio::test]
async fn plans_of_the_same_meaning_are_shown_where_sentences_are_read() {
    let encoder: Arc<dyn Encoder> = Arc::new(Moods);
    for (encoder, want) in [(None, false), (Some(encoder), true)] {
        let basis = Basis { encoder, ..Basis::default() };
        let person = Person::reading_by(person(ExperienceUse::Use), basis).await;
        for (at, said) in ["the names in \"Ann and Bo\"", "the mood of \"great\""].iter().enumerate() {
            assert!(person.asks(at as u64, Request::new(*said)).await, "{said}");
        }
        assert!(person.asks(2, Request::new("the writer's feelings in \"dull\"")).await);
        let shown = person.shown();
        let is_mood = |(said, _): &(String, String)| said.contains("mood of \"great\"");
        assert_eq!(shown.last().is_some_and(is_mood), want, "{shown:?}");
        assert!(!want || !shown.iter().any(|(said, _)| said.contains("names in")), "{shown:?}");
    }
}

#[tokio::test]
async fn what_is_switched_off_is_neither_kept_nor_shown() {
    for (using, without, kept) in [
        (ExperienceUse::Off, false, 0),
        (ExperienceUse::Keep, false, 2),
        (ExperienceUse::Use, true, 0),
        (ExperienceUse::Use, false, 2),
    ] {
        let person = Person::new(person(using)).await;
        for said in ["the mood of \"great\"", "the mood of \"awful\""] {
            let request = Request { without_experience: without, ..Request::new(said) };
            assert!(person.asks(1 + said.len() as u64, request).await);
        }
        assert_eq!(person.journal.experience("").unwrap().len(), kept, "{using:?}");
        let shown = person.shown().iter().any(|(said, _)| said.contains("great"));
        assert_eq!(shown, using == ExperienceUse::Use && !without, "{using:?}");
    }
}

#[tokio::test]
async fn a_request_with_other_values_is_planned_without_a_call() {
    let person = Person::new(person(ExperienceUse::Reuse)).await;
    assert!(person.asks(1, Request::new("the mood of \"great\"")).await);
    assert_eq!(person.planning_calls(), 1);
    assert!(person.asks(2, Request::new("The mood of \"rather sad, and tired\"!")).await);
    assert_eq!(person.planning_calls(), 1);
    let seen = person.fixture.worker.seen.lock().unwrap().last().cloned().unwrap();
    assert_eq!(seen.2, json!({"text": "rather sad, and tired"}));
    // A word more is another request.
    person.asks(3, Request::new("the mood of \"awful\", and of \"great\"")).await;
    let calls = person.planning_calls();
    assert!(calls > 1);
    // What a person calls bad is not done again.
    let rows = person.journal.experience("").unwrap();
    for row in &rows {
        person.journal.rate(None, &row.id, false).await.unwrap();
    }
    assert!(person.asks(4, Request::new("the mood of \"awful\"")).await);
    assert_eq!(person.planning_calls(), calls + 1);
}
