//! The native tools as a registry calls them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::local::plot::DONE;
use crate::{Observation, Scope};

fn registry() -> Registry {
    let mut registry = Registry::new();
    add_to(&mut registry).unwrap();
    registry
}

async fn observe(name: &str, input: &Value, document: &str) -> Result<Observation, String> {
    let scope = Scope { document: Some(Arc::from(document)), ..Scope::default() };
    registry().call(name, input, &scope).await.map_err(|error| error.message)
}

#[tokio::test]
async fn every_tool_is_told_of_and_takes_its_example() {
    let registry = registry();
    let names: Vec<&str> = registry.specs().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names.len(), 17);
    assert_eq!(names.get(..5), Some(&["plot", "calculator", "count", "search_document", "add_"][..]));
    for spec in registry.specs() {
        let properties = spec.input_schema.get("properties").and_then(Value::as_object).unwrap();
        assert!(spec.example.as_object().unwrap().keys().all(|key| properties.contains_key(key)), "{}", spec.name);
        let done = observe(&spec.name, &spec.example, "The company's founding year was 1999.").await;
        assert!(done.is_ok(), "{}: {done:?}", spec.name);
    }
}

#[tokio::test]
async fn calls_are_answered() {
    let check = async |name: &str, input: Value, document: &str, expected: Result<&str, &str>| {
        let done = observe(name, &input, document).await.map(|done| done.text);
        assert_eq!(done.as_deref().map_err(String::as_str), expected, "{name} {input}");
    };
    let fruit = "apple,apple,apple,banana,apple,banana,orange,apple,apple,banana";
    let counted = "apple: 6, banana: 3, orange: 1; 3 kinds, 10 in all\n\
                   {\"x\":[\"apple\",\"banana\",\"orange\"],\"y\":[6,3,1]}";
    check("plot", json!({"x": ["a", "b"], "y": [2, 1]}), "", Ok(DONE)).await;
    let failed = "Failed to generate plot: `x` has 2 entries and `y` has 1; both must have as many";
    check("plot", json!({"x": ["a", "b"], "y": [1]}), "", Err(failed)).await;
    check("count", json!({}), fruit, Ok(counted)).await;
    check("count", json!({"text": fruit, "separator": ","}), "", Ok(counted)).await;
    check(
        "count",
        json!({"items": ["a", "A", 5, "5"], "of": null}),
        "",
        Ok("a: 2, 5: 2; 2 kinds, 4 in all\n{\"x\":[\"a\",\"5\"],\"y\":[2,2]}"),
    )
    .await;
    check("count", json!({"of": "Banana"}), fruit, Ok("Banana: 3 of 10 items")).await;
    check("count", json!({"of": "fig"}), "a fig tree, fig, fig jam", Ok("fig: 1 of 3 items; 3 in the text")).await;
    check("count", json!({"of": "cat"}), "A cat sat, and the cat ate.", Ok("cat: 2 in the text")).await;
    check("count", json!({"items": [[]]}), "", Err("`items` must be a list of texts or numbers")).await;
    check("count", json!({"text": []}), "", Err("`text` must be a text")).await;
    check("calculator", json!({"expression": "2 + 3 * 4"}), "", Ok("14")).await;
    check("calculator", json!({}), "", Err("`expression` must be a text such as (2 + 3) * 4")).await;
    check(
        "calculator",
        json!({"expression": "1 +"}),
        "",
        Err("the expression has no value: at character 3: something is missing behind this"),
    )
    .await;
    check("add_", json!({"input": [5, 10]}), "", Ok("15")).await;
    check("divide_", json!({"input": [1, 3]}), "", Ok("0.333333333333")).await;
    check("choose_", json!({"input": ["x"]}), "", Err("choose_: at least two numbers are wanted, and one was given"))
        .await;
    check(
        "search_document",
        json!({"query": "zebra"}),
        "no stripes",
        Ok("No passage of the document shares a word with the query."),
    )
    .await;
    check("search_document", json!({"query": " "}), "x", Err("`query` must be a text of one word or more")).await;
    check("search_document", json!({"query": "x", "top": 0}), "x", Err("`top` must be a whole number above 0")).await;
    check(
        "count",
        json!([]),
        "",
        Err("the input of `count` must be a JSON object, such as {\"text\":\"pear,pear,fig\",\"separator\":\",\"}"),
    )
    .await;
    let observation = observe("plot", &json!({"x": ["a"], "y": [2]}), "").await.unwrap();
    assert_eq!(observation.media.len(), 1);
    assert_eq!(observation.media[0].mime, "image/png");
    assert!(observation.media[0].bytes.starts_with(b"\x89PNG\r\n"));
    let none = registry().call("search_document", &json!({"query": "x"}), &Scope::default()).await.unwrap_err();
    assert_eq!(none.message, "there is no document to search");
}

