//! The main job with no key and no network, as a new user tries it.

use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::{Harness, outcomes, picture_of};

const NOTES: &str = "The harbour of Lisbon was quiet on 3 May 2024. Maria Silva, who runs a small boat company, said that \
    business had been wonderful all spring. Tourists arrive every morning and the boats leave full. The company earned \
    12,500 euros. The city plans to widen the old pier next year. Most people on the quay smiled and talked of a good season.";

#[track_caller]
fn check(request: &str, want: &[&str]) -> Value {
    let harness = Harness::new();
    harness.picture("photo.png");
    harness.picture("other.png");
    harness.file("notes.txt", NOTES);
    let (code, document) = harness.json(&["run", request, "--json", "-q"]);
    assert_eq!(outcomes(&document), want, "{request}: {document:#}");
    assert_eq!(code, 0, "{request}");
    // The media are gone with the harness; what a test measures is read here.
    let mut document = document;
    for outcome in document["outcomes"].as_array_mut().expect("outcomes") {
        let has_picture = outcome["outputs"].as_array().expect("outputs").iter().any(|o| o["kind"] == "image");
        if has_picture {
            let picture = picture_of(outcome);
            let grey = picture.pixels().all(|p| p.0[0].abs_diff(p.0[1]) < 12 && p.0[1].abs_diff(p.0[2]) < 12);
            let bright = picture.pixels().filter(|p| p.0[0] > 128).count();
            outcome["seen"] =
                json!({"width": picture.width(), "height": picture.height(), "grey": grey, "bright": bright});
        }
    }
    document
}

fn text_of(document: &Value, task: usize) -> String {
    let outputs = document["outcomes"][task]["outputs"].as_array().expect("outputs");
    let text = outputs.iter().find(|output| output["kind"] == "text").expect("a text");
    text["text"].as_str().expect("a string").to_owned()
}

#[test]
fn edges_of_a_picture() {
    for request in ["find the edges of photo.png", "найди контуры на photo.png", "找出photo.png的边缘"]
    {
        let document = check(request, &["0 canny-control succeeded native/canny"]);
        let seen = &document["outcomes"][0]["seen"];
        // The outline of an 80 by 60 square is about 280 pixels long.
        let bright = seen["bright"].as_u64().expect("a count");
        assert!((200..800).contains(&bright), "{seen}");
    }
}

#[test]
fn grey_and_half_the_size() {
    for request in [
        "make photo.png grey and half the size",
        "сделай photo.png чёрно-белым и уменьши вдвое",
        "把photo.png变成黑白并缩小一半",
    ] {
        let document = check(request, &["0 image-to-image succeeded native/image-edit"]);
        let seen = &document["outcomes"][0]["seen"];
        assert_eq!(
            (&seen["width"], &seen["height"], &seen["grey"]),
            (&json!(100), &json!(60), &json!(true)),
            "{request}"
        );
    }
}

#[test]
fn the_main_colour() {
    for (request, colour) in [
        ("what is the dominant colour of photo.png?", "blue"),
        ("какой основной цвет на photo.png?", "голуб"),
        ("photo.png的主要颜色是什么？", "蓝"),
    ] {
        let document = check(request, &["0 visual-question-answering succeeded native/image-measure-qa"]);
        assert!(text_of(&document, 0).contains(colour), "{request}: {}", text_of(&document, 0));
    }
}

#[test]
fn summary_mood_and_names_of_a_text() {
    let summary = check("summarise notes.txt", &["0 summarization succeeded native/textrank"]);
    let text = text_of(&summary, 0);
    assert!(
        text.len() < NOTES.len() && text.split(". ").all(|sentence| NOTES.contains(sentence.trim_end_matches('.')))
    );

    let mood = check("what is the sentiment of notes.txt?", &["0 text-classification succeeded native/vader"]);
    assert!(text_of(&mood, 0).to_lowercase().starts_with("positive"), "{}", text_of(&mood, 0));

    let names = check("list the names in notes.txt", &["0 token-classification succeeded native/entity-rules"]);
    assert_eq!(text_of(&names, 0), "people: Maria Silva; places: Lisbon");
    let found = check(
        "list the names, dates and sums of money in notes.txt",
        &["0 token-classification succeeded native/entity-rules"],
    );
    for one in ["Maria Silva", "Lisbon", "3 May 2024", "12,500 euros"] {
        assert!(text_of(&found, 0).contains(one), "{}", text_of(&found, 0));
    }
    assert_eq!(names["plan"]["tasks"][0]["args"]["text"], "notes.txt", "a plan names the file");
}

