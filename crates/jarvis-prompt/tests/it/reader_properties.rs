//! Properties of the reader: valid JSON survives, wrapping does not hide it, nothing panics or runs away.

use jarvis_prompt::reader::{Want, read_json, read_typed};
use proptest::prelude::*;
use serde_json::{Value, json};

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1.0e9..1.0e9f64).prop_map(Value::from),
        ".*".prop_map(Value::from),
        "[a-z'\"\\\\{}\\[\\],: \n`“”]{0,24}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-z_]{1,8}|.{0,6}", inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn tasks() -> impl Strategy<Value = Value> {
    prop::collection::vec(
        ("[a-z-]{3,20}", 0u32..9, "[^\u{0}]{0,40}")
            .prop_map(|(task, id, text)| json!({"task": task, "id": id, "dep": [-1], "args": {"text": text}})),
        1..6,
    )
    .prop_map(Value::from)
}

fn layout(value: &Value, pretty: bool) -> String {
    if pretty { serde_json::to_string_pretty(value).unwrap() } else { value.to_string() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_valid_json_survives_unchanged(value in json_value(), pretty: bool) {
        let text = layout(&value, pretty);
        let strict: Value = serde_json::from_str(&text).unwrap();
        let read = read_json(&text, Want::Any).unwrap();
        prop_assert_eq!(read.value, strict);
        prop_assert!(read.mended.is_empty());
    }

    #[test]
    fn tasks_are_found_in_prose_and_fences(
        value in tasks(), pretty: bool,
        before in "[A-Za-z .,:!?'\n-]{0,60}(\\[1\\])?(\\[ User \\])?", after in "(\n[A-Za-z .,:!?'\n-]{0,60})?",
        fence: bool,
    ) {
        let json = layout(&value, pretty);
        let text = if fence { format!("{before}\n```json\n{json}\n```\n{after}") } else { format!("{before} {json} {after}") };
        let read = read_json(&text, Want::Array).unwrap();
        prop_assert_eq!(read.value, value);
    }

    #[test]
    fn a_cut_reply_gives_complete_elements_or_an_error(value in tasks(), pretty: bool, cut in 0.0..1.0f64) {
        let json = layout(&value, pretty);
        let mut at = (json.len() as f64 * cut) as usize;
        while !json.is_char_boundary(at) { at -= 1; }
        let all = value.as_array().unwrap();
        // An error is right when nothing was complete.
        if let Ok(read) = read_json(&json[..at], Want::Array) {
            let kept = read.value.as_array().unwrap();
            prop_assert!(kept.len() <= all.len());
            prop_assert_eq!(kept.as_slice(), &all[..kept.len()]);
            prop_assert!(!kept.is_empty() || json[..at].trim() == "[]");
        }
    }

    #[test]
    fn no_input_panics(text in ".*", want in prop_oneof![Just(Want::Array), Just(Want::Object), Just(Want::Any)]) {
        let _ = read_json(&text, want);
    }

    #[test]
    fn no_near_json_panics(
        text in "[\\[\\]{},:\"'`“”‘’a-z0-9\\\\/#*.\n +-]{0,200}",
        want in prop_oneof![Just(Want::Array), Just(Want::Object), Just(Want::Any)],
    ) {
        let _ = read_json(&text, want);
    }

    #[test]
    fn damaged_tasks_do_not_panic(value in tasks(), at in 0.0..1.0f64, with in "[\\[\\]{},:\"'\\\\]{0,3}") {
        let mut json = value.to_string();
        let mut at = (json.len() as f64 * at) as usize;
        while !json.is_char_boundary(at) { at -= 1; }
        json.insert_str(at, &with);
        let _ = read_json(&json, Want::Array);
    }
}

#[test]
fn long_garbage_ends_soon_and_deep_garbage_does_not_overflow() {
    let length = 1 << 18;
    let units = [
        "[",
        "{",
        "\"",
        "'",
        "[{\"",
        "{\"a\":",
        "[{\"a\":[",
        "['",
        "[[],",
        "[{\"a\":1},",
        "{\"a\": \"b\" ",
        "/*",
        "\\",
        "[1,",
        "}]",
        "`",
        "```json\n[",
        "{'a': 'b'c', ",
        "[{\"a\":\"x\" \"y\", ",
        "[{a b, ",
        "<think>",
        "[{\\\"a\\\":",
        "{\"a\":1}\n",
        "[{\"a\":1}] , ",
        "[{\"a\" ",
        "{\"a\":1},{",
        "[{\"a\":\"b",
        "“",
        "[\"x\",",
        "[{\"a\":1} x ",
    ];
    for unit in units {
        let text = unit.repeat(length / unit.len());
        for want in [Want::Array, Want::Object, Want::Any] {
            let _ = read_json(&text, want);
        }
    }
}

#[test]
fn a_type_that_does_not_fit_is_an_error_that_keeps_the_reply() {
    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Choice {
        id: String,
    }
    let read = read_typed::<Choice>("I take {'id': 'a/b'}.", Want::Object).unwrap();
    assert_eq!(read.value, Choice { id: "a/b".to_owned() });
    let error = read_typed::<Choice>("{\"name\": 1}", Want::Object).unwrap_err();
    insta::assert_snapshot!(error, @"the JSON is not what is wanted: missing field `id`");
    assert_eq!(error.reply, "{\"name\": 1}");
}

#[test]
fn one_wrong_character_never_loses_a_task_unseen() {
    let good = json!([
        {"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "/a.jpg"}},
        {"task": "vqa", "id": 1, "dep": [0], "args": {"image": "<GENERATED>-0", "text": "what's \"it\", then?"}},
        {"task": "c", "id": 2, "dep": [0, 1], "args": {"text": "x y"}},
    ]);
    for pretty in [false, true] {
        let text = layout(&good, pretty);
        let mut damaged = Vec::new();
        for at in 0..text.len() {
            for wrong in "[]{},:\"'\\".chars() {
                let mut more = text.clone();
                more.insert(at, wrong);
                damaged.push(more);
            }
            let mut less = text.clone();
            less.remove(at);
            damaged.push(less);
        }
        let mut same = 0;
        for text in &damaged {
            if let Ok(read) = read_json(text, Want::Array) {
                let tasks = read.value.as_array().unwrap().len();
                let said = read.mended.iter().any(|mend| mend.is_lossy());
                assert!(tasks >= 3 || said, "{text}\n{} {:?}", read.value, read.mended);
                same += usize::from(read.value == good);
            }
        }
        println!("{same} of {} damaged replies read as meant", damaged.len());
    }
}

#[test]
fn a_fence_mark_inside_a_string_closes_nothing() {
    let value = json!([{"task": "a", "id": 0}, {"task": "b", "id": 1, "args": {"text": "run ```ls``` and ```"}}]);
    for text in [format!("Plan:\n```json\n{value}\n```\nDone."), format!("```{value}```"), format!("```\n{value}")] {
        let read = read_json(&text, Want::Array).unwrap();
        assert_eq!(read.value, value, "{text}");
    }
}
