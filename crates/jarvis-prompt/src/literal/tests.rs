//! Literals as replies hold them, and what must be refused.

use super::*;
use crate::reader::Want;

fn check(text: &str, expected: &str) {
    match Literal::parse(text) {
        Ok(value) => assert_eq!(value.to_string(), expected, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn literals_of_several_languages_are_read() {
    for (text, expected) in [
        ("{'input': [1, 2.0, -3]}", r#"{"input":[1,2.0,-3]}"#),
        ("[True, False, None, true, false, null]", "[true,false,null,true,false,null]"),
        ("(1, 2,)", "[1,2]"),
        ("(1,)", "[1]"),
        ("()", "[]"),
        ("('a')", r#""a""#),
        ("[1, 2, ]", "[1,2]"),
        (r"'it\'s \x41\u00e9\101\n \_ \d'", r#""it's AéA\n _ \\d""#),
        (r#""\ud83d\ude00 \/ \U0001F600""#, r#""😀 / 😀""#),
        ("'''a\n'b' \"c\"'''", r#""a\n'b' \"c\"""#),
        ("\"\"", r#""""#),
        ("u'x'", r#""x""#),
        ("{1: 'a', ID: 2, None: 3}", r#"{"1":"a","ID":2,"None":3}"#),
        ("{'a': 1, 'a': 2}", r#"{"a":2}"#),
        ("[1, # one\n 2, // two\n /* three */ 3]", "[1,2,3]"),
        ("[1 // one\n, 2]", "[1,2]"),
        ("[007, 1_000, .5, 5., +3, - 4]", "[7,1000,0.5,5.0,3,-4]"),
        ("1e5", "100000.0"),
        ("1e16", "1e+16"),
        ("-0.0", "-0.0"),
        ("-0", "0"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("\u{feff} [1]\u{a0}", "[1]"),
    ] {
        check(text, expected);
    }
}

#[test]
fn constant_arithmetic_is_worked_out() {
    for (text, expected) in [
        ("4/3", "1.3333333333333333"),
        ("2*3.14", "6.28"),
        ("-(1-0.2)", "-0.8"),
        ("2**3", "8"),
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("2**-1", "0.5"),
        ("(-2)**2", "4"),
        ("-7//2", "-4"),
        ("-7%3", "2"),
        ("1 - 2 - 3", "-4"),
        ("2+3*4", "14"),
        ("(2+3)*4", "20"),
        ("[1+1, {'a': 7//2}, (3*4)]", r#"[2,{"a":3},12]"#),
        ("--5", "5"),
        ("-+-5", "5"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("10**-2*5", "0.05"),
        ("8 // (3)", "2"),
        ("0**0", "1"),
    ] {
        check(text, expected);
    }
}

#[test]
fn what_is_no_literal_is_refused_with_a_reason() {
    let told: Vec<String> = [
        "",
        "[1, 2",
        "[1 2]",
        "[1,,2]",
        "{'a' 1}",
        "{'a': }",
        "'open",
        "'\\u12'",
        "[1] x",
        "__import__('os').system('true')",
        "().__class__",
        "open('f')",
        "lambda: 1",
        "[x for x in (1, 2)]",
        "f'{1}'",
        "abc",
        "NaN",
        "-Infinity",
        "1e400",
        "9**9**9",
        "10**10**8",
        "2**1048576",
        "1/0",
        "1.0 % 0",
        "(-8)**0.5",
        "'a' * 3",
        "'a' + 'b'",
        "[1] * 9",
        "-'a'",
        "1j",
        "0x10",
        "1__0",
        "/* open",
        "[1, \u{0}]",
    ]
    .iter()
    .map(|text| format!("{text:?}: {}", Literal::parse(text).expect_err(text)))
    .collect();
    insta::assert_snapshot!(told.join("\n"), @r###"
    "": the text ends where a value is wanted, at byte 0
    "[1, 2": the text ends where `,` or `]` is wanted, at byte 5
    "[1 2]": found `2` where `,` or `]` is wanted, at byte 3
    "[1,,2]": found `,` where a value is wanted, at byte 3
    "{'a' 1}": found `1` where `:` after a name is wanted, at byte 5
    "{'a': }": found `}` where a value is wanted, at byte 6
    "'open": the text ends where the closing quote of a text is wanted, at byte 5
    "'\\u12'": the escape after the backslash is not complete, at byte 1
    "[1] x": more text follows the value, at byte 4
    "__import__('os').system('true')": `__import__` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers, at byte 0
    "().__class__": more text follows the value, at byte 2
    "open('f')": `open` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers, at byte 0
    "lambda: 1": `lambda` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers, at byte 0
    "[x for x in (1, 2)]": `x` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers, at byte 1
    "f'{1}'": `f` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers, at byte 0
    "abc": `abc` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers, at byte 0
    "NaN": `NaN` is not a number that can be computed with, at byte 0
    "-Infinity": `Infinity` is not a number that can be computed with, at byte 1
    "1e400": the number is too large for a float (about 1.8e308), at byte 0
    "9**9**9": the number would be too long to work out (more than 2^20 bits, or too much work), at byte 1
    "10**10**8": the number would be too long to work out (more than 2^20 bits, or too much work), at byte 2
    "2**1048576": the number would be too long to work out (more than 2^20 bits, or too much work), at byte 1
    "1/0": division by zero, at byte 1
    "1.0 % 0": division by zero, at byte 4
    "(-8)**0.5": a negative number has no real power with a fractional exponent, at byte 4
    "'a' * 3": only numbers can be worked out with `*`, at byte 4
    "'a' + 'b'": only numbers can be worked out with `+`, at byte 4
    "[1] * 9": only numbers can be worked out with `*`, at byte 4
    "-'a'": only numbers can be worked out with `-`, at byte 0
    "1j": found `j` where the end of a number is wanted, at byte 1
    "0x10": found `x` where the end of a number is wanted, at byte 1
    "1__0": found `_` where the end of a number is wanted, at byte 1
    "/* open": the text ends where the end of a comment is wanted, at byte 7
    "[1, \0]": found `\0` where a value is wanted, at byte 4
    "###);
}

#[test]
fn depth_length_and_work_are_bounded() {
    let nested = |count: usize| format!("{}1{}", "[".repeat(count), "]".repeat(count));
    assert!(Literal::parse(&nested(128)).is_ok());
    for text in [
        nested(129),
        "[".repeat(100_000),
        "(".repeat(100_000),
        "{'a':".repeat(100_000),
        "-(".repeat(100_000),
        format!("2{}", "**1".repeat(100_000)),
        format!("[{}]", "0,".repeat(1 << 21)),
        format!("[{}]", "2**1000000,".repeat(100_000)),
        "9".repeat(10_000_000),
        "'".repeat(9_999_999),
        "\\".repeat(10_000_000),
        format!("'{}", "\\".repeat(10_000_000)),
        "#".repeat(1_000_000),
        "/*".repeat(1_000_000),
    ] {
        let error = Literal::parse(&text).expect_err("out of bounds");
        assert!(error.to_string().len() < 300);
    }
    // Long chains of arithmetic are no nesting.
    check(&format!("0{}", "+1".repeat(200_000)), "200000");
    check(&format!("{}1", "-".repeat(200_000)), "1");
    let digits = "7".repeat(300_000);
    check(&digits, &digits);
}

#[test]
fn fields_and_ids() {
    let value = Literal::parse(r#"{"id": 1, "ID": "-12", "Parameters": {"input": []}, "n": 5.0}"#).expect("JSON");
    assert_eq!(value.field("ID").and_then(Literal::id), Some(-12));
    assert_eq!(value.field("Id").and_then(Literal::id), Some(1));
    assert!(value.field("parameters").and_then(|found| found.field("INPUT")).is_some());
    assert_eq!(value.field("n").and_then(Literal::as_int), None);
    assert_eq!(value.field("other"), None);
    assert_eq!(Literal::Null.field("a"), None);
    assert_eq!(Literal::Text("15".to_owned()).as_int(), None);
    assert_eq!(Literal::Text("x".to_owned()).id(), None);
}

fn found(reply: &str, want: Want, pick: Pick) -> String {
    match read_literal_pick(reply, want, pick) {
        Ok(value) => value.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn a_value_is_found_wherever_a_reply_has_it() {
    let choice = r#"{"ID":3}"#;
    for (reply, want, expected) in [
        (r#"{"ID": 3}"#, Want::Object, choice),
        ("{'ID': 3}", Want::Object, choice),
        ("Output: {'ID': 3}", Want::Object, choice),
        ("```json\n{'ID': 3}\n```", Want::Object, choice),
        ("```\nOUTPUT:\n{'ID': 3}\n```", Want::Object, choice),
        ("```python\n{'ID': 3,}\n``` as asked", Want::Object, choice),
        ("<think>{\"ID\": 9}</think>I take {\"ID\": 3}.", Want::Object, choice),
        ("{\"ID\": 3} (because {\"ID\": 4} is worse)", Want::Object, choice),
        ("[{\"ID\": 3}]", Want::Object, choice),
        ("I say [{\"ID\": 3}]", Want::Object, choice),
        ("As [1] says [see {x}], {ID: 3}", Want::Object, choice),
        ("[the answer is {\"ID\": 3}]", Want::Object, choice),
        ("{\"ID\": wrong()} or {\"ID\": 3}", Want::Object, choice),
        ("{\"text\": \"a } b ] {\", 'ID': 3}", Want::Object, r#"{"text":"a } b ] {","ID":3}"#),
        ("\"{\\\"ID\\\": 3}\"", Want::Object, choice),
        ("[{\"a\":1},{\"a\":2}]", Want::Object, r#"{"a":1}"#),
        ("see: [{\"a\":1},{\"a\":2}]", Want::Object, r#"{"a":1}"#),
        (
            r#"{"Parameters": {"input": [4/3, 12345678901234567890123]}}"#,
            Want::Object,
            r#"{"Parameters":{"input":[1.3333333333333333,12345678901234567890123]}}"#,
        ),
        ("In [1]: ['a', 'b']", Want::Array, r#"["a","b"]"#),
        ("the numbers [1, 2]", Want::Array, "[1,2]"),
        ("{\"Tasks\": [\"a\"]}", Want::Array, r#"["a"]"#),
        ("So: {\"Tasks\": [\"a\"]}", Want::Array, r#"["a"]"#),
        ("{\"a\": 1}\n{\"a\": 2}", Want::Array, r#"[{"a":1},{"a":2}]"#),
        ("\"Search\"", Want::Any, r#""Search""#),
        ("['Search']", Want::Any, r#"["Search"]"#),
        // Mended by the tolerant reader.
        ("{\"Tasks\": [\"a\", \"b", Want::Object, r#"{"Tasks":["a"]}"#),
        ("{\"Reason\": \"x\", \"Choice\": \"Yes\"", Want::Object, r#"{"Reason":"x","Choice":"Yes"}"#),
        ("{'Reason': 'it's so', 'Choice': 'Yes'}", Want::Object, r#"{"Reason":"it's so","Choice":"Yes"}"#),
        ("{“ID”: 3}", Want::Object, choice),
    ] {
        assert_eq!(found(reply, want, Pick::First), expected, "{reply}");
    }
    let thought = "First {\"ID\": 1}, no.\n\n{\"ID\": 2}";
    assert_eq!(found(thought, Want::Object, Pick::First), r#"{"ID":1}"#);
    assert_eq!(found(thought, Want::Object, Pick::Last), r#"{"ID":2}"#);
    let fenced = "```\n{\"ID\": 1}\n```\nbetter:\n```\n{\"ID\": 2}\n```\n";
    assert_eq!(found(fenced, Want::Object, Pick::Last), r#"{"ID":2}"#);
}

#[test]
fn hostile_replies_give_errors_or_harmless_values() {
    let mut told = String::new();
    for reply in [
        "",
        "no value here",
        "<think>only thought</think>",
        "__import__('os').system('touch /tmp/x')",
        "{'ID': __import__('os').system('touch /tmp/x')}",
        "{'ID': open('/etc/passwd').read()}",
        "{'ID': ().__class__.__bases__[0].__subclasses__()}",
        "{'ID': [x for x in range(10**9)]}",
        "{'ID': (lambda: 3)()}",
        "{'ID': 9**9**9}",
        "{'ID': 10**10**8}",
        "{'ID': 1e400}",
        "{'ID': 1/0}",
        "{'ID': NaN}",
        "{'ID': 'a'*10**9}",
        "{'ID': {3, 4}}",
        "{'ID': 3; import os}",
        "eval(\"{'ID': 3}\")",
    ] {
        told.push_str(&format!("{reply:?}: {}\n", found(reply, Want::Object, Pick::First)));
    }
    insta::assert_snapshot!(told, @r###"
    "": error: the reply is empty
    "no value here": error: the reply holds no JSON; a JSON object is wanted
    "<think>only thought</think>": error: the reply is empty
    "__import__('os').system('touch /tmp/x')": error: the reply holds no JSON; a JSON object is wanted
    "{'ID': __import__('os').system('touch /tmp/x')}": error: the value cannot be read: `__import__` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers (near `__import__('os').system('touch`)
    "{'ID': open('/etc/passwd').read()}": error: the value cannot be read: `open` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers (near `open('/etc/passwd').read()}`)
    "{'ID': ().__class__.__bases__[0].__subclasses__()}": error: the JSON is broken at line 1 column 2: key must be a string (near `{'ID': ().__class__.__bases__[0`)
    "{'ID': [x for x in range(10**9)]}": error: the value cannot be read: `x` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers (near `x for x in range(10**9)]}`)
    "{'ID': (lambda: 3)()}": error: the value cannot be read: `lambda` is a name, and only literal values are read: put texts in quotes, and give numbers as numbers (near `lambda: 3)()}`)
    "{'ID': 9**9**9}": error: the value cannot be read: the number would be too long to work out (more than 2^20 bits, or too much work) (near `**9**9}`)
    "{'ID': 10**10**8}": error: the value cannot be read: the number would be too long to work out (more than 2^20 bits, or too much work) (near `**10**8}`)
    "{'ID': 1e400}": error: the value cannot be read: the number is too large for a float (about 1.8e308) (near `1e400}`)
    "{'ID': 1/0}": error: the value cannot be read: division by zero (near `/0}`)
    "{'ID': NaN}": error: the value cannot be read: `NaN` is not a number that can be computed with (near `NaN}`)
    "{'ID': 'a'*10**9}": error: the value cannot be read: only numbers can be worked out with `*` (near `*10**9}`)
    "{'ID': {3, 4}}": error: the JSON is broken at line 1 column 2: key must be a string (near `{'ID': {3, 4}}`)
    "{'ID': 3; import os}": {"ID":"3; import os"}
    "eval(\"{'ID': 3}\")": {"ID":3}
    "###);
    let kept = read_literal(&"x".repeat(10_000), Want::Object).expect_err("no value");
    assert_eq!(kept.start.len(), ReadLiteralError::KEPT);
}

#[test]
fn long_hostile_replies_end_soon() {
    let length = 1 << 16;
    for unit in [
        "[",
        "{",
        "(",
        "]",
        "'",
        "\"",
        "\\",
        "9",
        "{'a':",
        "[{",
        "{\"a\":[",
        "['",
        "{'a': x}, ",
        "[1,",
        "/*",
        "#",
        "//",
        "```",
        "```json\n{",
        "{\"ID\": 2**1000000} ",
        "{\"a\"",
        "[x.y ",
        "{'",
        "{} ",
        "[] ",
        "<think>",
        "Output:",
        "\0",
        "{\"a\":\"}\"",
        "[\"a\"] [",
    ] {
        let text = unit.repeat(length / unit.len());
        for want in [Want::Object, Want::Array, Want::Any] {
            for pick in [Pick::First, Pick::Last] {
                if let Err(error) = read_literal_pick(&text, want, pick) {
                    assert!(error.to_string().len() < 400, "{error}");
                }
            }
        }
    }
}
