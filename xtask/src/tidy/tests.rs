//! Each rule on small cases, and tidy on this workspace.

use serde_json::{Value, json};

use super::workspace::{Crate, Package, Source};
use super::{Finding, floors, licences, manifests, source};
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
    let finding = Finding::new("a/b.rs", 7, "`panic!` here", "no panicking calls outside tests");
    assert_eq!(finding.to_string(), "a/b.rs:7: `panic!` here — no panicking calls outside tests");
    assert!(finding.warning().to_string().starts_with("a/b.rs:7: warning: "));
}

#[test]
fn code_is_told_from_words_about_code() {
    let cases: &[(&str, &[&str])] = &[
        ("fn f() { x.unwrap(); }", &["2: `unwrap` here"]),
        ("fn f() { x\n  .expect(\"y\") }", &["3: `expect` here"]),
        ("fn f() { x.map(Option::unwrap) }", &["2: `unwrap` here"]),
        ("fn f() { x.unwrap_or(1); x.unwrap_or_default(); let unwrap = 1; expect(2); }", &[]),
        ("fn f() { panic!(\"x\") }", &["2: `panic!` here"]),
        ("fn f() { if panic != 1 { std::panic::catch_unwind(g); } }", &[]),
        (
            "fn f() { match x { _ => unreachable!() } todo!(); unimplemented![] }",
            &["2: `unreachable!` here", "2: `todo!` here", "2: `unimplemented!` here"],
        ),
        ("// x.unwrap()\n/// y.unwrap()\nfn f() { \"panic!()\"; r#\"z.unwrap()\"#; }", &[]),
        ("fn f() { vec![x.unwrap()]; }", &["2: `unwrap` here"]),
        (
            "fn f() { println!(); }\nfn g() { std::eprint!(); dbg!(1); }",
            &["2: `println!` here", "3: `eprint!` here", "3: `dbg!` here"],
        ),
        (
            "#[cfg(test)]\nmod tests { fn f() { x.unwrap(); println!(); } }\nfn g() { y.unwrap() }",
            &["4: `unwrap` here"],
        ),
        ("#[cfg(not(test))]\nfn f() { x.unwrap() }", &["3: `unwrap` here"]),
        ("#[tokio::test]\nasync fn f() { x.unwrap() }\n#[test]\nfn g() { panic!() }", &[]),
        ("#[test]\n#[ignore]\nfn f() {}", &["3: an ignored test"]),
        ("#[test]\n#[ignore = \"slow\"]\nfn f() {}", &["3: an ignored test"]),
        ("#[test]\n#[should_panic(expected = \"x\")]\nfn f() {}", &["3: a test that expects a panic"]),
        (
            "// A fixed pattern.\n#[allow(clippy::expect_used)]\nstatic R: L = L::new(|| { Regex::new(x).expect(y) });\nfn f() { x.expect(y) }",
            &["5: `expect` here"],
        ),
        ("#[allow(clippy::expect_used)]\nstatic R: L = x.expect(y);", &[]),
        ("\n#[allow(clippy::expect_used)]\nstatic R: L = x.expect(y);", &["4: `expect` here"]),
        ("// Why.\n#[allow(clippy::expect_used)]\nfn f() { x.unwrap() }", &["4: `unwrap` here"]),
        (
            "// Why.\n#[allow(clippy::expect_used)]\nfn f() { x.expect(y) }\nfn g() { x.expect(y) }",
            &["5: `expect` here"],
        ),
    ];
    for (code, expected) in cases {
        let path = "crates/a/src/b.rs";
        let found = lines(&source::check(&[file(path, &format!("//! Header.\n{code}"))]));
        let expected: Vec<String> = expected.iter().map(|line| format!("{path}:{line}")).collect();
        assert_eq!(found, expected, "{code}");
    }
}

#[test]
fn places_where_panics_and_prints_may_stand() {
    let code = "//! Header.\nfn f() { x.unwrap(); println!(); }";
    let cases = [
        ("crates/a/src/b.rs", 2),
        ("crates/jarvis/src/printer.rs", 1),
        ("crates/a/src/b/tests.rs", 0),
        ("crates/a/tests/it/main.rs", 0),
        ("crates/a/benches/b.rs", 0),
        ("crates/jarvis-testing/src/lib.rs", 0),
        ("crates/jarvis-load/src/main.rs", 0),
        ("xtask/src/main.rs", 0),
    ];
    for (path, expected) in cases {
        assert_eq!(source::check(&[file(path, code)]).len(), expected, "{path}");
    }
}

