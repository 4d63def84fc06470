//! Demands on the texts of the prompts.

use jarvis_ask::PromptTable as _;
use serde_json::{Value, json};

use super::*;

fn user(prompt: Prompt, context: &Value) -> String {
    let messages = messages(prompt, context, None).unwrap();
    assert_eq!(
        messages.iter().map(|message| message.role).collect::<Vec<_>>(),
        [Role::System, Role::User],
        "{prompt:?}"
    );
    messages[1].joined_text()
}

#[test]
fn each_prompt_says_what_it_must() {
    let check = |prompt: Prompt, context: Value, demanded: &[&str]| {
        let text = user(prompt, &context);
        for part in demanded {
            assert!(text.contains(part), "{prompt:?} lacks {part:?}:\n{text}");
        }
    };
    let tools = json!([{"id": 0, "description": "'add_' adds \"all\" numbers."}, {"id": 12, "description": "B"}]);
    check(
        Prompt::DecomposeFuncqa,
        json!({"question": "What is \"2\" + 3?", "tools": tools}),
        &[
            "What is \"2\" + 3?",
            r#"{"ID": 0, "Description": "'add_' adds \"all\" numbers."}"#,
            r#"{"ID": 12, "Description": "B"}"#,
            "split it into simple subtasks",
            "exactly one of these tools",
            "needs the result of another",
            "get X by 'multiply_'",
            "to X to get Y by 'add_'",
            "JSON only",
            r#"{"Tasks": ["#,
        ],
    );
    check(
        Prompt::DecomposeToolbench,
        json!({"question": "Find <a> & \"b\""}),
        &["Find <a> & \"b\"", "one tool", "natural language", "complete in itself", "JSON only", r#"{"Tasks": ["#],
    );
    check(
        Prompt::Topology,
        json!({"question": "Q?", "tasks": r#"[{"task":"t","id":1}]"#}),
        &["Q?", r#"[{"task":"t","id":1}]"#, "logical order", r#""dep": [ids]"#, "[-1]", "earlier"],
    );
    check(
        Prompt::ToolCheck,
        json!({"task": "T"}),
        &["Task: T", "weather", "names", "database", "reason first", r#""Choice": "No"}"#, r#""Choice": "Yes"}"#],
    );
    check(Prompt::AnswerDirect, json!({"task": "T"}), &["Task: T", "own knowledge"]);
    check(
        Prompt::ChooseTool,
        json!({"task": "T", "tools": tools}),
        &["Question: T", "ID: 0\n'add_' adds", "ID: 12\nB", "exactly one", r#"{"ID": 1}"#, r#"{"ID": 12}"#],
    );
    check(
        Prompt::ChooseApi,
        json!({"task": "T", "description": "D", "apis": r#"["a","b"]"#}),
        &["Question: T", "Tool: D", r#"["a","b"]"#, "only from the list", "a list of names"],
    );
    let filled = json!({"task": "T", "usage": "U", "log": "L", "single": r#"{"a": 1}"#, "second": r#"{"a": 2}"#});
    let common = [
        "Question: T",
        "U",
        "Example",
        "required parameter",
        "optional",
        r#"{"Parameters": {}}"#,
        "other APIs",
        "called several times",
        "JSON only",
        r#"{"Parameters": {"a": 1}}"#,
        r#"{"Parameters": [{"a": 1}, {"a": 2}]}"#,
    ];
    check(Prompt::ChooseParameter, filled.clone(), &common);
    check(Prompt::ChooseParameterDepend, filled.clone(), &common);
    check(Prompt::ChooseParameterDepend, filled, &["earlier steps", "\nL\n"]);
    let answered = json!({"task": "T", "result": "R", "log": "L"});
    let common = ["Question: T", "\nR", "natural language", "cannot see", "everything useful", "own knowledge"];
    check(Prompt::AnswerGeneration, answered.clone(), &common);
    check(Prompt::AnswerGenerationDepend, answered.clone(), &common);
    check(Prompt::AnswerGenerationDepend, answered, &["\nL\n"]);
    check(
        Prompt::Summarize,
        json!({"question": "Q?", "answers": r#"[{"task":"t","answer":"a"}]"#}),
        &["Q?", r#"[{"task":"t","answer":"a"}]"#, "final answer", "consistent"],
    );
    check(
        Prompt::Check,
        json!({"question": "Q?", "answer": "A"}),
        &["Q?", "Answer: A", "reason first", r#"{"Reason": "why", "Choice": "Yes" or "No"}"#],
    );
    check(
        Prompt::DecomposeRestbench,
        json!({
            "question": "Q?",
            "service": "TMDB, a database",
            "tools": [{"id": 3, "usage": "GET /x/{id}", "description": "D"}],
            "example": {"question": "Pause the player", "reply": "[…]"},
        }),
        &[
            "Q?",
            "TMDB, a database",
            r#""ID": 3, "tool_usage": "GET /x/{id}", "tool_description": "D""#,
            "-1",
            "logical order",
            "JSON only",
            "Pause the player",
        ],
    );
}

#[test]
fn a_second_attempt_is_told_why() {
    let context = json!({"task": "T"});
    let first = messages(Prompt::ToolCheck, &context, None).unwrap();
    let again = messages(Prompt::ToolCheck, &context, Some("no {{JSON}} at all")).unwrap();
    let (first, again) = (first[1].joined_text(), again[1].joined_text());
    assert!(again.starts_with(&first) && again.contains("could not be used: no {{JSON}} at all"), "{again}");
    let system = messages(Prompt::ToolCheck, &context, None).unwrap()[0].joined_text();
    assert!(system.contains("can use external APIs"), "{system}");
}

#[test]
fn every_stage_of_the_contract_has_its_prompt() {
    let stages: std::collections::BTreeSet<&str> =
        Prompt::ALL.iter().filter(|prompt| **prompt != Prompt::Again).map(|prompt| prompt.file().stage).collect();
    let expected = [
        "answer_check",
        "answer_direct",
        "answer_generation",
        "answer_generation_depend",
        "answer_summarize",
        "choose_api",
        "choose_parameter",
        "choose_parameter_depend",
        "choose_tool",
        "describe_tool",
        "judge_answer",
        "judge_answer_detail",
        "judge_preference",
        "judge_task",
        "restbench_decompose",
        "task_decompose",
        "task_topology",
        "tool_check",
        "write_scenario",
    ];
    assert_eq!(stages.into_iter().collect::<Vec<_>>(), expected);
}
