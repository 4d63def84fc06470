//! The prompts of the pipeline form say what they must, and the list of tasks goes where a person puts it.

use std::collections::BTreeMap;

use jarvis_plan::Kind;
use serde_json::json;

use super::super::{Override, ParseTask};
use super::*;

fn records() -> Vec<ServiceTask> {
    let boxes = || vec!["boxes".to_owned()];
    vec![
        ServiceTask { outputs: vec!["image".to_owned()], ..ServiceTask::named("source") },
        ServiceTask {
            name: "Fire".to_owned(),
            description: "finds flames".to_owned(),
            inputs: vec!["image".to_owned()],
            outputs: boxes(),
            ..ServiceTask::named("fire-detection")
        },
        ServiceTask::named("pipeline-end"),
    ]
}

fn scenario() -> Scenario {
    Scenario { objects_seen: vec!["van".into()], ..Scenario::described("A van burns.") }
}

fn plan(prompts: &Prompts, models: Option<&[(String, Vec<ServiceModel>)]>) -> Vec<Turn> {
    let tasks = records();
    let example = Example { scenario: Scenario::described("Calm."), ..Example::default() };
    let ask = PipelinePlan {
        scenario: &scenario(),
        tasks: &tasks,
        task_description: 400,
        examples: &[example],
        reasons: true,
        models: models.map(|by_task| ModelsShown { by_task, most: 50, description: 200 }),
    };
    prompts.pipeline_plan(&ask).unwrap()
}

#[track_caller]
fn says(turns: &[Turn], phrases: &str) {
    let text: String = turns.iter().map(|turn| format!("{}\n", turn.content)).collect();
    for phrase in jarvis_testing::rows::<String>(include_str!("cases.yaml"), phrases) {
        assert!(text.contains(&phrase), "does not say `{phrase}`:\n{text}");
    }
}

#[test]
fn the_planner_of_pipelines_is_told_all_that_it_must_know() {
    let turns = plan(&Prompts::builtin().unwrap(), None);
    says(&turns, "fields");
    says(&turns, "planner");
    let roles: Vec<Role> = turns.iter().map(|turn| turn.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
    assert!(turns[1].content.contains("Calm.") && turns[3].content.contains("A van burns."));
}

#[test]
fn one_call_for_both_is_told_of_models_and_of_eight_fields() {
    let model = ServiceModel {
        description: "quick\"".to_owned(),
        tags: Some(vec!["indoor".into()]),
        likes: 3,
        ..ServiceModel { id: "org/fire".to_owned(), ..ServiceModel::default() }
    };
    let models = [("fire-detection".to_owned(), vec![model]), ("source".to_owned(), Vec::new())];
    let turns = plan(&Prompts::builtin().unwrap(), Some(&models));
    says(&turns, "fields");
    says(&turns, "models too");
    assert!(!turns[0].content.contains(r#"{"task":"source""#));
}

#[test]
fn the_chooser_is_told_of_scene_task_and_models() {
    let prompts = Prompts::builtin().unwrap();
    let models = [ServiceModel { id: "org/fire".to_owned(), name: "F".to_owned(), ..ServiceModel::default() }];
    let task = json!({"id": "fire-detection", "downstreams": ["pipeline-end"]});
    let info = &records()[1];
    let ask = PipelineChoice { scenario: &scenario(), task: &task, info, models: &models, description: 100 };
    let turns = prompts.pipeline_choice(&ask).unwrap();
    says(&turns, "chooser");
}

fn with(stage: &str, own: Override) -> Prompts {
    Prompts::with(&BTreeMap::from([(stage.to_owned(), own)])).unwrap()
}

#[track_caller]
fn check_list(system: &str, want: &str) {
    let prompts = with("parse_task", Override { system: Some(system.to_owned()), ..Override::default() });
    let tools = [
        jarvis_plan::Tool::typed("face-detection", "", &[Kind::Image], &[]),
        jarvis_plan::Tool::typed("b", "", &[], &[]),
    ];
    let turns = prompts
        .parse_task(
            &ParseTask { tools: &tools, history: &[], input: "x", attachments: &[], more: false, experience: &[] },
            0,
        )
        .unwrap();
    assert_eq!(turns[0].content, want);
}

#[test]
fn the_list_of_tasks_goes_where_a_person_puts_it() {
    check_list("Use [TASKS_LIST_WILL_BE_REPLACED_DYNAMICALLY].", r#"Use "face-detection", "b"."#);
    check_list("Use {{tasks}}.", r#"Use "face-detection", "b"."#);
    check_list("Plan.", "Plan.\n\nTasks: \"face-detection\", \"b\"");
    // The list of the original's own tasks is not this list.
    check_list(
        r#"The task MUST be one of: "token-classification", "text2text-generation", "summarization", "translation", "question-answering", "conversational". Think."#,
        r#"The task MUST be one of: "face-detection", "b". Think."#,
    );
    // Other lists are left alone.
    let colours = r#"Say "red", "green", "blue", "black", "white", "grey", "pink"."#;
    check_list(colours, &format!("{colours}\n\nTasks: \"face-detection\", \"b\""));
}

#[test]
fn a_person_s_own_prompts_take_the_place_of_the_built_in_ones() {
    let own = Override {
        system: Some("Tasks: [TASKS_LIST_WILL_BE_REPLACED_DYNAMICALLY]".to_owned()),
        user: Some("{{input}} / {{objects_seen}}".to_owned()),
        demos: Some(r#"[{"role":"user","content":"mine"}]"#.to_owned()),
    };
    let turns = plan(&with("pipeline_parse", own), None);
    let texts: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
    // A text for demos is no turn of its own: some endpoints refuse two turns of one speaker in a row.
    assert_eq!(texts, [r#"Tasks: "source", "fire-detection", "pipeline-end""#, "mine\n\nA van burns. / van"]);
    let bare = Override { system: Some("Design.".to_owned()), ..Override::default() };
    says(&plan(&with("pipeline_parse", bare), None), "bare");

    let own = Override {
        system: Some("{{scenario_description}} {{task_info}} {{available_models}}".to_owned()),
        user: Some("Choose.".to_owned()),
        ..Override::default()
    };
    let models = [ServiceModel { id: "m".to_owned(), ..ServiceModel::default() }];
    let (task, info) = (json!({}), ServiceTask::named("a"));
    let ask = PipelineChoice { scenario: &scenario(), task: &task, info: &info, models: &models, description: 10 };
    let turns = with("pipeline_choose", own).pipeline_choice(&ask).unwrap();
    assert_eq!(
        turns[0].content,
        r#"A van burns. {"id":"a","name":"","description":"","inputs":[],"outputs":[]} [{"id":"m"}]"#
    );

    // The general form's prompt may have the objects too.
    let own = Override { user: Some("{{input}} / {{objects_seen}}".to_owned()), ..Override::default() };
    let prompts = with("parse_task", own);
    let last = |input: &str| {
        let ask = ParseTask { tools: &[], history: &[], input, attachments: &[], more: false, experience: &[] };
        prompts.parse_task(&ask, 0).unwrap().pop().unwrap().content
    };
    assert_eq!(last(&scenario().request().text), "A van burns. / van");
    assert_eq!(last("A van burns."), "A van burns. / not listed: infer them from the description");
}
