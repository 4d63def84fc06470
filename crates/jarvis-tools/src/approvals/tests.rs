//! The approvals: what changes them, and what does not.

use serde_json::json;

use super::*;

fn described(description: &str) -> Described {
    let schema = json!({"type": "object", "properties": {"b": {}, "a": {}}});
    Described { description: description.into(), schema, ..Described::default() }
}

fn list(approvals: &Approvals, tools: &[(&str, &str)]) -> Vec<Verdict> {
    let tools: Vec<_> = tools.iter().map(|(name, text)| ((*name).to_owned(), described(text))).collect();
    approvals.listed("mcp:s", "here", &tools, NewTools::Ask).unwrap()
}

/// Approves all that a source offers, and gives the names.
fn approve(approvals: &Approvals, source: &str, tool: Option<&str>) -> Option<Vec<String>> {
    approvals.changes(source, tool).unwrap().map(|changes| approvals.accept(&changes).unwrap())
}

#[test]
fn the_digest_is_of_the_canonical_form() {
    let one = Described { schema: json!({"b": 1, "a": {"d": [1, {"y": 1, "x": 2}], "c": 2}}), ..described("x") };
    let other = Described { schema: json!({"a": {"c": 2, "d": [1, {"x": 2, "y": 1}]}, "b": 1}), ..described("x") };
    assert_eq!(one.sha256("s/t"), other.sha256("s/t"));
    assert_ne!(one.sha256("s/t"), one.sha256("s/u"));
    assert_ne!(one.sha256("s/t"), described("x").sha256("s/t"));
    assert_ne!(one.sha256("s/t"), Described { title: "T".into(), ..one.clone() }.sha256("s/t"));
    let gives = Described { output_schema: Some(json!({"type": "object"})), ..one.clone() };
    assert_ne!(one.sha256("s/t"), gives.sha256("s/t"));
    let hinted = |idempotent| Described { hints: [("idempotentHint".into(), idempotent)].into(), ..one.clone() };
    assert_ne!(one.sha256("s/t"), hinted(true).sha256("s/t"));
    assert_ne!(hinted(false).sha256("s/t"), hinted(true).sha256("s/t"));
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn the_first_sight_approves_and_a_change_waits_for_a_person() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/approvals.json");
    let approvals = Approvals::open(&path).unwrap();
    assert_eq!(approvals.known("mcp:s", "here"), None);
    assert_eq!(list(&approvals, &[("s/a", "A"), ("s/b", "B")]), [Verdict::New, Verdict::New]);
    assert_eq!(list(&approvals, &[("s/a", "A"), ("s/b", "B")]), [Verdict::Known, Verdict::Known]);
    // Another process sees the same.
    let other = Approvals::open(&path).unwrap();
    assert_eq!(other.known("mcp:s", "here").unwrap().len(), 2);
    assert_eq!(other.known("mcp:s", "elsewhere"), None);
    assert_eq!(
        list(&approvals, &[("s/a", "evil"), ("s/b", "B"), ("s/c", "C")]),
        [Verdict::Changed, Verdict::Known, Verdict::Added]
    );
    // The new one waits until a person approves it as it is by then.
    assert!(!approvals.is_approved("mcp:s", "s/c", &described("C")).unwrap());
    assert_eq!(list(&other, &[("s/a", "evil"), ("s/b", "B"), ("s/c", "CC")])[2], Verdict::Added);
    assert_eq!(approve(&approvals, "mcp:s", Some("s/c")).unwrap(), ["s/c"]);
    assert!(approvals.is_approved("mcp:s", "s/c", &described("CC")).unwrap());
    assert_eq!(list(&approvals, &[("s/a", "evil"), ("s/b", "B"), ("s/c", "CC")])[2], Verdict::Known);
    let kept = Approvals::open(&path).unwrap().get("mcp:s", "s/a").unwrap();
    assert_eq!((kept.approved, kept.offered), (described("A"), Some(described("evil"))));
    assert!(!approvals.is_approved("mcp:s", "s/a", &described("evil")).unwrap());
    assert_eq!(approve(&other, "mcp:s", Some("s/a")).unwrap(), ["s/a"]);
    // What another process approved counts.
    assert!(approvals.is_approved("mcp:s", "s/a", &described("evil")).unwrap());
    assert!(!approvals.is_approved("mcp:s", "s/a", &described("A")).unwrap());
    assert_eq!(approve(&other, "mcp:s", None).unwrap(), Vec::<String>::new());
    assert_eq!(approve(&other, "mcp:t", None), None);
    assert_eq!(approve(&other, "mcp:s", Some("s/z")), None);
}

