//! Templates: sections to turns, slots in one pass, errors that name the place.

use jarvis_plan::{Role, Turn};
use jarvis_prompt::template::{Template, TemplateError};
use proptest::prelude::*;
use serde_json::{Value, json};

const STAGE: &str = "\
What this prompt is for.

## system
You plan. Tools:
{% for tool in tools %}
- {{tool}}
{% endfor %}

## demo: user
one

## demo: assistant
[{\"task\": \"a\", \"args\": {\"image\": {}}}]

## demo: user
two

## demo: assistant
[]

## user
Log: {{context}}
Input: {{ input }}
";

fn stage() -> Template {
    Template::parse("stage", STAGE, &["tools", "context", "input"]).unwrap()
}

fn context(input: &str) -> Value {
    json!({"tools": ["a", "b"], "context": [{"role": "user", "content": "<GENERATED>-0"}], "input": input})
}

fn told(turns: &[Turn]) -> String {
    turns.iter().map(|turn| format!("[{:?}] {}\n", turn.role, turn.content)).collect()
}

#[test]
fn sections_become_turns() {
    insta::assert_snapshot!(told(&stage().render(&context("hi")).unwrap()), @r#"
[System] You plan. Tools:
- a
- b

[User] one
[Assistant] [{"task": "a", "args": {"image": {}}}]
[User] two
[Assistant] []
[User] Log: [{"role":"user","content":"<GENERATED>-0"}]
Input: hi
"#);
}

#[test]
fn demos_can_be_left_out() {
    let turns = stage().render_with(&context("hi"), |demo| demo == 1).unwrap();
    assert_eq!(
        turns.iter().map(|turn| turn.role).collect::<Vec<_>>(),
        [Role::System, Role::User, Role::Assistant, Role::User]
    );
    assert_eq!(turns[1].content, "two");
    assert_eq!(stage().demos(), 2);
    assert_eq!(stage().demo_answer(1).unwrap(), "[]");
    assert_eq!(stage().demo_answer(2), None);
}

#[test]
fn values_are_verbatim_and_not_expanded_again() {
    for input in [
        "{{task}}",
        "{{ input }} {% raw %}",
        "C:\\new \\\\ \\u0041",
        "<GENERATED>-0 & \"q\" 'a'",
        "line\nline",
        "## user",
    ] {
        let turns = stage().render(&context(input)).unwrap();
        let last = turns.last().unwrap();
        assert!(last.content.ends_with(&format!("Input: {input}")), "{}", last.content);
        assert_eq!(turns.len(), 6);
    }
}

#[test]
fn what_is_not_text_goes_in_as_json_in_its_own_order() {
    let template = Template::parse(
        "t",
        "## user\n{{task}} {{task|json}} {{none}} {{yes}} {{n}} {{text|json}}",
        &["task", "none", "yes", "n", "text"],
    )
    .unwrap();
    let context =
        json!({"task": {"z": "<GENERATED>-0", "a": [1, 0.5]}, "none": null, "yes": true, "n": 3, "text": "a\"<b>"});
    insta::assert_snapshot!(told(&template.render(&context).unwrap()), @r#"[User] {"z":"<GENERATED>-0","a":[1,0.5]} {"z":"<GENERATED>-0","a":[1,0.5]} null true 3 "a\"<b>""#);
}

#[test]
fn overrides_replace_their_part_only() {
    let template = stage()
        .with_system("Only {{tools}}.")
        .unwrap()
        .with_user("Say {{input}} with {{context}}")
        .unwrap()
        .with_demos(r#"[{"role":"user","content":"three {{input}}"},{"role":"assistant","content":"[]"}]"#)
        .unwrap();
    insta::assert_snapshot!(told(&template.render(&context("hi")).unwrap()), @r#"
[System] Only ["a","b"].
[User] three hi
[Assistant] []
[User] Say hi with [{"role":"user","content":"<GENERATED>-0"}]
"#);
    assert_eq!(template.demos(), 1);
    assert!(template.uses("tools") && template.uses("context"));
    assert!(!stage().with_system("Nothing").unwrap().uses("tools"));
}

#[test]
fn messages_that_carry_the_request_stay_whatever_replaces_them() {
    let template =
        Template::parse("t", "## system\ns\n## user\n{{input}}\n## assistant\nok\n## user\nnow", &["input"]).unwrap();
    assert_eq!(template.demos(), 0);
    let template = template
        .with_demos(r#"[{"role":"user","content":"{{input}}!"},{"role":"assistant","content":"yes"}]"#)
        .unwrap();
    assert_eq!(template.demos(), 0);
    insta::assert_snapshot!(told(&template.render_with(&json!({"input": "hi"}), |_| false).unwrap()), @r#"
[System] s
[User] hi!
[Assistant] yes
[User] now
"#);
}

#[test]
fn errors_name_template_and_line() {
    fn check(result: Result<Template, TemplateError>) -> String {
        let error = result.unwrap_err();
        assert!(!error.hint().is_empty());
        error.to_string()
    }
    let parse = |text| check(Template::parse("stage", text, &["input", "tools"]));
    let all = [
        parse("no sections"),
        parse("## system\nx\n## assistant\ny"),
        parse("## system\nx\n## example\ny"),
        parse("## user\nx\n## system\ny"),
        parse("## demo: user\nx\n## user\ny"),
        parse("## system\nx\n\n## user\n\nok {{ input"),
        parse("## user\n{{task}}"),
        check(stage().with_system("a\n{% for %}")),
        check(stage().with_user("{{unknown}}")),
        check(stage().with_demos("[{\"role\":\"user\"}]")),
        check(stage().with_demos("[\n{\"role\":\"robot\",\"content\":\"\"}]")),
        stage().render(&json!({"input": "x", "context": "y"})).unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(all.join("\n"), @r#"
template `stage` does not end with a `## user` section
template `stage` does not end with a `## user` section
template `stage` line 3: unknown section `## example`
template `stage` line 3: the system section comes first, and only once
template `stage` line 3: demos are pairs of a user and an assistant section
template `stage` line 6 (user): syntax error: unexpected end of input, expected end of variable block
template `stage` (user): no value is called `task`; there are input, tools
template `stage` line 2 (system): syntax error: unexpected end of block, expected in
template `stage` (user): no value is called `unknown`; there are tools, context, input
demos of template `stage` line 1: missing field `content` at line 1 column 16
demos of template `stage` line 2: unknown variant `robot`, expected one of `system`, `user`, `assistant` at line 2 column 15
template `stage` (system) cannot be rendered: undefined value: `tools` is undefined
"#);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_input_stays_as_it_is(input in ".*") {
        let turns = stage().render(&context(&input)).unwrap();
        let expected = format!("Input: {input}");
        prop_assert!(turns.last().unwrap().content.ends_with(&expected));
    }

    #[test]
    fn no_template_text_panics(text in "(## (user|system|demo: user|x)\n|\\{\\{|\\}\\}|\\{%|%\\}|[a-z |\"\n]){0,30}") {
        let _ = Template::parse("t", &text, &["input"]);
    }
}
