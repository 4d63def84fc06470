//! Template answers, whole, in three languages.

use indexmap::IndexMap;
use jarvis_catalogue::Host;
use jarvis_plan::{
    AnswerResource, Attempt, Candidate, ErrorCode, Kind, Note, Outcome, Plan, Request, Resource, Selection, Source,
    Status, TaskError, TaskId,
};
use serde_json::json;

use super::answer;

fn outcome(id: u32, task: &str, model: &str, arg: &str, ended: Result<serde_json::Value, TaskError>) -> Outcome {
    let chosen = Candidate { id: model.into(), host: Host::Native.into(), effective_task: task.into() };
    let error = ended.as_ref().err().cloned();
    Outcome {
        made_up_for: false,
        id: TaskId(id),
        task: task.into(),
        status: if error.is_none() { Status::Succeeded } else { Status::Failed },
        args: IndexMap::from([("image".to_owned(), arg.into())]),
        selection: Some(Selection {
            task: TaskId(id),
            chosen: chosen.clone(),
            fallbacks: Vec::new(),
            reason: String::new(),
            notes: Vec::new(),
        }),
        attempts: vec![Attempt { candidate: chosen, error: error.clone(), ms: 1 }],
        output: ended.ok(),
        error,
        notes: Vec::new(),
        ms: 1,
    }
}

fn told(request: &str) -> String {
    let mut request = Request::new(request);
    request.attachments.push(Resource {
        kind: Kind::Image,
        source: Source::Public("/images/in.png".into()),
        name: Some("cat.png".into()),
    });
    let broken = TaskError::new(ErrorCode::InvalidInput, "`/images/in.png` is not an image").hint("convert it");
    let outcomes = [
        outcome(
            0,
            "canny-control",
            "native/canny",
            "/images/in.png",
            Ok(json!({"generated image": "/images/out.png"})),
        ),
        outcome(
            1,
            "text-classification",
            "native/vader",
            "x",
            Ok(json!([{"label": "POSITIVE", "score": 0.875}, {"label": "NEUTRAL", "score": 0.125}])),
        ),
        outcome(2, "image-to-text", "native/ocr", "/images/in.png", Err(broken)),
    ];
    let (url, name, path) =
        ("/images/out.png".to_owned(), "cat-edges.png".to_owned(), Some("/home/ada/cat-edges.png".into()));
    let made = AnswerResource { kind: Kind::Image, url, from: TaskId(0), name, path };
    answer(&request, &Plan::default(), &outcomes, &[made])
}

#[test]
fn results_and_failures_are_told_in_the_language_of_the_request() {
    insta::assert_snapshot!(["do it all", "сделай всё", "全部做完"].map(told).join("\n\n"));
}

#[test]
fn all_that_was_left_out_is_told_and_what_was_mended_is_not() {
    let notes = vec![
        Note::left_out("no tool fits \"sing\""),
        Note::from("a comma was missing"),
        Note::left_out("the plan has 40 tasks; only the first 32 are kept"),
    ];
    let mut plan = Plan::default();
    notes.into_iter().for_each(|note: Note| plan.note(note));
    let done = outcome(0, "translation", "native/x", "x", Ok(json!({"generated text": "hallo"})));
    let told = answer(&Request::new("say hello"), &plan, &[done], &[]);
    let (notes, _) = told.split_once("Translation").unwrap_or_else(|| panic!("{told}"));
    insta::assert_snapshot!(notes);
}

#[test]
fn what_can_be_asked_of_tables_is_told() {
    let check = |text: &str, want: bool| {
        let told = answer(&Request::new(text), &Plan::default(), &[], &[]);
        assert_eq!(told.contains("extremes and cells") || told.contains("крайние значения"), want, "{text}: {told}");
    };
    check("total units in orders.csv", true);
    check("сумма в orders.json?", true);
    check("sing a song about notes.txt", false);
}