#[test]
fn new_tools_may_be_allowed_and_changes_still_wait() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = Approvals::open(folder.path().join("a.json")).unwrap();
    let listed = |tools: &[(&str, &str)], new_tools| {
        let tools: Vec<_> = tools.iter().map(|(name, text)| ((*name).to_owned(), described(text))).collect();
        approvals.listed("mcp:s", "here", &tools, new_tools).unwrap()
    };
    list(&approvals, &[("s/a", "A")]);
    assert_eq!(listed(&[("s/a", "A"), ("s/b", "B")], NewTools::Ask), [Verdict::Known, Verdict::Added]);
    assert_eq!(
        listed(&[("s/a", "evil"), ("s/b", "B"), ("s/c", "C")], NewTools::Allow),
        [Verdict::Changed, Verdict::New, Verdict::New]
    );
    assert!(approvals.is_approved("mcp:s", "s/b", &described("B")).unwrap());
    assert_eq!(listed(&[("s/b", "B"), ("s/c", "C")], NewTools::Ask), [Verdict::Known, Verdict::Known]);
}

#[test]
fn an_approval_is_of_one_source_and_of_what_was_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = Approvals::open(folder.path().join("a.json")).unwrap();
    let at = |source: &str, name: &str, text: &str| {
        approvals.listed(source, "here", &[(name.to_owned(), described(text))], NewTools::Ask).unwrap();
    };
    for text in ["A", "evil"] {
        at("grpc:s", "s", text);
        at("grpc:s/a", "s/a", text);
        at("mcp:s", "s/a", text);
    }
    assert_eq!(approve(&approvals, "grpc:s", Some("s")).unwrap(), ["s"]);
    assert!(approvals.is_approved("grpc:s", "s", &described("evil")).unwrap());
    for source in ["grpc:s/a", "mcp:s"] {
        assert!(!approvals.is_approved(source, "s/a", &described("evil")).unwrap(), "{source}");
        assert_eq!(approvals.get(source, "s/a").unwrap().offered, Some(described("evil")), "{source}");
    }
    let seen = approvals.changes("mcp:s", None).unwrap().unwrap();
    at("mcp:s", "s/a", "worse");
    assert_eq!(approvals.accept(&seen).unwrap(), Vec::<String>::new(), "something else is offered by now");
    assert_eq!(approve(&approvals, "mcp:s", None).unwrap(), ["s/a"]);
    assert!(!approvals.is_approved("grpc:s/a", "s/a", &described("worse")).unwrap());
}

#[test]
fn what_went_away_cannot_come_back_as_another() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = Approvals::open(folder.path().join("a.json")).unwrap();
    list(&approvals, &[("s/a", "A"), ("s/b", "B")]);
    list(&approvals, &[("s/b", "B")]);
    assert_eq!(approvals.known("mcp:s", "here").unwrap().len(), 1);
    assert_eq!(list(&approvals, &[("s/a", "another"), ("s/b", "B")]), [Verdict::Changed, Verdict::Known]);
    assert_eq!(list(&approvals, &[("s/a", "A"), ("s/b", "B")]), [Verdict::Known, Verdict::Known]);
    assert_eq!(approvals.get("mcp:s", "s/a").unwrap().offered, None);
}

#[test]
fn a_damaged_file_is_an_error_that_names_it_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("approvals.json");
    let good = Approvals::open(&path).unwrap();
    list(&good, &[("s/a", "A")]);
    let text = std::fs::read_to_string(&path).unwrap();
    for bad in ["{", "[]", "{\"version\": 2}", &text.replace("\"description\": \"A\"", "\"description\": \"Z\"")] {
        std::fs::write(&path, bad).unwrap();
        let error = Approvals::open(&path).unwrap_err();
        assert!(matches!(error, ApprovalsError::Broken { .. }), "{error:?}");
        assert!(error.to_string().contains("approvals.json"), "{error}");
        // Nor is it overwritten by one that was open already.
        assert!(good.changes("mcp:s", None).is_err() && good.accept(&[]).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), bad);
    }
}
