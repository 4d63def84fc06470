//! Keys of configurations written for microsoft/JARVIS and its decision-only fork, read as the jarvis keys that mean the
//! same. A key that is not listed here is reported as unknown.

use serde_json::{Map, Value, json};

/// Their key and ours.
const SAME: [(&str, &str); 15] = [
    ("local.endpoint", "llm.base_url"),
    ("model", "llm.model"),
    ("model_api_base_url", "decisions.model_api_base_url"),
    ("method", "decisions.method"),
    ("format", "decisions.format"),
    ("semantic_mapping", "decisions.semantic_mapping"),
    ("replace_generated_images", "decisions.replace_generated_images"),
    ("save_plan", "decisions.save_plan"),
    ("plan_dir", "decisions.plan_dir"),
    ("save_prompts", "decisions.save_prompts"),
    ("prompt_log_dir", "decisions.prompt_log_dir"),
    ("cache_ttl_s", "decisions.cache_ttl_s"),
    ("concurrency", "decisions.concurrency"),
    ("llm_served_tasks", "decisions.llm_served_tasks"),
    ("explain_single", "decisions.explain_single"),
];

/// Moves their keys to ours; where both are set, ours stands.
pub(super) fn translate(tree: &mut Map<String, Value>) {
    for (theirs, ours) in SAME {
        if let Some(value) = take(tree, theirs) {
            put(tree, ours, value);
        }
    }
    // `true` chooses the legacy protocol; `false` is what we do anyway.
    if let Some(Value::Bool(completion)) = take(tree, "use_completion")
        && completion
    {
        put(tree, "llm.protocol", json!("completion"));
    }
}

fn take(tree: &mut Map<String, Value>, key: &str) -> Option<Value> {
    let Some((folder, name)) = key.split_once('.') else { return tree.shift_remove(key) };
    let inner = tree.get_mut(folder)?.as_object_mut()?;
    let value = inner.shift_remove(name);
    if inner.is_empty() {
        tree.shift_remove(folder);
    }
    value
}

fn put(tree: &mut Map<String, Value>, key: &str, value: Value) {
    let Some((folder, name)) = key.split_once('.') else { return };
    let inner = tree.entry(folder.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if let Some(inner) = inner.as_object_mut() {
        inner.entry(name.to_owned()).or_insert(value);
    }
}
