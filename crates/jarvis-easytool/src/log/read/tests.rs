//! Logs of every form, and what is no log.

use super::*;

fn read(text: &str) -> Result<Logged<LoggedAnswer>, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    std::fs::write(&path, text).unwrap();
    read_answers(&path).map_err(|error| error.to_string().replace(&path.display().to_string(), "LOG"))
}

#[test]
fn our_log_is_read() {
    let text = concat!(
        r#"{"config":{"llm":"m"}}"#,
        "\n",
        r#"{"ID":2,"query_id":61,"question":"q","final_answer":"a","final_value":52340000000000000000001,"execute_log":"#,
        r#"{"api_result_ls":[],"call_result_ls":["1","2\n\n3"],"tool_check_reason_ls":[]},"check":0,"status":"succeeded","#,
        r#""calls":[{"task_id":1,"attempt":1,"tool_id":7,"tool":"T","api":"A","arguments":{"x":1},"error":"no","code":1,"#,
        r#""parameter_faults":["x"],"ms":3}],"stage_trace":[{"stage":"choose_tool","parsed":{"ID":9},"error":"not offered"},"#,
        r#"{"stage":"choose_tool","error":"no JSON"},{"stage":"choose_parameter","parsed":[],"error":"x is missing"}]}"#,
        "\n{\"ID\":3,\"quest",
    );
    let logged = read(text).unwrap();
    assert_eq!(logged.notes, ["line 3, the last, is torn and is left out"]);
    let row = logged.rows.first().unwrap();
    assert_eq!((row.number, row.query_id.as_deref(), row.question.as_str()), (Some(2), Some("61"), "q"));
    assert_eq!((row.final_answer.as_str(), row.last_result.as_deref()), ("a", Some("2\n\n3")));
    assert_eq!((row.human_check, row.finished, row.gave_up), (Some(false), true, false));
    assert_eq!((row.rejected_choices, row.rejected_parameters), (1, 1));
    let call = row.calls.first().unwrap();
    assert_eq!((call.tool.as_str(), call.api.as_str(), call.code), ("T", "A", Some(1)));
    assert_eq!(call.parameter_faults.as_deref(), Some(&["x".to_owned()][..]));
}

#[test]
fn rows_of_other_forms_are_read() {
    for (line, number, question, answer, last, human) in [
        (
            r#"{"id":"mh-chatgpt-007","question":"q","steps":[{"logged_result":"1"},{"logged_result":""}],"final_answer":"7","human_check":1}"#,
            Some(7),
            "q",
            "7",
            Some(""),
            Some(true),
        ),
        (
            r#"{"ID":"12","question":"q","final_answer":null,"execute_log":{"call_result_ls":[]},"check":1}"#,
            Some(12),
            "q",
            "",
            None,
            Some(true),
        ),
        (r#"{"query":"q","final_answer":-1}"#, None, "q", "-1", None, None),
        (r#"{"id":"tb-61","query_id":"61","query":"q","final_answer":"a"}"#, None, "q", "a", None, None),
    ] {
        let row = read(line).unwrap().rows.pop().unwrap();
        assert_eq!(
            (row.number, row.question.as_str(), row.final_answer.as_str()),
            (number, question, answer),
            "{line}"
        );
        assert_eq!((row.last_result.as_deref(), row.human_check), (last, human), "{line}");
    }
}

#[test]
fn what_is_no_log_is_refused() {
    for (text, error) in [
        ("", "LOG: not a log: it has no record of a question"),
        ("{\"config\":{}}\n", "LOG: not a log: it has no record of a question"),
        ("hello\n", "LOG: not a log: line 1, the last, is torn and is left out"),
        ("3\n", "LOG: not a log: line 1 is no record and is left out"),
    ] {
        assert_eq!(read(text).unwrap_err(), error, "{text:?}");
    }
    let logged = read("{\"question\":\"a\"}\n{broken\n{\"question\":\"b\"}\n").unwrap();
    assert_eq!((logged.rows.len(), logged.notes.len()), (2, 1));
    assert!(logged.notes[0].starts_with("line 2 cannot be read and is left out"), "{:?}", logged.notes);
}

#[test]
fn steps_without_numbers_are_read() {
    let line = r#"{"ID":1,"question":"q","task_path":["find it",{"Task":"get it","ID":[3,"4"]}]}"#;
    let row = Literal::parse(line).unwrap();
    let row = path_of(row.as_map().unwrap());
    assert_eq!((row.number, row.path), (Some(1), None));
    assert_eq!(row.task_path[0], EndpointChoice { task: "find it".into(), id: Literal::Null });
    assert_eq!(row.task_path[1].id.to_string(), r#"[3,"4"]"#);
}
