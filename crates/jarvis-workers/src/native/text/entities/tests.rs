//! Entities in small texts: what is found, and what is left alone.

use jarvis_testing::rows;

use super::find;

#[test]
fn entities_are_found() {
    let mut wrong = Vec::new();
    for (text, expected) in rows::<(String, String)>(include_str!("tests.json"), "entities") {
        let found = find(&text);
        let found = found.iter().map(|entity| format!("{} {}", entity.group.as_str(), entity.word(&text)));
        let found = found.collect::<Vec<_>>().join(" | ");
        if found != expected {
            wrong.push(format!("{text}\n  found    {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