#[test]
fn a_text_is_read_aloud_by_the_installed_espeak_ng() {
    if std::process::Command::new("espeak-ng").arg("--version").output().is_err() {
        println!("skipped: espeak-ng is not installed");
        return;
    }
    for request in
        ["read aloud: \"Good morning to all of you\"", "прочитай вслух: «Доброе утро, друзья»", "朗读：“大家早上好”"]
    {
        let harness = Harness::new();
        let (code, document) = harness.json(&["run", request, "--json", "-q"]);
        assert_eq!((code, outcomes(&document)), (0, vec!["0 text-to-speech succeeded native/espeak-ng".to_owned()]));
        let path = document["outcomes"][0]["outputs"][0]["path"].as_str().expect("a path").to_owned();
        let sound = hound::WavReader::open(path).expect("a WAV file");
        assert!(sound.duration() > sound.spec().sample_rate / 2, "{request}: at least half a second");
    }
}

#[test]
fn two_pictures_in_one_request() {
    let document = check(
        "how big are photo.png and other.png?",
        &[
            "0 visual-question-answering succeeded native/image-measure-qa",
            "1 visual-question-answering succeeded native/image-measure-qa",
        ],
    );
    assert!(text_of(&document, 0).contains("200 x 120"), "{}", text_of(&document, 0));
}

#[test]
fn a_chain_runs_on_the_result() {
    for request in [
        "segment photo.png, then find the edges of the result",
        "сегментируй photo.png, затем найди контуры результата",
        "先分割photo.png，然后提取结果的边缘",
    ] {
        let document = check(
            request,
            &["0 image-segmentation succeeded native/graph-segmenter", "1 canny-control succeeded native/canny"],
        );
        assert_eq!(document["plan"]["tasks"][1]["args"]["image"], "<GENERATED>-0", "{request}");
        assert_eq!(document["plan"]["tasks"][1]["dep"], json!([0]));
    }
}

#[test]
fn a_conversation_works_on_what_it_made() {
    let harness = Harness::new();
    harness.picture("photo.png");
    let ended = harness.run_with_input(&["chat", "--json", "-q"], "segment photo.png\nfind the edges of it\n");
    let lines: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let made = lines[0]["answer"]["resources"][0]["url"].as_str().expect("a picture");
    assert_eq!(lines[1]["plan"]["tasks"][0]["args"]["image"], made, "{}", lines[1]);
    assert_eq!(outcomes(&lines[1]), ["0 canny-control succeeded native/canny"]);
}

#[test]
fn a_sentence_model_is_asked_for_tools_once_and_for_requests_each_time() {
    let fake = FakeChat::spawn(Script::new());
    let harness = Harness::new().env("OPENAI_API_KEY", "sk-very-secret");
    let url = fake.url();
    let plan =
        ["plan", "tell the mood of \"rain again\"", "--llm", "offline", "--base-url", &url, "--planner-embedder", "m"];
    for calls in [2, 3] {
        let told = harness.run(&plan);
        assert!(told.code == 0 && told.stdout.contains("text-classification"), "{} {}", told.stdout, told.stderr);
        assert_eq!(fake.requests_of("embed").len(), calls);
    }
    let asked = fake.requests();
    assert_eq!(asked.len(), 3, "nothing but vectors is asked for");
    let says = |at: usize, text: &str| asked[at].inputs().iter().any(|input| input.contains(text));
    assert!(says(0, "text classification") && says(1, "tell the mood") && says(2, "tell the mood"));
    // What people ask is in no file of vectors.
    let files = std::fs::read_dir(harness.data().join("vectors")).unwrap();
    assert!(files.map(|file| file.unwrap().file_name()).all(|name| name.to_string_lossy().contains("planner")));
    // Another planner than the built-in one is told apart.
    let run = harness.json(&[
        "run",
        "tell the mood of \"rain again\"",
        "--json",
        "-q",
        "--base-url",
        &url,
        "--planner-embedder",
        "m",
    ]);
    assert_eq!(run.0, 0, "{:#}", run.1);
}

#[test]
fn without_its_sentence_model_the_planner_plans_by_words_and_says_so() {
    let fake = FakeChat::spawn(
        Script::new().on("embed", [Reply::error(400, "no such model"), Reply::error(400, "no such model")]),
    );
    let harness = Harness::new().env("OPENAI_API_KEY", "sk-very-secret");
    let url = fake.url();
    let request = "tell the mood of \"rain again\"";
    let told = harness.run(&["plan", request, "--llm", "offline", "--base-url", &url, "--planner-embedder", "m"]);
    let all = format!("{} {}", told.stdout, told.stderr);
    assert!(told.code == 0 && all.contains("text-classification"), "{all}");
    assert!(all.contains("planned by words alone, without the sentence model: "), "{all}");
    for (embedder, want) in [("local/none", "`none` is not on this machine"), ("local:nowhere", "the model in nowhere")]
    {
        let told = harness.run(&["plan", request, "--planner-embedder", embedder]);
        assert!(told.code == 2 && told.stderr.contains(want), "{embedder}: {}", told.stderr);
    }
    let told = Harness::new().run(&["plan", request, "--planner-embedder", "m"]);
    assert!(told.code == 2 && told.stderr.contains("--planner-embedder local/NAME"), "{}", told.stderr);
}