#[tokio::test]
async fn results_are_data_too() {
    for (name, input, value) in [
        (
            "count",
            json!({"items": ["a", "b", "A"]}),
            json!({"counts": [{"item": "a", "count": 2}, {"item": "b", "count": 1}], "total": 3}),
        ),
        (
            "count",
            json!({"text": "fig, figs", "of": "fig"}),
            json!({"item": "fig", "count": 1, "total": 2, "in_text": 1}),
        ),
        (
            "search_document",
            json!({"query": "rain"}),
            json!({"passages": [{"number": 1, "line": 2, "text": "Rain fell."}], "total": 1}),
        ),
        ("search_document", json!({"query": "snow"}), json!({"passages": [], "total": 1})),
        ("calculator", json!({"expression": "1 / 4"}), json!(0.25)),
        ("calculator", json!({"expression": "2 ^ 70"}), json!("1180591620717411303424")),
        ("divide_", json!({"input": [1, 3]}), json!(1.0 / 3.0)),
        ("multiply_", json!({"input": ["1180591620717411303424", 2]}), json!("2361183241434822606848")),
    ] {
        let found = observe(name, &input, "\nRain fell.\n").await.unwrap().value;
        assert_eq!(found, Some(value), "{name} {input}");
    }
    let about = observe("calculator", &json!({"expression": "2^20000"}), "").await.unwrap();
    assert_eq!(about.value, None, "{}", about.text);
}

#[tokio::test]
async fn passages_are_found_with_their_places() {
    let filler =
        "Nothing of interest happened that year in the small town by the river, and people went on. ".repeat(7);
    let document = format!(
        "{filler}\n\n{filler}\nThe company was founded in 1987 by Ada King.\n\n{filler}\n公司成立于一九八七年。\n"
    );
    let found =
        observe("search_document", &json!({"query": "when was the company founded", "top": 1}), &document).await;
    let text = found.unwrap().text;
    assert!(text.starts_with("[passage ") && text.contains("founded in 1987") && !text.contains("成立"), "{text}");
    let text = observe("search_document", &json!({"query": "成立", "top": 50}), &document).await.unwrap().text;
    assert!(text.contains("公司成立于") && text.contains("line 6"), "{text}");
}

#[test]
fn documents_are_read_once() {
    let tool = SearchDocument::default();
    let document: Arc<str> = Arc::from("one two");
    let (first, second) = (tool.index_of(&document), tool.index_of(&document));
    assert!(Arc::ptr_eq(&first, &second));
    for at in 0..20 {
        let other: Arc<str> = Arc::from(format!("text {at}"));
        assert!(!Arc::ptr_eq(&first, &tool.index_of(&other)));
    }
    assert!(Arc::ptr_eq(&first, &tool.index_of(&document)), "documents that are gone make room");
}

