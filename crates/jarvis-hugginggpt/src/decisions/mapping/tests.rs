//! What is recognised without a call, and what is read from a reply.

use jarvis_testing::rows;

use super::*;

const NAMES: [&str; 7] = [
    "face-detection",
    "vehicle-plate-detection",
    "age-classification",
    "gender-classification",
    "fire-detection",
    "human-pose-detection",
    "object-detection",
];

const CASES: &str = include_str!("cases.yaml");

#[test]
fn spellings_and_slips_are_recognised_without_a_call() {
    let known = NAMES.map(|id| Known {
        id: id.to_owned(),
        aliases: if id == "fire-detection" { vec!["Flame Finder".to_owned()] } else { Vec::new() },
    });
    for (name, want) in rows::<(String, Option<String>)>(CASES, "spellings") {
        assert_eq!(by_spelling(&name, &known), want.as_deref(), "{name}");
    }
}

#[test]
fn where_two_could_be_meant_none_is_taken() {
    let known = ["plates-detection", "plate-detection"].map(|id| Known { id: id.to_owned(), aliases: Vec::new() });
    assert_eq!(by_spelling("plate_detection", &known), Some("plate-detection"));
    assert_eq!(by_spelling("detection-plate", &known), None);
}

#[test]
fn only_an_exact_name_is_taken_from_a_reply() {
    for (reply, want) in rows::<(String, Option<String>)>(CASES, "replies") {
        assert_eq!(read(&reply, &NAMES), want, "{reply}");
    }
}
