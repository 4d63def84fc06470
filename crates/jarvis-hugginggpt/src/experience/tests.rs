//! What is kept of a run, and how values of a new request are found by an old one.

use jarvis_plan::{Kind, Limits, Plan, Request, Resource, Source, Turn, Vocabulary};
use serde_json::{Value, json};

use super::clean::{CUT, Cleaner, REDACTED};
use super::*;

#[test]
fn secrets_are_taken_out_and_words_stay() {
    let gone = |text: &str, want: &str| {
        assert_eq!(Cleaner::default().text(text), want.replace('#', REDACTED), "{text}");
    };
    gone("my key is sk-proj-abcdefgh12345678, use it", "my key is #, use it");
    gone("hf_abcdefghijkl and ghp_ABCDEFGH12345678", "# and #");
    gone("password: hunter2!", "password: #");
    gone("the API key is Xy12-99 now", "the API key is # now");
    gone("Authorization: Bearer abc123def", "Authorization: Bearer #");
    gone("пароль: qwerty123", "пароль: #");
    gone("post to https://ada:s3cret@example.org/x", "post to https://#@example.org/x");
    gone("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "#");
    gone("token=0123456789abcdef0123456789abcdef", "token=#");
    gone("see 0123456789abcdef0123456789abcdef0", "see #");
    gone("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b", "a # b");
    gone("DB_PASSWORD=hunter2 and AWS_SECRET_ACCESS_KEY=abc", "DB_PASSWORD=# and AWS_SECRET_ACCESS_KEY=#");
    gone("password: correcthorse", "password: #");
    gone("it is \"0123456789abcdef0123456789abcdef\".", "it is \"#\".");
    gone("use 0123456789abcdef0123456789abcdef.", "use #.");
    let stays = |text: &str| gone(text, text);
    stays("describe 0123456789abcdef0123456789abcdef.png");
    stays("describe /images/0123456789abcdef0123456789abcdef01.png");
    stays("what is the secret of a good soup?");
    stays("reset my password and tell Bob");
    stays("summarise internationalizationandlocalizationofsoftware");
    stays("token classification of \"Ann lives in Rome\"");
    gone("look at data:image/png;base64,iVBORw0KGgo= please", &format!("look at data:{CUT} please"));
    let known = [Secret::new("correct horse").expect("a secret")];
    let request = Request::new("");
    assert_eq!(Cleaner::new(&known, &request).text("say correct horse"), format!("say {REDACTED}"));
    assert_eq!(Cleaner::default().request(&"ж".repeat(5_000)).chars().count(), 4_000 + CUT.chars().count());
}

#[test]
fn arguments_hold_no_secrets_either() {
    let request = Request::new("log in to shop.example with password hunter2");
    let args = json!({"password": "swordfish", "who": "hunter2", "body": {"apiKey": 12, "max_tokens": 5}});
    let entry = Entry::new(&request, &plan(&args), &[]).expect("an entry");
    let body = serde_json::to_string(&entry).expect("JSON");
    assert!(!body.contains("hunter2") && !body.contains("swordfish") && !body.contains("12"), "{body}");
    assert!(body.contains("\"max_tokens\":5"), "{body}");
}

fn file(kind: Kind, source: Source, name: &str) -> Resource {
    Resource { kind, source, name: Some(name.to_owned()) }
}

fn plan(args: &Value) -> Plan {
    let plan = Plan::builder().task("a", args.clone());
    plan.check(&Vocabulary::named(["a"])).expect("a valid plan")
}

#[test]
fn what_an_attached_text_holds_is_not_kept() {
    let content = "Dear Ann, the xylophone concert was the best evening of my whole year.";
    let request = Request {
        attachments: vec![file(Kind::Text, Source::Inline(content.to_owned()), "letter.txt")],
        history: vec![Turn::user("hello")],
        ..Request::new("the mood of letter.txt")
    };
    for said in [content, "the xylophone concert was the best evening of my whole"] {
        let entry = Entry::new(&request, &plan(&json!({"text": said, "more": [said]})), &[]).expect("an entry");
        let body = serde_json::to_string(&entry).expect("JSON");
        assert!(!body.contains("xylophone") && body.contains("letter.txt") && entry.follows, "{body}");
    }
}

/// Checks what the plan of one request becomes for another.
fn check(old: &str, args: Value, new: &str, want: Option<Value>) {
    check_requests(&Request::new(old), &args, &Request::new(new), want);
}

fn check_requests(old: &Request, args: &Value, new: &Request, want: Option<Value>) {
    let entry = Entry::new(old, &plan(args), &[]).expect("an entry");
    let (at_ms, good, verdict) = (1, true, Verdict::Succeeded);
    let row = Remembered { id: "r".to_owned(), at_ms, good, verdict, entry }.row();
    let known = Known::new(vec![row], &Basis::default());
    let found = known.reusable(new, &HashSet::from(["a"]));
    let vocabulary = Vocabulary::named(["a"]);
    let plan = found.first().map(|reused| jarvis_plan::check(&reused.draft, &vocabulary, Limits::default()));
    let args = plan.map(|plan| json!(plan.tasks()[0].args));
    assert_eq!(args, want, "{} -> {}", old.text, new.text);
}

#[test]
fn values_are_found_where_the_old_ones_stood() {
    let mood = |text: &str| json!({"text": text});
    let moods = |new: &str, want: Option<&str>| {
        check("Tell the mood of \"I am glad\"", mood("I am glad"), new, want.map(mood));
    };
    moods("tell the mood of \"Never again, and not then\".", Some("Never again, and not then"));
    moods("Please tell the mood of \"x\"", Some("x"));
    moods("don't tell the mood of \"x\"", None);
    moods("tell the mood of \"x\" and draw it", None);
    moods("tell the mood of x", None);
    moods("tell the topic of \"x\"", None);

    let city = |city: &str, days: u32| json!({"city": city, "days": days});
    let trips = |new: &str, want: Option<Value>| check("Plan 3 days in Rome", city("Rome", 3), new, want);
    trips("plan 12 days in Oslo", Some(city("Oslo", 12)));
    trips("Plan 5 days in New York City!", Some(city("New York City", 5)));
    trips("plan 2.5 days in Oslo", None);
    trips("plan three days in Oslo", None);
    trips("plan 3 days in Oslo and Bergen", None);
    trips("plan 3 days in Oslo, then call Bob", None);
    trips("plan 3 days in Oslo next week with friends", None);
    trips("plan 3 days in \"Oslo\"", None);
    trips("plan 3 days in", None);

    trips("plan 3 days in summer", None);
    trips("plan 3 days in Oslo?", None);
    check("draw cats", json!({"what": "cats"}), "draw nothing", None);
    check("draw cats", json!({"what": "cats"}), "draw it", None);

    // A value that the old request does not say is not one of the new request.
    check("weather tomorrow in Rome", json!({"city": "Rome", "date": "2026-11-29"}), "weather tomorrow in Oslo", None);
    check("is it open in Rome", json!({"city": "Rome", "now": true}), "is it open in Oslo", None);
    // One that stands twice is the same in both places.
    let twice = json!({"from": "5"});
    check("turn 5 into 5", twice.clone(), "turn 7 into 7", Some(json!({"from": "7"})));
    check("turn 5 into 5", twice, "turn 7 into 8", None);
    // Two values that lie in each other are not told apart.
    check("draw a red fox", json!({"what": "a red fox", "colour": "red"}), "draw a blue cat", None);
    // Two names without a word between: there are several ways to see them.
    check("compare Ann Bob", json!({"a": "Ann", "b": "Bob"}), "compare Mary Jane Joe", None);
    check(
        "compare Ann with Bob",
        json!({"a": "Ann", "b": "Bob"}),
        "compare Mary Jane with Joe",
        Some(json!({"a": "Mary Jane", "b": "Joe"})),
    );
    check("查北京天气", json!({"city": "北京"}), "查上海天气", Some(json!({"city": "上海"})));
    check("送信给 ann@a.org", json!({"to": "ann@a.org"}), "送信给 bob@b.org", Some(json!({"to": "bob@b.org"})));
    check("show deep", json!({"x": {"y": ["deep"]}}), "show wide", Some(json!({"x": {"y": ["wide"]}})));
}

#[test]
fn files_of_demonstrations_have_made_up_names() {
    let attached = |path: &str| file(Kind::Text, Source::Public(path.to_owned()), path);
    // One name lies in the other, and the second stand-in ends as the first file is called.
    let request =
        Request { attachments: vec![attached("b.txt"), attached("a.txt")], ..Request::new("compare b.txt and a.txt") };
    let vocabulary = Vocabulary::named(["b.txt"]);
    let plan = Plan::builder().task("b.txt", json!({"one": "b.txt", "two": "a.txt"})).check(&vocabulary);
    let entry = Entry::new(&request, &plan.expect("a valid plan"), &[]).expect("an entry");
    let [asked, answered] = super::demos::turns(&entry);
    assert_eq!(asked.content, "compare /examples/a.txt and /examples/b.txt");
    assert!(answered.content.contains(r#""task":"b.txt""#), "{}", answered.content);
    assert!(answered.content.contains(r#""one":"/examples/a.txt","two":"/examples/b.txt""#), "{}", answered.content);
}

#[test]
fn files_are_told_apart_by_their_order_and_kind() {
    let photo = |path: &str, name: &str| file(Kind::Image, Source::Public(path.to_owned()), name);
    let asks = |text: &str, files: Vec<Resource>| Request { attachments: files, ..Request::new(text) };
    let old = asks(
        "make /images/1.png as /images/2.jpg",
        vec![photo("/images/1.png", "a.png"), photo("/images/2.jpg", "b.jpg")],
    );
    let args = json!({"image": "/images/1.png", "style": "/images/2.jpg"});
    let new = asks(
        "make /images/8.png as /images/9.png",
        vec![photo("/images/8.png", "c.png"), photo("/images/9.png", "d.png")],
    );
    check_requests(&old, &args, &new, Some(json!({"image": "/images/8.png", "style": "/images/9.png"})));
    let sound = file(Kind::Audio, Source::Public("/audios/1.wav".to_owned()), "d.wav");
    let other = asks("make /images/8.png as /audios/1.wav", vec![photo("/images/8.png", "c.png"), sound]);
    check_requests(&old, &args, &other, None);
    check_requests(&old, &args, &asks("make c.png as d.png", Vec::new()), None);
    let swapped = asks("make /images/9.png as /images/8.png", new.attachments.clone());
    check_requests(&old, &args, &swapped, None);
}

#[test]
fn a_line_is_taken_in_only_where_all_of_it_is_right() {
    let entry = Entry::new(&Request::new("say hi"), &plan(&json!({"text": "hi"})), &[]).expect("an entry");
    let (id, verdict) = ("r".to_owned(), Verdict::Rated);
    let whole = Remembered { id, at_ms: 7, good: false, verdict, entry };
    assert_eq!(Remembered::read(&whole.line()).as_ref(), Ok(&whole));
    let value: Value = serde_json::from_str(&whole.line()).expect("JSON");
    let check = |change: &dyn Fn(&mut Value), says: &str| {
        let mut value = value.clone();
        change(&mut value);
        let error = Remembered::read(&value.to_string()).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    };
    check(&|value| value["id"] = json!(" "), "`id`");
    check(&|value| value["request"] = json!(""), "`request`");
    check(&|value| value["tools"] = json!(["b"]), "`tools` are not the tools that `plan` calls: a");
    check(&|value| value["plan"]["tasks"] = json!([]), "`plan` has no tasks");
    check(&|value| value["plan"]["tasks"][0]["dep"] = json!([4]), "no plan");
    check(&|value| value["verdict"] = json!("succeeded"), "a plan that succeeded cannot be bad");
    check(&|value| value["verdict"] = json!("splendid"), "splendid");
    check(&|value| drop(value.as_object_mut().map(|fields| fields.remove("plan"))), "plan");
    assert!(Remembered::read("{").expect_err("no JSON").to_string().contains("line 1"));
    let mut secret = whole;
    secret.entry.request = "use sk-abcdefgh12345678".to_owned();
    let read = Remembered::read(&secret.line()).expect("a line");
    assert_eq!(read.entry.request, format!("use {REDACTED}"));
}

#[test]
fn the_time_of_a_run_is_in_its_id() {
    let check = |id: &str, want: Option<u64>| assert_eq!(began_ms(&RunId(id.to_owned())), want, "{id}");
    check("01a1f800-0000-7000-8000-000000000000", Some(0x01a1_f800_0000));
    check("01a1f800-0000-4000-8000-000000000000", None);
    check("r", None);
    check("", None);
    check("жжжжжжжж-0000-7000-8000-000000000000", None);
}