#[test]
fn expressions_are_worked_out() {
    let check = |expression: &str, expected: Result<&str, &str>| {
        let found = evaluate(expression).map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{expression}");
    };
    for (expression, expected) in [
        ("1 + 2", "3"),
        ("2 + 3 * 4 - 5", "9"),
        ("(2 + 3) * 4 =", "20"),
        ("0.1 + 0.2", "0.3"),
        ("1.10 * 3", "3.3"),
        ("7 / 2", "3.5"),
        ("6 / 2", "3"),
        ("1 / 3", "0.333333333333"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7.5 % 2", "1.5"),
        ("7.5 // 2", "3"),
        ("2 ^ 3 ^ 2", "512"),
        ("2 ** 10", "1024"),
        ("-2 ^ 2", "-4"),
        ("2 ^ -1", "0.5"),
        ("2 ^ 0.5", "1.41421356237"),
        ("1.5 ^ 2", "2.25"),
        ("--3", "3"),
        ("+3 - -3", "6"),
        ("5!", "120"),
        ("3!!", "720"),
        ("-3! + 1", "-5"),
        ("12 × 3 ÷ 4 − 1", "8"),
        ("（１＋２）＊３", "9"),
        ("max（3，9、4）", "9"),
        (".5 + 1.", "1.5"),
        ("1e3 + 2.5E-1", "1000.25"),
        ("1_000", "Err at character 2: `_` cannot follow a number; write `*` to multiply"),
        ("sum(1, 2, 3.5)", "6.5"),
        ("sum()", "0"),
        ("sum([1, 2], [3])", "6"),
        ("SUM([1, 2,])", "3"),
        ("mean(1, 2, 6)", "3"),
        ("average([1, 2])", "1.5"),
        ("median(5, 1, 3)", "3"),
        ("median(5, 1, 3, 2)", "2.5"),
        ("count(4, 4, 4)", "3"),
        ("min(3, -1.5, 2)", "-1.5"),
        ("max(2, 2.01, 1e2)", "100"),
        ("product(2, 3, 4)", "24"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(10 / 3, 2)", "3.33"),
        ("round(1234.5678, 1)", "1234.6"),
        ("floor(-1.5) + ceil(1.2)", "0"),
        ("abs(-4.20)", "4.2"),
        ("sqrt(16)", "4"),
        ("ln(e)", "1"),
        ("log(1000)", "3"),
        ("log(8, 2)", "3"),
        ("exp(0)", "1"),
        ("sin(0) + cos(0)", "1"),
        ("tan(pi / 4)", "1"),
        ("2 * π", "6.28318530718"),
        ("gcd(12, 18) + lcm(4, 6)", "18"),
        ("factorial(10)", "3628800"),
        ("0! + 1! + 16! - 16!", "2"),
        ("20!", "2432902008176640000"),
        ("35! / 33!", "1190"),
        ("100! // 98!", "9900"),
        ("gcd(0, 0) + gcd(7) + gcd(12, -18, 27)", "10"),
        ("lcm(2, 3, 10)", "30"),
        ("1e400 * 1e-400", "1"),
        ("0.5 ^ 100 * 2 ^ 100", "1"),
        ("1000.10 + 0.000", "1000.1"),
        ("20.0 * 5.00", "100"),
        ("99999999999999999999 + 1", "100000000000000000000"),
        ("0.1 * 3 == 0.3", "Err at character 9: `=` means nothing here"),
        ("", "Err at character 1: there is no expression"),
        ("   ", "Err at character 1: there is no expression"),
        ("1 +", "Err at character 3: something is missing behind this"),
        ("* 2", "Err at character 1: a number is expected here, and not `*`"),
        ("2 3", "Err at character 3: an operator is missing before this number"),
        ("2 (3)", "Err at character 3: `(` is not expected here"),
        ("2 pi", "Err at character 3: an operator is missing before `pi`"),
        ("2pi", "Err at character 2: `p` cannot follow a number; write `*` to multiply"),
        ("1,200 + 3", "Err at character 2: a comma parts arguments of functions; write numbers without commas inside"),
        ("(1,200)", "Err at character 3: a comma parts arguments of functions; write numbers without commas inside"),
        ("(1 + 2", "Err at character 1: the bracket that opens here is not closed with `)`"),
        ("1 + 2)", "Err at character 6: `)` is not expected here"),
        ("[1, 2]", "Err at character 1: a list is no number; put it into a function, such as sum([1, 2])"),
        ("1 + [1]", "Err at character 5: a list is no number; put it into a function, such as sum([1, 2])"),
        ("1 / 0", "Err at character 3: division by zero"),
        ("sqrt(-1)", "Err at character 1: sqrt_: a negative number has no real square root (argument 1)"),
        ("mean()", "Err at character 1: mean needs a number"),
        ("abs(1, 2)", "Err at character 1: abs takes one number, and has 2"),
        ("exp(1000)", "Err at character 1: the result is beyond about 1.8e308"),
        ("2.5!", "Err at character 4: factorials are of whole numbers from 0 to 3000"),
        ("5000!", "Err at character 5: factorials are of whole numbers from 0 to 3000"),
        (
            "9^9^9",
            "Err at character 2: the number would be too long to work out (more than 2^20 bits, or too much work)",
        ),
        (
            "x + 1",
            "Err at character 1: `x` is neither a number, a constant nor a function with its arguments in brackets",
        ),
        ("$5", "Err at character 1: `$` means nothing here"),
        ("1e99999999999999999999", "Err at character 1: the exponent is too large"),
        ("1e500", "Err at character 1: the number is too large"),
        (
            "import os",
            "Err at character 1: `import` is neither a number, a constant nor a function with its arguments in brackets",
        ),
    ] {
        check(expression, expected.strip_prefix("Err ").map_or(Ok(expected), Err));
    }
    assert!(evaluate("__import__('os')").is_err());
    assert!(evaluate("f(1)").unwrap_err().what.starts_with("there is no function `f`"));
    assert!(evaluate("2^20000").unwrap().starts_with("about 3.98027684033e6020"));
    for deep in ["(".repeat(10_000), "-".repeat(10_000), "2^".repeat(5_000), "sum(".repeat(3_000), "1".repeat(30_000)] {
        assert!(evaluate(&deep).is_err());
    }
    // What is costly is costly in small pieces too.
    for (piece, times) in
        [("3000!+", 3_300), ("1500!+", 3_300), ("gcd(3^30000,2^30000)+", 900), ("lcm(3^30000,2^30000)+", 900)]
    {
        let found = evaluate(&format!("{}1", piece.repeat(times)));
        assert!(found.is_err_and(|error| error.what.contains("too much work")), "{piece}");
        assert!(evaluate(&format!("{}1", piece.repeat(3))).is_ok(), "{piece}");
    }
    assert!(evaluate("3000!").unwrap().starts_with("about 4.14935960343e9130 "));
    assert_eq!(evaluate("3000! // 2998! - 3000 * 2999").as_deref(), Ok("0"));
    let zeros = format!("10^30000{}", "*1e-400*1e400".repeat(150));
    assert!(evaluate(&zeros).is_ok_and(|shown| shown.starts_with("about 1.00000000000e30000")));
    let long = format!("sum({}1)", "1.25, ".repeat(3_000));
    assert_eq!(evaluate(&long).as_deref(), Ok("3751"));
}

proptest::proptest! {
    /// Whatever is written, there is a result or a reason.
    #[test]
    fn no_expression_breaks_the_calculator(expression in "([0-9.,()+*/%^!eE \\[\\]-]|sum\\(|median\\(|round\\(|sqrt\\(|log\\(|floor\\(|9\\^9|\\*\\*|//|[×÷−π，（）]){0,24}") {
        let _ = evaluate(&expression);
    }
}
