//! The three ways to write a plan down.

use jarvis_plan::export;

use crate::planned;

const PLAN: &str = r#"[
    {"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/images/a \"b\".jpg"}},
    {"task":"text-to-speech","id":1,"dep":[0],"args":{"text":"<GENERATED>-0"}},
    {"task":"nonsense","id":2,"dep":[-1],"args":{}}]"#;

#[test]
fn json_is_the_original_list() {
    insta::assert_snapshot!(export::tasks_json(&planned(PLAN)), @r#"[{"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/images/a \"b\".jpg"}},{"task":"text-to-speech","id":1,"dep":[0],"args":{"text":"<GENERATED>-0"}},{"task":"nonsense","id":2,"dep":[-1],"args":{},"faults":[{"kind":"unknown_task","message":"no tool of this name is known"}]}]"#);
}

#[test]
fn dot_escapes_quotes() {
    insta::assert_snapshot!(export::plan(&planned(PLAN), |_| Vec::new()).dot(), @r#"
    digraph plan {
      rankdir=LR;
      node [shape=box, style=rounded];
      t0 [label="0. image-to-text\nimage: /images/a \"b\".jpg"];
      t1 [label="1. text-to-speech\ntext: <GENERATED>-0"];
      t2 [label="2. nonsense", style="rounded,dashed"];
      t0 -> t1;
    }
    "#);
}

#[test]
fn mermaid_escapes_markup() {
    insta::assert_snapshot!(export::plan(&planned(PLAN), |_| Vec::new()).mermaid(), @r#"
    flowchart LR
      t0["0. image-to-text<br/>image: /images/a &quot;b&quot;.jpg"]
      t1["1. text-to-speech<br/>text: &lt;GENERATED&gt;-0"]
      t2["2. nonsense"]
      t0 --> t1
      style t2 stroke-dasharray: 5 5
    "#);
}
