//! Arithmetic by the rules of Python, at its edges.

use super::*;

fn int(text: &str) -> Number {
    Number::Int(text.parse().expect("digits"))
}

fn number(text: &str) -> Number {
    if text.contains(['.', 'e']) { Number::Float(text.parse().expect("a float")) } else { int(text) }
}

fn check(left: &str, operator: Operator, right: &str, expected: Result<&str, ArithmeticError>) {
    let found = number(left).apply(operator, &number(right), &mut Work::default());
    assert_eq!(found, expected.map(number), "{left} {operator:?} {right}");
}

#[test]
fn arithmetic_has_the_rules_of_python() {
    use ArithmeticError::{DivisionByZero, NotFinite, NotReal, TooLarge};
    use Operator::{Add, Divide, FloorDivide, Multiply, Power, Remainder, Subtract};
    let googol = format!("1{}", "0".repeat(400));
    for (left, operator, right, expected) in [
        ("1", Add, "2", Ok("3")),
        ("1", Add, "2.5", Ok("3.5")),
        ("9007199254740993", Add, "0.0", Ok("9007199254740992.0")),
        ("1", Subtract, "2", Ok("-1")),
        ("3", Multiply, "-2", Ok("-6")),
        ("1e308", Multiply, "10.0", Err(NotFinite)),
        (&googol, Add, "1.0", Err(NotFinite)),
        ("4", Divide, "2", Ok("2.0")),
        ("1", Divide, "3", Ok("0.3333333333333333")),
        ("1", Divide, "0", Err(DivisionByZero)),
        ("1.0", Remainder, "0", Err(DivisionByZero)),
        ("-7", FloorDivide, "2", Ok("-4")),
        ("-7", Remainder, "2", Ok("1")),
        ("7", Remainder, "-2", Ok("-1")),
        ("-7.5", Remainder, "2", Ok("0.5")),
        ("7.5", Remainder, "-2.0", Ok("-0.5")),
        ("-7.5", FloorDivide, "2", Ok("-4.0")),
        ("-0.0000000000000000001", Remainder, "5.0", Ok("5.0")),
        ("2", Power, "10", Ok("1024")),
        ("2", Power, "-1", Ok("0.5")),
        ("-2", Power, "3", Ok("-8")),
        ("0", Power, "0", Ok("1")),
        ("0", Power, "-1", Err(DivisionByZero)),
        ("0.0", Power, "-0.5", Err(DivisionByZero)),
        ("-8.0", Power, "0.5", Err(NotReal)),
        ("-8", Power, "2.0", Ok("64.0")),
        ("10.0", Power, "400", Err(NotFinite)),
        ("1", Power, &googol, Ok("1")),
        ("-1", Power, &googol, Ok("1")),
        ("0", Power, &googol, Ok("0")),
        ("778899", Power, "3456789", Err(TooLarge)),
        ("2", Power, "1048576", Err(TooLarge)),
        (&googol, Power, &googol, Err(TooLarge)),
    ] {
        check(left, operator, right, expected);
    }
    let most = int("2").apply(Power, &int("1048575"), &mut Work::default()).expect("within bounds");
    assert_eq!(most, Number::Int(BigInt::one() << 1_048_575));
    assert_eq!(most.clone().apply(Add, &most, &mut Work::default()), Err(TooLarge));
    assert_eq!(most.apply(Multiply, &int("2"), &mut Work::default()), Err(TooLarge));
}

#[test]
fn division_of_whole_numbers_is_rounded_once() {
    // Expected values as Python gives them.
    for (left, right, expected) in [
        ("9007199254740993", "9007199254740992", "1.0"),
        ("27021597764222979", "9007199254740993", "3.0"),
        ("1", "49", "0.02040816326530612"),
        ("-58729482", "8666", "-6777.0"),
        (&*format!("1{}", "0".repeat(400)), &*format!("3{}", "0".repeat(399)), "3.3333333333333335"),
        ("5", &*format!("1{}", "0".repeat(324)), "5e-324"),
        ("2", &*format!("1{}", "0".repeat(324)), "0.0"),
        ("123456789", &*format!("1{}", "0".repeat(330)), "1.23457e-322"),
        ("22250738585072011", &*format!("1{}", "0".repeat(324)), "2.225073858507201e-308"),
        ("1", &*format!("1{}", "0".repeat(400)), "0.0"),
    ] {
        let found = int(left).apply(Operator::Divide, &int(right), &mut Work::default());
        assert_eq!(found, Ok(Number::Float(expected.parse().expect("a float"))), "{left} / {right}");
    }
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
