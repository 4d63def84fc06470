//! Each rule on small cases, and tidy on this workspace.

use serde_json::{Value, json};

use super::source::{Forbidden, code, comment, forbidden};
use super::workspace::{Crate, Source};
use super::{Finding, floors, manifests, source};
use crate::setup;

fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.what)).collect()
}

fn file(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn this_workspace_is_tidy() {
    let root = crate::root().expect("a root");
    let findings = super::check(&root).expect("a workspace that can be read");
    let broken: Vec<String> = findings.iter().filter(|finding| !finding.warning).map(Finding::to_string).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_finding_prints_as_place_what_and_rule() {
    let finding = Finding::new("a/b.rs", 7, "`panic!` here", "no panics");
    assert_eq!(finding.to_string(), "a/b.rs:7: `panic!` here — no panics");
    assert!(finding.warning().to_string().starts_with("a/b.rs:7: warning: "));
}

#[test]
fn forbidden_words_are_found_in_code_or_in_comments() {
    let attributes = Forbidden { part: code, words: &["#[a", "#[b"], except: &["crates/c/"], rule: "no attributes" };
    let pointers = Forbidden { part: comment, words: &["spec/"], except: &[], ..attributes };
    let cases: &[(&Forbidden, &str, &str, &[usize])] = &[
        (&attributes, "crates/a/src/b.rs", "#[a]\nfn f() {\n    #[b] x;", &[1, 3]),
        (&attributes, "crates/a/src/b.rs", "// #[a]\nfn f() {} // #[b]", &[]),
        (&attributes, "crates/a/src/b.rs", "get(\"http://a\") #[a]", &[1]),
        (&attributes, "crates/c/src/b.rs", "#[a]", &[]),
        (&pointers, "crates/a/tests/b.rs", "//! See spec/a.md.\nlet x = \"spec/a.md\"; // `spec/b.md`", &[1, 2]),
        (&pointers, "crates/a/tests/b.rs", "let x = \"a//spec/a.md\";", &[]),
    ];
    for (rule, path, text, expected) in cases {
        let found: Vec<usize> = forbidden(rule, &file(path, text)).iter().map(|finding| finding.line).collect();
        assert_eq!(found, *expected, "{path}: {text}");
    }
}

#[test]
fn tests_are_neither_ignored_nor_expected_to_panic() {
    for attribute in ["#[ignore]", "#[ignore = \"slow\"]", "#[should_panic(expected = \"x\")]"] {
        let text = format!("//! Header.\n#[test]\n{attribute}\nfn f() {{}}");
        assert_eq!(source::check(&[file("crates/a/tests/b.rs", &text)]).len(), 1, "{attribute}");
    }
}

#[test]
fn headers_and_lengths() {
    let long = |lines: usize, header: &str| format!("{header}\n{}", "// x\n".repeat(lines - 1));
    let cases: &[(String, &[&str])] = &[
        (long(500, "//! Header."), &[]),
        (long(501, "//! Header."), &["warning"]),
        (long(801, "//! Header."), &["error"]),
        (long(801, "//! Header. Long: one table."), &[]),
        ("fn f() {}".to_owned(), &["error"]),
        ("\n//! Late.".to_owned(), &["error"]),
    ];
    for (text, expected) in cases {
        let found = source::check(&[file("crates/a/src/b.rs", text)]);
        let kinds: Vec<&str> = found.iter().map(|finding| if finding.warning { "warning" } else { "error" }).collect();
        assert_eq!(kinds, *expected, "{found:?}");
    }
}

fn member(name: &str, floor: Value, needs: &[&str]) -> Crate {
    Crate {
        name: name.to_owned(),
        folder: name.to_owned(),
        manifest: format!("crates/{name}/Cargo.toml"),
        floor,
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
    }
}

#[test]
fn crates_stand_on_lower_floors() {
    let plan = member("plan", json!(0), &[]);
    let cases: Vec<(Vec<Crate>, &[&str])> = vec![
        (vec![plan.clone(), member("chat", json!(1), &["plan", "serde"])], &[]),
        (
            vec![plan.clone(), member("other", json!(0), &["plan"])],
            &["crates/other/Cargo.toml:0: `other` on floor 0 needs `plan` on floor 0"],
        ),
        (
            vec![member("fake", json!("aside"), &[]), member("chat", json!(1), &["fake"])],
            &["crates/chat/Cargo.toml:0: `fake` is set aside"],
        ),
        (vec![plan.clone(), member("fake", json!("aside"), &["plan"])], &[]),
        (vec![member("plan", Value::Null, &[])], &["crates/plan/Cargo.toml:0: `plan` names no floor"]),
        (
            vec![member("plan", json!("cellar"), &[])],
            &["crates/plan/Cargo.toml:0: floor `\"cellar\"` is no number and not \"aside\""],
        ),
        (
            vec![Crate { folder: "plans".to_owned(), ..plan }],
            &["crates/plan/Cargo.toml:0: crate `plan` lives in the folder `plans`"],
        ),
    ];
    for (crates, expected) in cases {
        assert_eq!(lines(&floors::check(&crates)), expected);
    }
}

#[test]
fn members_inherit_from_the_workspace() {
    let head = "[package]\nname = \"a\"\nversion.workspace = true\nedition = { workspace = true }\nlicense.workspace = true # yes\n\n[lints]\nworkspace = true\n";
    let cases: &[(String, &[&str])] = &[
        (
            format!("{head}[dependencies]\nserde.workspace = true\nx = {{ workspace = true, features = [\"y\"] }}\n"),
            &[],
        ),
        (format!("{head}[dependencies]\nserde = \"1\"\n"), &["a:0: `serde` has its own version"]),
        (
            format!("{head}[dev-dependencies]\n# serde = \"1\"\nx = {{ path = \"../x\" }}\n"),
            &["a:0: `x` has its own version"],
        ),
        (format!("{head}[target.'cfg(unix)'.dependencies]\nserde = \"1\"\n"), &["a:0: `serde` has its own version"]),
        (
            format!("{head}[dependencies.serde]\nworkspace = true\n[dependencies.x]\nversion = \"1\"\n"),
            &["a:0: `x` has its own version"],
        ),
        (format!("{head}[features]\ndefault = [\"x\"]\n"), &[]),
        (head.replace("version.workspace = true", "version = \"1.0.0\""), &["a:0: `version` is not the workspace's"]),
        (head.replace("[lints]\nworkspace = true\n", ""), &["a:0: `[lints] workspace = true` is missing"]),
    ];
    for (text, expected) in cases {
        assert_eq!(lines(&manifests::member("a", text)), *expected, "{text}");
    }
}

#[test]
fn the_map_names_every_crate_and_document() {
    let map = "jarvis-plan and `jarvis-chat`; see docs/errors.md.";
    let docs = ["docs/errors.md".to_owned(), "docs/use.md".to_owned()];
    let found = lines(&manifests::mentioned(map, &["jarvis", "jarvis-plan", "jarvis-chat"], &docs));
    assert_eq!(
        found,
        ["ARCHITECTURE.md:0: `jarvis` is not mentioned", "ARCHITECTURE.md:0: `docs/use.md` is not mentioned"]
    );
}

#[test]
fn the_map_names_what_there_is() {
    let sources = [file("crates/a/src/b.rs", "fn any_graph_ends() {}")];
    let map = "```\nx -> y_z\n```\n`any_graph_ends` and `no_such_test`, `Plan::grow`, `tests/a_b.rs`";
    assert_eq!(lines(&manifests::gone(map, &sources)), ["ARCHITECTURE.md:0: no source has `no_such_test`"]);
}

#[test]
fn missing_programs_are_named_with_their_packages() {
    let missing: Vec<&setup::Program> = setup::PROGRAMS.iter().collect();
    let advice = setup::advice(&missing);
    for word in [
        "reading text in pictures",
        "apt-get install espeak-ng tesseract-ocr ffmpeg python3",
        "brew install espeak-ng tesseract",
    ] {
        assert!(advice.contains(word), "{advice}");
    }
}
