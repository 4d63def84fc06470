//! The converted form, which ToolBench's evaluator takes: an object keyed by query id, each answer a chain of messages.

use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use serde_json::{Map, Value, json};

use super::calls::{LoggedCall, OfferedFunction, call, functions_in};
use super::read::{Fields, LoggedAnswer, plain, text};

const DEEPEST: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Finish {
    pub(super) answer: String,
    pub(super) gave_up: bool,
}

/// Reads the arguments of `Finish`. Published ones start with a backslash that no JSON has.
pub(super) fn finish(raw: &str) -> Finish {
    let body = raw.trim().trim_start_matches('\\').trim();
    let fields = match Literal::parse(body) {
        Ok(Literal::Map(fields)) => fields,
        Ok(_) | Err(_) => broken(body),
    };
    let kind = text(&fields, &["return_type"]);
    Finish { answer: text(&fields, &["final_answer"]), gave_up: kind.contains("give_up") }
}

/// The fields of arguments that are no JSON: the answer is what stands between its quotes and the last ones.
fn broken(body: &str) -> Fields {
    let after = |name: &str| {
        let (_, rest) = body.split_once(&format!("\"{name}\""))?;
        rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')
    };
    let mut fields = IndexMap::new();
    if let Some((kind, _)) = after("return_type").and_then(|rest| rest.split_once('"')) {
        fields.insert("return_type".to_owned(), Literal::Text(kind.to_owned()));
    }
    if let Some((answer, _)) = after("final_answer").and_then(|rest| rest.rsplit_once('"')) {
        fields.insert("final_answer".to_owned(), Literal::Text(answer.to_owned()));
    }
    fields
}

/// Reads the converted form; `None` when the text is something else.
pub(super) fn read_converted(document: &str) -> Option<Vec<LoggedAnswer>> {
    // A log of lines is no one value, and its first line shows it soon.
    let Ok(Literal::Map(queries)) = Literal::parse(document.trim()) else { return None };
    let mut rows = Vec::with_capacity(queries.len());
    for (query_id, query) in &queries {
        let query = query.as_map()?;
        let answer = query.get("answer")?.as_map()?;
        let mut row = LoggedAnswer {
            query_id: Some(query_id.clone()),
            question: text(query, &["query"]),
            functions: query.get("available_tools").map(functions_in).unwrap_or_default(),
            ..LoggedAnswer::default()
        };
        if let Some(details) = answer.get("answer_details") {
            follow(details, &mut row);
        }
        if row.final_answer.is_empty() {
            let given = text(answer, &["final_answer"]);
            // It is a text of its own, or the arguments of `Finish` once more.
            let read = finish(&given);
            row.final_answer =
                if read.answer.is_empty() && !given.contains("return_type") { given } else { read.answer };
        }
        rows.push(row);
    }
    (!rows.is_empty()).then_some(rows)
}

fn follow(details: &Literal, row: &mut LoggedAnswer) {
    let mut next: Vec<&Literal> = vec![details];
    for _ in 0..DEEPEST {
        let Some(node) = next.pop() else { return };
        match node {
            Literal::List(nodes) => next.extend(nodes.iter().rev()),
            Literal::Map(fields) => {
                if fields.get("role").and_then(Literal::as_text) == Some("tool")
                    && let Some(message) = fields.get("message")
                {
                    take(message, row);
                }
                next.extend(fields.get("next"));
            }
            _ => {}
        }
    }
}

fn take(message: &Literal, row: &mut LoggedAnswer) {
    let parsed = message.as_text().and_then(|text| Literal::parse(text).ok());
    let Some(fields) = parsed.as_ref().unwrap_or(message).as_map() else { return };
    if text(fields, &["name"]) == "Finish" {
        let end = finish(&fields.get("arguments").map(plain).unwrap_or_default());
        row.finished = true;
        row.gave_up = end.gave_up;
        row.final_answer = end.answer;
    } else {
        row.calls.push(call(fields));
    }
}

/// Writes answers in the converted form. A query without an id of its own is keyed by its number. `offered` gives the
/// functions of a row that lists none.
pub fn to_converted(
    answers: &[LoggedAnswer],
    method: &str,
    offered: impl Fn(&LoggedAnswer) -> Vec<OfferedFunction>,
) -> Value {
    let mut document = Map::new();
    for (at, answer) in answers.iter().enumerate() {
        let number = || answer.number.unwrap_or(at as u64 + 1).to_string();
        let key = answer.query_id.clone().unwrap_or_else(number);
        let own;
        let functions = if answer.functions.is_empty() {
            own = offered(answer);
            &own
        } else {
            &answer.functions
        };
        let schemas: Vec<Value> = functions.iter().map(schema).chain([finish_schema()]).collect();
        document.insert(
            key,
            json!({"query": answer.question, "available_tools": schemas, "answer": converted(answer, method)}),
        );
    }
    Value::Object(document)
}

