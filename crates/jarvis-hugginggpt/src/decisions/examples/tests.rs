//! Examples and categories, as files give them and as they go wrong.

use jarvis_testing::rows;
use serde_json::json;

use super::*;

const CASES: &str = include_str!("cases.yaml");

fn example(id: &str) -> Value {
    json!({
        "id": id,
        "base_pipeline_id": id.rsplit_once("-example-").map(|(base, _)| base),
        "scenario": {"id": "s", "objects-seen": ["car", "person"], "sample-description": format!("scene of {id}")},
        "tasks": [
            {"id": "source", "upstreams": ["none"], "downstreams": ["pipeline-end"], "sample-reasoning": ["last"]},
            {"id": "pipeline-end", "upstreams": ["source"], "downstreams": ["none"]},
        ],
    })
}

fn load_text(examples: &str, categories: Option<&str>) -> Result<Examples, JsonFileError> {
    let folder = tempfile::tempdir().unwrap();
    let (file, second) = (folder.path().join("e.json"), folder.path().join("c.json"));
    std::fs::write(&file, examples).unwrap();
    if let Some(categories) = categories {
        std::fs::write(&second, categories).unwrap();
    }
    Examples::load(&file, categories.map(|_| second.as_path()))
}

#[test]
fn examples_are_grouped_by_category() {
    let all = json!([example("a-example-1"), example("b-example-0"), example("a-example-0"), example("a-example-1")]);
    let loaded = load_text(&all.to_string(), None).unwrap();
    assert_eq!(loaded.all.len(), 3);
    let names: Vec<(usize, &str, usize)> = (loaded.categories.iter())
        .map(|category| (category.index, category.base_pipeline_id.as_str(), category.example_ids.len()))
        .collect();
    assert_eq!(names, [(0, "a", 2), (1, "b", 1)]);
    let shots: Vec<String> = loaded.few_shots().into_iter().map(|example| example.id).collect();
    assert_eq!(shots, ["a-example-0", "b-example-0"]);
    assert_eq!(loaded.all[0].tasks[0].sample_reasoning["pipeline-end"], "last");
    assert_eq!(loaded.all[0].answer(false)[0].as_object().unwrap().len(), 5);
    assert_eq!(loaded.all[0].answer(true)[0].as_object().unwrap().len(), 6);
}

#[test]
fn the_category_file_numbers_them() {
    let all = json!([example("a-example-0"), example("b-example-0")]).to_string();
    let file = json!({"total_categories": 2, "total_examples": 2, "categories": [
        {"index": 7, "base_pipeline_id": "b", "num_examples": 1, "example_ids": ["b-example-0"]},
        {"index": 3, "base_pipeline_id": "a"},
    ]});
    let loaded = load_text(&all, Some(&file.to_string())).unwrap();
    assert_eq!(loaded.category(7).unwrap().base_pipeline_id, "b");
    assert_eq!(loaded.category(3).unwrap().example_ids, ["a-example-0"]);
    assert!(loaded.category(0).is_none());
    for (categories, says) in rows::<(Value, String)>(CASES, "categories") {
        let error = load_text(&all, Some(&categories.to_string())).unwrap_err().to_string();
        assert!(error.contains(&says) && error.contains("c.json"), "{error}");
    }
}

#[test]
fn an_error_names_what_is_wrong_with_a_file() {
    for (text, says) in rows::<(String, String)>(CASES, "files") {
        let error = load_text(&text, None).unwrap_err().to_string();
        assert!(error.contains(&says), "{error}");
    }
    assert!(matches!(Examples::load(Path::new("/nonexistent/e.json"), None), Err(JsonFileError::Io { .. })));
}

#[test]
fn a_scenario_is_read_or_refused() {
    for (value, want) in rows::<(Value, Result<(String, String), String>)>(CASES, "scenarios") {
        match (Scenario::read(&value), want) {
            (Ok(scenario), Ok(want)) => assert_eq!((scenario.objects(), scenario.sample_description), want),
            (Err(error), Err(says)) => assert!(error.contains(&says), "{error}"),
            (got, want) => panic!("{value}: {got:?}, not {want:?}"),
        }
    }
    let error = Scenario::read(&json!({"sample-description": "x".repeat(20_001)})).unwrap_err();
    assert!(error.contains("longer than"), "{error}");
}
