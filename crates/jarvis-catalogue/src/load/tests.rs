//! Reading catalogue lines, good and bad.

use jarvis_testing::rows;
use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Loaded {
    read_lines(text.as_bytes()).unwrap().0
}

#[test]
fn lenient_lines() {
    type Row = (String, u64, String, Option<Vec<String>>);
    for (line, likes, description, tags) in rows::<Row>(include_str!("tests.json"), "lenient") {
        let loaded = read(&line);
        assert_eq!(loaded.notes, Vec::<String>::new(), "{line}");
        let model = &loaded.models[0];
        assert_eq!((model.id.as_str(), model.task.as_str()), ("o/n", "image-to-text"), "{line}");
        assert_eq!((model.likes, &model.description), (likes, &description), "{line}");
        assert_eq!(model.tags, tags, "{line}");
    }
}

#[test]
fn bad_lines_are_named_and_left_out() {
    let loaded = read(concat!(
        "{\"id\":\"a/a\",\"task\":\"translation\"}\n",
        "\n",
        "not json\n",
        "{\"task\":\"translation\"}\n",
        "{\"id\":\"\",\"task\":\"translation\"}\n",
        "{\"id\":\"b/b\"}\n",
        "{\"id\":\"a/a\",\"task\":\"translation\"}\n",
        "{\"id\":\"a/a\",\"task\":\"summarization\"}",
    ));
    assert_eq!(loaded.models.len(), 2);
    insta::assert_snapshot!(loaded.notes.join("\n"), @r"
    line 3: expected ident at line 1 column 2
    line 4: missing field `id` at line 1 column 22
    line 5: `id` is not a model id
    line 6: neither `task` nor `pipeline_tag` is given
    line 7: a/a is there already
    ");
    let many = "bad\n".repeat(50) + "{\"id\":\"a/a\",\"task\":\"translation\"}";
    let loaded = read(&many);
    assert_eq!((loaded.models.len(), loaded.notes.len()), (1, MAX_NOTES + 1));
    assert_eq!(loaded.notes.last().map(String::as_str), Some("and 30 more lines that cannot be used"));
}

#[test]
fn a_line_without_end_is_skipped() {
    let mut text = format!("{{\"id\":\"a/a\",\"x\":\"{}\"}}\n", "y".repeat(MAX_LINE as usize + 10));
    text.push_str("{\"id\":\"b/b\",\"task\":\"translation\"}\n");
    let loaded = read(&text);
    assert_eq!((loaded.models.len(), loaded.notes.len()), (1, 1));
    assert_eq!(loaded.notes[0], "line 1: longer than 4194304 bytes");
}

#[test]
fn files_without_models_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: Option<&str>, message: &str| {
        let path = folder.path().join("models.jsonl");
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let error = read_models(&path).unwrap_err();
        let shown = error.to_string().replace(&path.display().to_string(), "FILE");
        assert_eq!(shown, message);
        assert!(!error.hint().is_empty());
    };
    check(None, "cannot read the model catalogue FILE");
    check(Some(""), "FILE holds no model: it is empty");
    check(
        Some("\n[]\n"),
        "FILE holds no model: line 2: invalid length 0, expected struct Row with 7 elements at line 1 column 2",
    );
}

proptest! {
    #[test]
    fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (loaded, _) = read_lines(bytes.as_slice()).unwrap();
        prop_assert!(loaded.models.iter().all(|model| !model.id.is_empty()));
    }

    #[test]
    fn never_panics_on_near_lines(
        id in r#"("[a-z/\\\\n"]{0,8}")|null|1|\{\}"#, likes in "[-0-9.eE\"a-z]{1,6}", meta in r#"(\{"tags":[\[\]"a0-9,{}]{0,9}\})|""|null"#,
    ) {
        let line = format!("{{\"id\":{id},\"task\":\"ocr\",\"likes\":{likes},\"meta\":{meta}}}\n");
        let (loaded, _) = read_lines(line.as_bytes()).unwrap();
        prop_assert_eq!(loaded.models.len() + loaded.notes.len(), 1);
    }
}
