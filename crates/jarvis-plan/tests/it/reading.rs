//! The dialect: what a model may write for a task, and what is not one.

use jarvis_plan::dialect;
use serde_json::json;

use crate::{compact, planned};

#[track_caller]
fn check(json: &str, want: &str) {
    assert_eq!(compact(&planned(json)), want);
}

#[test]
fn slips_in_fields_are_forgiven() {
    let want = "0:image-to-text<>(image=/a.jpg)";
    check(r#"[{"task":"image-to-text","id":"0","dep":-1,"args":{"image":"/a.jpg"}}]"#, want);
    check(r#"[{"task":" image-to-text ","args":{"image":"/a.jpg"}}]"#, want);
    check(r#"{"task":"image-to-text","id":0.0,"dep":null,"args":[{"image":"/a.jpg"}]}"#, want);
    check(r#"{"tasks":[{"task":"image-to-text","id":null,"dep":["-1"],"args":{"image":"/a.jpg"}}]}"#, want);
    check(r#"[{"task":"text-to-speech","id":0,"args":{"text":{"a":1}}}]"#, r#"0:text-to-speech<>(text={"a":1})"#);
    check(r#"[{"task":"text-to-speech","id":0,"args":"read this"}]"#, "0:text-to-speech<>(text=read this)");
    check(r#"[{"task":"image-to-text","id":0,"args":{"image":"/a.jpg","text":null}}]"#, want);
    check(
        r#"[{"task":"text-to-speech","id":0}]"#,
        "0:text-to-speech<>() !MissingArgument { arg: \"text\", takes: \"text\" }",
    );
}

#[test]
fn a_scalar_dep_and_a_tag_as_dep_are_dependencies() {
    check(
        r#"[{"task":"text-to-speech","id":0,"args":{"text":"a"}},{"task":"text-to-speech","id":1,"dep":0,"args":{"text":"b"}},
            {"task":"text-to-speech","id":2,"dep":["<GENERATED>-1","0"],"args":{"text":"c"}}]"#,
        "0:text-to-speech<>(text=a)\n1:text-to-speech<0>(text=b)\n2:text-to-speech<1,0>(text=c)",
    );
}

#[test]
fn a_json_list_of_references_is_a_list() {
    check(
        r#"[{"task":"image-to-image","id":0,"args":{"image":"/a.jpg"}},{"task":"image-to-image","id":1,"args":{"image":"/b.jpg"}},
            {"task":"image-to-text","id":2,"args":{"image":["<GENERATED>-0","<GENERATED>-1"]}}]"#,
        "0:image-to-image<>(image=/a.jpg)\n1:image-to-image<>(image=/b.jpg)\n2:image-to-text<0>(image=<GENERATED>-0)\n\
         3:image-to-text<1>(image=<GENERATED>-1)",
    );
}

#[test]
fn what_is_not_a_list_of_tasks_is_an_error() {
    for (value, want) in [
        (json!("[]"), "expected a JSON array of tasks"),
        (json!(3), "expected a JSON array of tasks"),
        (json!(["a"]), "element 0 of the array is not an object with a `task` name"),
        (json!([{"task":"ok"}, {"name":"x"}]), "element 1 of the array is not an object with a `task` name"),
        (json!({"answer": 42}), "element 0 of the array is not an object with a `task` name"),
    ] {
        assert_eq!(dialect::read(&value).expect_err("not tasks").to_string(), want);
    }
    assert!(dialect::read(&json!([])).expect("an empty plan").tasks.is_empty());
}
