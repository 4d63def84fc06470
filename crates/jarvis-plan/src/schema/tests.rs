//! Values against schemas, and schemas in words.

use serde_json::{Value, json};

use super::*;

#[test]
fn values_become_what_the_schema_asks_for_where_there_is_one_way() {
    let check = |value: Value, schema: Value, want: Value| {
        assert_eq!(coerced(value.clone(), &schema), want, "{value} {schema}");
    };
    let integer = json!({"type": "integer"});
    check(json!("3"), integer.clone(), json!(3));
    check(json!(" 3.0 "), integer.clone(), json!(3));
    check(json!(3.0), integer.clone(), json!(3));
    check(json!(3.5), integer.clone(), json!(3.5));
    check(json!("three"), integer.clone(), json!("three"));
    check(json!([3]), integer.clone(), json!(3));
    check(json!("NaN"), json!({"type": "number"}), json!("NaN"));
    check(json!("2.5"), json!({"type": "number"}), json!(2.5));
    check(json!("True"), json!({"type": "boolean"}), json!(true));
    check(json!("yes"), json!({"type": "boolean"}), json!("yes"));
    check(json!(42), json!({"type": "string"}), json!("42"));
    check(json!(42), json!({"type": ["string", "integer"]}), json!(42));
    check(json!("Metric"), json!({"enum": ["metric", "imperial"]}), json!("metric"));
    check(json!("first class"), json!({"type": "string", "enum": ["first-class", "x"]}), json!("first-class"));
    check(json!("a"), json!({"enum": ["A", "a"]}), json!("a"));
    check(json!("first"), json!({"enum": ["economy"]}), json!("first"));
    check(json!("x"), json!({"type": "array", "items": {"type": "string"}}), json!(["x"]));
    check(json!("[1, \"2\"]"), json!({"type": "array", "items": {"type": "integer"}}), json!([1, 2]));
    check(json!({"n": "2"}), json!({"type": "object", "properties": {"n": {"type": "integer"}}}), json!({"n": 2}));
    check(json!("5"), json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!(5));
    check(json!("5"), json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}), json!(5));
    check(json!(null), integer, json!(null));
    check(json!("x"), json!({"$ref": "https://example.org/other.json"}), json!("x"));
}

#[test]
fn schemas_are_told_in_words() {
    let check = |schema: Value, words: &str| assert_eq!(in_words(&schema), words, "{schema}");
    check(json!({"type": "integer", "minimum": 1, "maximum": 14}), "an integer from 1 to 14");
    check(json!({"type": ["number", "null"], "minimum": 0}), "a number of at least 0");
    check(json!({"enum": ["metric", "imperial"]}), "one of \"metric\", \"imperial\"");
    check(json!({"const": 5}), "5");
    check(json!({"type": "string", "format": "date"}), "a date such as 2026-01-31");
    check(json!({"type": "array", "items": {"type": "string"}, "minItems": 1}), "a list of at least 1, each text");
    check(json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), "text or an integer");
    check(json!({}), "any value");
}

#[test]
fn formats_and_bounds_are_held() {
    let check = |schema: Value, value: Value, fits: bool| assert_eq!(takes(&schema, &value), fits, "{value} {schema}");
    check(json!({"type": "string", "format": "date"}), json!("2026-02-30"), false);
    check(json!({"type": "string", "format": "date"}), json!("2026-02-28"), true);
    check(json!({"type": "string", "format": "email"}), json!("nobody"), false);
    check(json!({"type": "integer", "minimum": 1}), json!(0), false);
    check(json!({"type": "string", "pattern": "^(a+)+$"}), json!("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), false);
    check(json!({"type": 7}), json!("anything"), true);
}
