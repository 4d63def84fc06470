//! What is seen without a call, and what is read from a reply.

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

#[track_caller]
fn check(name: &str, want: Option<&str>) {
    let known: Vec<Known> = NAMES
        .iter()
        .map(|id| Known {
            id: (*id).to_owned(),
            aliases: if *id == "fire-detection" { vec!["Flame Finder".to_owned()] } else { Vec::new() },
        })
        .collect();
    assert_eq!(by_spelling(name, &known), want, "{name}");
}

#[test]
fn spellings_and_slips_are_seen_without_a_call() {
    check("Face_Detection", Some("face-detection"));
    check("face detection", Some("face-detection"));
    check("faces-detection", Some("face-detection"));
    check("face-detecton", Some("face-detection"));
    check("detection-face", Some("face-detection"));
    check("age-clasification", Some("age-classification"));
    check("vehicles-plate-detection", Some("vehicle-plate-detection"));
    check("flame finder", Some("fire-detection"));
    check("finding", None);
    check("object-detector", None);
}

#[test]
fn other_words_are_other_tasks() {
    // Two edits apart as texts, and nothing alike.
    check("image-classification", None);
    check("tire-detection", None);
    check("fare-detection", None);
    check("rage-classification", None);
    check("vehicle-plane-detection", None);
    check("face-recognition", None);
    check("", None);
    check("---", None);
}

#[test]
fn where_two_could_be_meant_none_is_taken() {
    let known = ["plates-detection", "plate-detection"].map(|id| Known { id: id.to_owned(), aliases: Vec::new() });
    assert_eq!(by_spelling("plate_detection", &known), Some("plate-detection"));
    assert_eq!(by_spelling("detection-plate", &known), None);
}

#[track_caller]
fn check_reply(reply: &str, want: Option<&str>) {
    assert_eq!(read(reply, &NAMES).as_deref(), want, "{reply}");
}

#[test]
fn only_an_exact_name_is_taken_from_a_reply() {
    check_reply(r#"{"task_id": "face-detection"}"#, Some("face-detection"));
    check_reply(r#"{"task_id": "face-detection",}"#, Some("face-detection"));
    check_reply("```json\n{\"task_id\": \"face-detection\"}\n```", Some("face-detection"));
    check_reply(r#"Sure: {'task_id': 'face-detection'} it is"#, Some("face-detection"));
    check_reply(r#"{"task_id": "'face-detection' "}"#, Some("face-detection"));
    check_reply(r#"{"reason": {"why": "x"}, "x": 1} {"task_id": "age-classification"}"#, Some("age-classification"));
    check_reply(r#"{"answer": {"task_id": "fire-detection"}}"#, Some("fire-detection"));
    check_reply(
        r#"<think>{"task_id": "fire-detection"}?</think>{"task_id": "face-detection"}"#,
        Some("face-detection"),
    );
    check_reply(r#"{"task_id": "face-detection"} or {"task_id": "fire-detection"}"#, Some("face-detection"));
    check_reply(r#"{"task_id": "face-detection""#, Some("face-detection"));
    // Not exactly a name.
    check_reply(r#"{"task_id": "Face-Detection"}"#, None);
    check_reply(r#"{"task_id": "face"}"#, None);
    check_reply(r#"{"task_id": ""}"#, None);
    check_reply(r#"{"task_id": 3}"#, None);
    check_reply(r#"{"id": "face-detection"}"#, None);
    check_reply("face-detection", None);
    check_reply("", None);
    check_reply("{{{{{{", None);
}
