//! Reading domain folders.

use std::path::{Path, PathBuf};

use jarvis_taskbench::data::{AlignmentIds, Gold, ToolGraph, ToolList};
use jarvis_taskbench::json::Look;

/// The oracles beside the workspace, when they are there.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/taskbench").join(name);
    if !path.exists() {
        eprintln!("note: {name} is not here; this test checks nothing without it");
        return None;
    }
    Some(path)
}

/// What all shapes of one record must agree in.
fn essence(path: &Path) -> Vec<String> {
    let gold = Gold::read(path).unwrap();
    let records = gold.records().map(|record| {
        let record = record.unwrap();
        let json =
            |value: &Option<jarvis_taskbench::json::Json<'_>>| value.as_ref().map(|value| value.to_serde().to_string());
        format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            record.id,
            record.shape,
            record.n(),
            json(&record.task_steps),
            json(&record.task_nodes),
            json(&record.task_links),
            json(&record.sampled_nodes),
            json(&record.sampled_links),
        )
    });
    records.collect()
}

#[test]
fn released_shapes_give_equal_samples() {
    let Some(dir) = shared("formats") else { return };
    let b = essence(&dir.join("release_b_huggingface.json"));
    assert_eq!(b.len(), 3);
    assert_eq!(b, essence(&dir.join("release_b_mixed_huggingface.json")));
    assert_eq!(b, essence(&dir.join("release_b_as_release_a.json")));
    assert_eq!(b[2..], essence(&dir.join("release_b_bare_node.json")));
}

#[test]
fn the_mark_of_an_editor_is_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("marked.json");
    let write = |text: &str| std::fs::write(&path, format!("\u{feff}{text}")).unwrap();
    write(r#"{"nodes": [{"id": "Trim"}], "links": []}"#);
    assert_eq!(ToolList::read(&path).unwrap().tools.len(), 1);
    assert_eq!(ToolGraph::read(&path).unwrap().nodes.tools.len(), 1);
    write(r#"{"node_alignment_id": {"single": ["1"]}}"#);
    assert_eq!(AlignmentIds::read(&path).unwrap().lists.len(), 1);
}

#[test]
fn file_names_stay_in_their_folder() {
    let cases = [
        ("gpt-4", "gpt-4"),
        ("offline", "offline"),
        ("mistralai/Mixtral-8x7B", "mistralai_Mixtral-8x7B"),
        ("qwen3:8b", "qwen3_8b"),
        ("../../etc/passwd", "_._.._etc_passwd"),
        ("..", "_."),
        ("", "_"),
        ("replay:some/where/answers.jsonl", "replay-answers"),
    ];
    for (llm, stem) in cases {
        assert_eq!(jarvis_taskbench::data::file_stem(llm), stem, "{llm}");
    }
}
