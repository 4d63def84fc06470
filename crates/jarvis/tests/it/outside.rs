//! Data that is not in the repository, where it is at hand.

use crate::harness::Harness;

#[test]
fn the_known_catalogue_loads_where_it_is_at_hand() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hugginggpt/p0_models.jsonl");
    if !file.is_file() {
        println!("skipped: the catalogue file is not at hand; tests/cli/models.md lists the built-in one");
        return;
    }
    let harness = Harness::new().env("JARVIS_CATALOGUE", &file.display().to_string());
    let (_, list) = harness.json(&["models", "list", "--json"]);
    let hosted = list.as_array().expect("a list").iter().filter(|model| model["host"] == "huggingface").count();
    assert!(hosted >= 673, "{hosted}");
}
