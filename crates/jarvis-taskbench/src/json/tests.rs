//! Cases for reading and printing. `printed.tsv` has what Python 3 prints.

use super::{Look, parse, printed};

#[test]
fn prints_as_python_does() {
    for line in jarvis_testing::lines(include_str!("printed.tsv")) {
        let (json, expected) = line.split_once('\t').unwrap();
        let value = parse(json.as_bytes()).unwrap();
        assert_eq!(printed(&value), expected, "{json}");
    }
}

#[test]
fn refuses_what_is_not_json() {
    for json in ["", "{", "{'a': 1}", "[1,]", "01", "\"a\nb\"", "{} {}", "nul", r#""\u12""#, r#""\x""#] {
        assert!(parse(json.as_bytes()).is_err(), "{json}");
    }
    let deep = "[".repeat(100_000);
    assert!(parse(deep.as_bytes()).is_err());
}

#[test]
fn takes_the_last_of_repeated_keys() {
    let value = parse(br#"{"a": 1, "a": 2}"#).unwrap();
    assert_eq!(value.look("a"), Some(&super::Json::Int(2)));
}