fn converted(answer: &LoggedAnswer, method: &str) -> Value {
    let kind = if answer.gave_up { "give_up_and_restart" } else { "give_answer" };
    let ending = json!({"return_type": kind, "final_answer": answer.final_answer}).to_string();
    let mut steps: Vec<Value> = answer.calls.iter().map(step).collect();
    if answer.finished {
        steps.push(json!({"name": "Finish", "arguments": ending, "response": ""}));
    }
    let total = steps.len();
    let messages = steps.into_iter().map(|step| ("tool", step));
    let messages = [("system", json!("")), ("user", json!(answer.question))].into_iter().chain(messages);
    let mut chain: Vec<Value> = Vec::new();
    for (role, message) in messages.collect::<Vec<_>>().into_iter().rev() {
        chain = vec![json!({"role": role, "message": message, "next": chain})];
    }
    json!({
        "method": method,
        "total_steps": total,
        "final_answer": if answer.finished { ending } else { String::new() },
        "answer_details": chain,
    })
}

fn step(call: &LoggedCall) -> Value {
    json!({"name": call.api, "arguments": call.arguments.to_json(), "response": call.response})
}

fn schema(function: &OfferedFunction) -> Value {
    let names = function.required.iter().chain(&function.optional);
    let kind = |name: &String| function.types.get(name).map_or("string", String::as_str);
    let properties: Map<String, Value> = names.map(|name| (name.clone(), json!({"type": kind(name)}))).collect();
    json!({
        "name": function.name,
        "description": function.description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": function.required,
            "optional": function.optional,
        },
    })
}

fn finish_schema() -> Value {
    json!({
        "name": "Finish",
        "description": "Ends the work on the query, with an answer or by giving up.",
        "parameters": {
            "type": "object",
            "properties": {
                "return_type": {"type": "string", "enum": ["give_answer", "give_up_and_restart"]},
                "final_answer": {"type": "string", "description": "The answer for the user, when there is one."},
            },
            "required": ["return_type"],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_finish_are_read() {
        for (raw, answer, gave_up) in [
            (r#"\{ "return_type": "give_answer", "final_answer": "a \"b\"" }"#, "a \"b\"", false),
            (r#"{"return_type":"give_up_and_restart"}"#, "", true),
            (
                "\\{\n  \"return_type\": \"give_answer\",\n  \"final_answer\": \"it says \"no\" to\nall\"\n}",
                "it says \"no\" to\nall",
                false,
            ),
            ("", "", false),
        ] {
            assert_eq!(finish(raw), Finish { answer: answer.to_owned(), gave_up }, "{raw}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let arguments = Literal::parse(r#"{"q":"x","n":5}"#).unwrap();
        let call = LoggedCall {
            tool: String::new(),
            api: "Search".into(),
            arguments,
            response: "天".into(),
            code: None,
            parameter_faults: None,
        };
        let function = OfferedFunction {
            name: "search_for_web".into(),
            description: "searches".into(),
            required: vec!["q".into()],
            optional: vec!["n".into()],
            types: [("q".to_owned(), "string".to_owned()), ("n".to_owned(), "integer".to_owned())].into(),
        };
        let answer = LoggedAnswer {
            query_id: Some("61".into()),
            question: "q".into(),
            final_answer: "it is \"so\"".into(),
            finished: true,
            calls: vec![call.clone(), call],
            functions: vec![function],
            ..LoggedAnswer::default()
        };
        let failed = LoggedAnswer { number: Some(2), question: "r".into(), ..LoggedAnswer::default() };
        let written = to_converted(&[answer.clone(), failed], "easytool", |_| Vec::new());
        assert_eq!(written["61"]["answer"]["total_steps"], 3);
        assert_eq!(written["61"]["answer"]["answer_details"][0]["next"][0]["next"][0]["message"]["arguments"]["n"], 5);
        let read = read_converted(&written.to_string()).unwrap();
        assert_eq!(read[0], answer);
        assert_eq!((read[1].query_id.as_deref(), read[1].finished), (Some("2"), false));
        assert_eq!(read_converted("{\"question\":\"q\"}"), None);
        assert_eq!(read_converted("{\"a\":1}\n{\"b\":2}"), None);
    }
}
