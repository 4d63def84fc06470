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

#[derive(serde::Deserialize)]
struct Demand {
    prompt: String,
    context: Value,
    says: Vec<String>,
}

#[test]
fn each_prompt_says_what_it_must() {
    let demands: Vec<Demand> = serde_json::from_str(include_str!("demands.json")).unwrap();
    for Demand { prompt, context, says } in demands {
        let known = Prompt::ALL.iter().find(|known| format!("{known:?}") == prompt).unwrap();
        let text = user(*known, &context);
        for part in says {
            assert!(text.contains(&part), "{prompt} lacks {part:?}:\n{text}");
        }
    }
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
    let expected = "answer_check answer_direct answer_generation answer_generation_depend answer_summarize choose_api \
                    choose_parameter choose_parameter_depend choose_tool describe_tool judge_answer judge_answer_detail \
                    judge_preference judge_task restbench_decompose task_decompose task_topology tool_check \
                    write_scenario";
    assert_eq!(stages.into_iter().collect::<Vec<_>>().join(" "), expected);
}
