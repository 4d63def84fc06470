//! Cases for reading and printing. Expected texts are what Python 3 prints.

use super::{Look, parse, printed};

#[test]
fn prints_as_python_does() {
    let cases = [
        (r#""raw 'text'""#, "raw 'text'"),
        ("null", "None"),
        ("true", "True"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("5", "5"),
        ("5.0", "5.0"),
        ("5e0", "5.0"),
        ("1e15", "1000000000000000.0"),
        ("1e16", "1e+16"),
        ("1.5e-7", "1.5e-07"),
        ("0.0001", "0.0001"),
        ("0.00001", "1e-05"),
        ("1e400", "inf"),
        ("NaN", "nan"),
        ("-Infinity", "-inf"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("[]", "[]"),
        ("{}", "{}"),
        (r#"["a", 1, 2.50, null, [false]]"#, "['a', 1, 2.5, None, [False]]"),
        (r#"{"k": 1, "b": "x", "k": 2}"#, "{'k': 2, 'b': 'x'}"),
        (r#"["it's"]"#, r#"["it's"]"#),
        (r#"["it's \"so\""]"#, r#"['it\'s "so"']"#),
        (r#"["a\nb\t\\ \u0007 \u00a0 \u200b é 漢 \ud83d\ude00"]"#, r"['a\nb\t\\ \x07 \xa0 \u200b é 漢 😀']"),
        (r#"["\ud83d"]"#, r"['\ud83d']"),
        (r#"["\udbff\udfff \ue000"]"#, r"['\U0010ffff \ue000']"),
    ];
    for (json, expected) in cases {
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
