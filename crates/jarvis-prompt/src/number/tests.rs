//! Arithmetic by the rules of Python, at its edges.

use super::Operator::{Add, Divide, FloorDivide, Multiply, Power, Remainder, Subtract};
use super::*;

fn int(text: &str) -> Number {
    Number::Int(text.parse().expect("digits"))
}

/// A number as the cases write it: a float where it has a point or an exponent.
fn number(text: &str) -> Number {
    match text.split_once("10^") {
        Some((times, power)) => {
            let times = if times.is_empty() { "1" } else { times.trim_end_matches('*') };
            int(&format!("{times}{}", "0".repeat(power.parse().expect("a power"))))
        }
        None if text.contains(['.', 'e']) => Number::Float(text.parse().expect("a float")),
        None => int(text),
    }
}

#[test]
fn arithmetic_has_the_rules_of_python() {
    let operators = [
        ("+", Add),
        ("-", Subtract),
        ("*", Multiply),
        ("/", Divide),
        ("//", FloorDivide),
        ("%", Remainder),
        ("**", Power),
    ];
    let is_case = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let cases: Vec<&str> = include_str!("cases.txt").lines().filter(is_case).collect();
    assert!(!cases.is_empty());
    for line in cases {
        let words: Vec<&str> = line.split(' ').collect();
        let [left, operator, right, "=", expected] = words[..] else { panic!("no case: {line}") };
        let (_, operator) = operators.iter().find(|(sign, _)| *sign == operator).expect("a sign of the list");
        let found = match number(left).apply(*operator, &number(right), &mut Work::default()) {
            Ok(found) => found == number(expected),
            Err(error) => format!("{error:?}") == expected,
        };
        assert!(found, "{line}");
    }
    let most = int("2").apply(Power, &int("1048575"), &mut Work::default()).expect("within bounds");
    assert_eq!(most, Number::Int(BigInt::one() << 1_048_575));
    assert_eq!(most.clone().apply(Add, &most, &mut Work::default()), Err(ArithmeticError::TooLarge));
    assert_eq!(most.apply(Multiply, &int("2"), &mut Work::default()), Err(ArithmeticError::TooLarge));
    let most = Number::Int(BigInt::one() << 1024);
    assert_eq!(most.clone().apply(Operator::Divide, &int("1"), &mut Work::default()), Err(ArithmeticError::NotFinite));
    assert_eq!(most.apply(Operator::Divide, &int("2"), &mut Work::default()), Ok(Number::Float(2.0_f64.powi(1023))));
}

#[test]
fn logarithms_reach_beyond_floats() {
    let far = int(&format!("1{}", "0".repeat(1000)));
    assert!((log10(&far) - 1000.0).abs() < 1e-9);
    assert!((ln(&far) - 2_302.585_092_994_046).abs() < 1e-9);
    assert!((ln(&Number::Float(0.5)) + std::f64::consts::LN_2).abs() < 1e-15);
}

#[test]
fn work_runs_out() {
    let mut work = Work::default();
    let long = Number::Int(BigInt::one() << 1_000_000);
    let done = std::iter::repeat_n((), 1000)
        .take_while(|()| long.clone().apply(Operator::Add, &int("1"), &mut work).is_ok())
        .count();
    assert!((1..1000).contains(&done), "{done}");
    // Small numbers always can.
    assert!(int("1").apply(Operator::Add, &int("1"), &mut work).is_ok());
}