#[test]
fn a_test_module_in_its_own_file_is_a_test() {
    let code = "//! Header.\nfn f() { x.unwrap() }";
    let parent = file("crates/a/src/b.rs", "//! Header.\n#[cfg(test)]\nmod cases;\nmod real;");
    let sources = [parent, file("crates/a/src/b/cases.rs", code), file("crates/a/src/b/real.rs", code)];
    assert_eq!(lines(&source::check(&sources)), ["crates/a/src/b/real.rs:2: `unwrap` here"]);
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
        ("//! Header.\nfn f() { \"open }".to_owned(), &["error"]),
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
        (format!("{head}[dependencies]\nserde = \"1\"\n"), &["a:10: `serde` has its own version"]),
        (
            format!("{head}[dev-dependencies]\n# serde = \"1\"\nx = {{ path = \"../x\" }}\n"),
            &["a:11: `x` has its own version"],
        ),
        (format!("{head}[target.'cfg(unix)'.dependencies]\nserde = \"1\"\n"), &["a:10: `serde` has its own version"]),
        (
            format!("{head}[dependencies.serde]\nworkspace = true\n[dependencies.x]\nversion = \"1\"\n"),
            &["a:12: `dependencies.x` has its own version"],
        ),
        (format!("{head}[features]\ndefault = [\"x\"]\n"), &[]),
        (head.replace("version.workspace = true", "version = \"1.0.0\""), &["a:3: `version` is not the workspace's"]),
        (head.replace("[lints]\nworkspace = true\n", ""), &["a:1: `[lints] workspace = true` is missing"]),
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
fn licence_expressions_are_met_or_not() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "ISC"];
    let cases = [
        ("MIT", Some(true)),
        ("GPL-3.0-only", Some(false)),
        ("MIT OR GPL-3.0-only", Some(true)),
        ("MIT AND GPL-3.0-only", Some(false)),
        ("MIT/Apache-2.0", Some(true)),
        ("Unlicense / MIT", Some(true)),
        ("(MIT OR GPL-3.0-only) AND ISC", Some(true)),
        ("GPL-3.0-only OR MIT AND ISC", Some(true)),
        ("MIT AND (GPL-3.0-only OR BSL-1.0)", Some(false)),
        ("Apache-2.0 WITH LLVM-exception", Some(true)),
        ("MIT WITH LLVM-exception", Some(false)),
        ("", None),
        ("MIT OR", None),
        ("(MIT", None),
        ("MIT ISC", None),
    ];
    for (expression, expected) in cases {
        assert_eq!(licences::satisfied(expression, &allowed), expected, "{expression}");
    }
}

#[test]
fn licences_are_checked_against_the_list_of_cargo_deny() {
    let deny = "[bans]\nallow = [\"GPL-3.0-only\"]\n[licenses]\n# allow = [\"X\"]\nallow = [\n  \"MIT\", # \"X\"\n  \"ISC\",\n]\nexceptions = []\n";
    let package =
        |name: &str, licence: Option<&str>| Package { name: name.to_owned(), licence: licence.map(str::to_owned) };
    let packages = [
        package("a 1", Some("ISC")),
        package("b 1", Some("GPL-3.0-only")),
        package("c 1", None),
        package("d 1", Some("X")),
    ];
    let found = licences::check(deny, &packages).expect("a list");
    assert_eq!(
        lines(&found),
        [
            "deny.toml:5: `b 1` is under GPL-3.0-only",
            "deny.toml:5: `c 1` names no licence",
            "deny.toml:5: `d 1` is under X"
        ]
    );
    assert!(licences::check("[licenses]\n", &packages).is_err());
}

#[test]
fn missing_programs_are_named_with_their_packages() {
    let missing = setup::missing(&[]);
    let advice = setup::advice(&missing);
    for word in [
        "reading text in pictures",
        "apt-get install espeak-ng tesseract-ocr python3",
        "brew install espeak-ng tesseract",
    ] {
        assert!(advice.contains(word), "{advice}");
    }
}
