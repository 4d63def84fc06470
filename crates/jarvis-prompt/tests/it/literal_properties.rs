//! Properties of literals: what is shown can be read again, strict JSON keeps its meaning, nothing panics.

use jarvis_prompt::literal::{Literal, read_literal};
use jarvis_prompt::reader::Want;
use proptest::prelude::*;
use serde_json::Value;

use crate::literal::rows;

fn literal() -> impl Strategy<Value = Literal> {
    let leaf = prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Bool),
        any::<i64>().prop_map(|int| Literal::Int(int.into())),
        "-?[1-9][0-9]{0,60}".prop_map(|digits| Literal::Int(digits.parse().unwrap())),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Literal::Float),
        (-1.0e9..1.0e9f64).prop_map(Literal::Float),
        ".*".prop_map(Literal::Text),
        "[a-z'\"\\\\{}\\[\\],: \n`“”#/*]{0,24}".prop_map(Literal::Text),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Literal::List),
            prop::collection::vec(("[a-z_]{1,8}|.{0,6}", inner), 0..6)
                .prop_map(|fields| Literal::Map(fields.into_iter().collect())),
        ]
    })
}

/// The same value, floats up to the last place: serde_json may be off by one there.
fn same(literal: &Literal, value: &Value) -> bool {
    match (literal, value) {
        (Literal::Null, Value::Null) => true,
        (Literal::Bool(one), Value::Bool(other)) => one == other,
        (Literal::Int(int), Value::Number(number)) => match (number.as_i64(), number.as_u64()) {
            (Some(small), _) => *int == small.into(),
            (None, Some(small)) => *int == small.into(),
            // Beyond 64 bits, and `-0`: a float there, exact here.
            (None, None) => close(int.to_string().parse().unwrap(), number.as_f64().unwrap()),
        },
        (Literal::Float(float), Value::Number(number)) => close(*float, number.as_f64().unwrap()),
        (Literal::Text(one), Value::String(other)) => one == other,
        (Literal::List(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Literal::Map(one), Value::Object(other)) => {
            one.keys().eq(other.keys()) && one.values().zip(other.values()).all(|(one, other)| same(one, other))
        }
        _ => false,
    }
}

fn close(one: f64, other: f64) -> bool {
    one == other || ((one - other) / other).abs() < 1e-15 || (one - other).abs() < 1e-320
}

fn pythonic(literal: &Literal) -> String {
    let quoted = |text: &str| {
        format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\r', "\\r"))
    };
    match literal {
        Literal::Null => "None".to_owned(),
        Literal::Bool(truth) => if *truth { "True" } else { "False" }.to_owned(),
        Literal::Int(int) => int.to_string(),
        Literal::Float(float) => format!("{float:?}"),
        Literal::Text(text) => quoted(text),
        Literal::List(items) => {
            let items: Vec<String> = items.iter().map(|item| format!("{}, ", pythonic(item))).collect();
            format!("({})", items.concat())
        }
        Literal::Map(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}: {}", quoted(name), pythonic(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_is_read_again(value in literal()) {
        prop_assert_eq!(Literal::parse(&value.to_string()), Ok(value.clone()));
        prop_assert_eq!(Literal::parse(&pythonic(&value)), Ok(value.clone()));
        let through_json: Literal = serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap();
        prop_assert_eq!(through_json, value);
    }

    #[test]
    fn floats_keep_every_bit(bits: u64) {
        let float = f64::from_bits(bits);
        prop_assume!(float.is_finite());
        let Ok(Literal::Float(read)) = Literal::parse(&Literal::Float(float).to_string()) else {
            return Err(TestCaseError::fail("not a float"));
        };
        prop_assert_eq!(read.to_bits(), bits);
    }

    #[test]
    fn strict_json_means_what_it_means(text in "[\\[\\]{},:\"a-f0-9\\\\u/.eE+ -]{0,40}|true|null|-0|[0-9]{1,40}") {
        if let Ok(value) = serde_json::from_str::<Value>(&text) {
            let read = Literal::parse(&text);
            prop_assert!(read.as_ref().is_ok_and(|read| same(read, &value)), "{} {:?} {}", text, read, value);
        }
    }

    #[test]
    fn valid_json_is_read_as_elsewhere(value in literal(), pretty: bool) {
        let json: Value = serde_json::from_str(&value.to_string()).unwrap();
        let text = if pretty { serde_json::to_string_pretty(&json).unwrap() } else { json.to_string() };
        let read = Literal::parse(&text).unwrap();
        prop_assert!(same(&read, &json), "{}", text);
        if json.is_object() {
            let reply = format!("So [1] it is:\n```json\n{text}\n```\nand {{}}");
            prop_assert_eq!(read_literal(&reply, Want::Object).unwrap(), read);
        }
    }

    #[test]
    fn nothing_panics(
        text in "[\\[\\]{}(),:\"'`“a-f0-9\\\\/#*%.\n +-]{0,120}|.*|([0-9.]{1,3}(\\*\\*|//|[-+*/%(]| )){0,12}",
        want in prop_oneof![Just(Want::Array), Just(Want::Object), Just(Want::Any)],
    ) {
        let _ = Literal::parse(&text);
        if let Ok(value) = read_literal(&text, want) {
            prop_assert!(want != Want::Object || value.as_map().is_some());
            prop_assert!(want != Want::Array || value.as_list().is_some());
        }
    }
}

#[test]
fn json_at_its_edges_is_read_as_elsewhere() {
    for (_, text, _) in rows(|kind| kind == "json") {
        let value: Value = serde_json::from_str(&text).unwrap();
        let read = Literal::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(same(&read, &value), "{text} {read:?} {value:?}");
    }
    let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
    assert!(serde_json::from_str::<Value>(&deep).is_ok());
    assert!(Literal::parse(&deep).is_ok());
}
