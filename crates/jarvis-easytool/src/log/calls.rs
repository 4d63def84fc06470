//! Calls and functions of a log, from whichever fields it has.

use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use jarvis_tools::names::{api_function_name, change_name, standardize};

use super::read::{Fields, plain, text};
use crate::instructions::ToolInstruction;

/// The longest name of a function in ToolBench; longer ones lose their start.
const NAME_LENGTH: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub struct LoggedCall {
    /// The tool; empty where the log names only the API.
    pub tool: String,
    pub api: String,
    /// An object, a list of objects, or whatever was sent.
    pub arguments: Literal,
    /// What came back; an error's words where it failed and nothing else is logged.
    pub response: String,
    pub code: Option<u8>,
    pub parameter_faults: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OfferedFunction {
    pub name: String,
    pub description: String,
    pub required: Vec<String>,
    pub optional: Vec<String>,
    pub types: IndexMap<String, String>,
}

impl OfferedFunction {
    /// Whether a call of this API is a call of this function. Functions are named `API_for_TOOL`, cut at the front.
    pub fn serves(&self, api: &str) -> bool {
        let api = api_function_name(api);
        if self.name == api {
            return true;
        }
        let cut = self.name.chars().count() >= NAME_LENGTH;
        self.name.match_indices("_for_").any(|(at, _)| {
            let head = self.name.get(..at).unwrap_or_default();
            head == api || (cut && api.ends_with(head))
        })
    }

    /// How the arguments do not fit: a required one missing, an unknown name, a wrong type. Several objects are several
    /// calls, and one that does not fit is enough.
    pub fn faults(&self, arguments: &Literal) -> Vec<String> {
        // Some logs have the object as a text.
        let parsed = arguments.as_text().and_then(|text| Literal::parse(text).ok());
        match (arguments, &parsed) {
            (Literal::Map(fields), _) | (_, Some(Literal::Map(fields))) => self.faults_of(fields),
            (Literal::List(calls), _) => calls.iter().flat_map(|call| self.faults(call)).collect(),
            _ => vec!["the arguments are not an object".to_owned()],
        }
    }

    fn faults_of(&self, fields: &Fields) -> Vec<String> {
        let same = |a: &str, b: &str| a == b || argument_name(a) == argument_name(b);
        let missing = self.required.iter().filter(|name| !fields.keys().any(|given| same(given, name)));
        let mut faults: Vec<String> = missing.map(|name| format!("`{name}` is missing")).collect();
        for (given, value) in fields {
            match self.required.iter().chain(&self.optional).find(|name| same(given, name)) {
                None => faults.push(format!("`{given}` is unknown")),
                Some(name) => {
                    let kind = self.types.get(name).map(String::as_str).unwrap_or_default();
                    if !fits(value, kind) {
                        faults.push(format!("`{given}` is no {}", kind.to_ascii_lowercase()));
                    }
                }
            }
        }
        faults
    }
}

fn argument_name(name: &str) -> String {
    change_name(&standardize(name))
}

/// Whether a value can be read as a type. Texts that hold the type are taken, as the tools take them.
fn fits(value: &Literal, kind: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().is_ok();
    match (kind.to_ascii_lowercase().as_str(), value) {
        ("integer" | "int", Literal::Int(_)) | ("number" | "float" | "double", Literal::Int(_) | Literal::Float(_)) => {
            true
        }
        ("integer" | "int", Literal::Float(float)) => float.fract() == 0.0,
        ("integer" | "int" | "number" | "float" | "double", Literal::Text(text)) => number(text),
        ("boolean" | "bool", Literal::Text(text)) => {
            text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
        }
        ("boolean" | "bool", value) => matches!(value, Literal::Bool(_)),
        ("integer" | "int" | "number" | "float" | "double", _) => false,
        ("array" | "list", value) => matches!(value, Literal::List(_) | Literal::Text(_)),
        ("object", value) => matches!(value, Literal::Map(_) | Literal::Text(_)),
        ("string", value) => !matches!(value, Literal::List(_) | Literal::Map(_)),
        _ => true,
    }
}

pub fn functions_of<'a>(tools: impl IntoIterator<Item = &'a ToolInstruction>) -> Vec<OfferedFunction> {
    let mut functions = Vec::new();
    for tool in tools {
        for guideline in tool.tool_guidelines.values() {
            let (required, optional) = (&guideline.required_parameters, &guideline.optional_parameters);
            let name = format!("{}_for_{}", api_function_name(&guideline.name), standardize(&tool.tool_name));
            let over = name.chars().count().saturating_sub(NAME_LENGTH);
            functions.push(OfferedFunction {
                name: name.chars().skip(over).collect(),
                description: guideline.description.clone(),
                required: required.iter().map(|parameter| change_name(&parameter.name)).collect(),
                optional: optional.iter().map(|parameter| change_name(&parameter.name)).collect(),
                types: required
                    .iter()
                    .chain(optional)
                    .map(|parameter| (change_name(&parameter.name), parameter.kind.to_ascii_lowercase()))
                    .collect(),
            });
        }
    }
    functions
}

pub(super) fn functions_in(listed: &Literal) -> Vec<OfferedFunction> {
    let functions = listed.as_list().unwrap_or_default().iter().filter_map(Literal::as_map);
    functions.map(function).filter(|function| function.name != "Finish").collect()
}

fn function(fields: &Fields) -> OfferedFunction {
    let schema = fields.get("parameters").and_then(Literal::as_map);
    let names = |name: &str| -> Vec<String> {
        let list = schema.and_then(|schema| schema.get(name)).or_else(|| fields.get(name));
        list.and_then(Literal::as_list).unwrap_or_default().iter().map(plain).collect()
    };
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Literal::as_map);
    let types = fields.get("types").and_then(Literal::as_map);
    let mut function = OfferedFunction {
        name: text(fields, &["name"]),
        description: text(fields, &["description"]),
        required: names("required"),
        optional: names("optional"),
        types: IndexMap::new(),
    };
    for (name, kind) in types.into_iter().flatten() {
        function.types.insert(name.clone(), plain(kind));
    }
    for (name, property) in properties.into_iter().flatten() {
        let kind = property.as_map().map(|property| text(property, &["type"])).unwrap_or_default();
        function.types.insert(name.clone(), kind);
        if !function.required.contains(name) && !function.optional.contains(name) {
            function.optional.push(name.clone());
        }
    }
    function
}

pub(super) fn calls_of(row: &Fields, executed: Option<&Fields>) -> Vec<LoggedCall> {
    if let Some(calls) = row.get("calls").and_then(Literal::as_list) {
        return calls.iter().filter_map(Literal::as_map).map(call).collect();
    }
    let Some(executed) = executed else { return Vec::new() };
    let list = |name: &str| executed.get(name).and_then(Literal::as_list).unwrap_or_default();
    let results = list("call_result_ls");
    let mut calls = Vec::new();
    for (at, chosen) in list("api_result_ls").iter().enumerate() {
        for api in chosen.as_list().unwrap_or_default().iter().filter_map(Literal::as_map) {
            calls.push(LoggedCall {
                tool: String::new(),
                api: text(api, &["api_name"]),
                arguments: api.get("parameters").cloned().unwrap_or(Literal::Null),
                // The results of an attempt are logged as one text.
                response: results.get(at).map(plain).unwrap_or_default(),
                code: None,
                parameter_faults: None,
            });
        }
    }
    calls
}

pub(super) fn call(fields: &Fields) -> LoggedCall {
    let ours = fields.contains_key("api");
    let faults = fields.get("parameter_faults").and_then(Literal::as_list);
    LoggedCall {
        tool: text(fields, &["tool"]),
        api: text(fields, &["api", "name"]),
        arguments: fields.get("arguments").cloned().unwrap_or(Literal::Null),
        response: text(fields, &["result", "response", "error"]),
        code: fields.get("code").and_then(|code| plain(code).parse().ok()),
        // Ours leaves the list out when it is empty.
        parameter_faults: ours.then(|| faults.unwrap_or_default().iter().map(plain).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(name: &str) -> OfferedFunction {
        let types = [("q", "string"), ("max", "integer"), ("is_id", "string")];
        OfferedFunction {
            name: name.to_owned(),
            required: vec!["q".into()],
            optional: vec!["max".into(), "is_id".into()],
            types: types.map(|(name, kind)| (name.to_owned(), kind.to_owned())).into(),
            ..OfferedFunction::default()
        }
    }

    #[test]
    fn functions_are_recognised_by_their_apis() {
        for (name, api, serves) in [
            ("transitaires_for_transitaires", "Transitaires", true),
            ("transitaires_for_transitaires", "/transitaire", false),
            ("get_for_me_for_tool", "Get for me", true),
            (
                "ties_search_stateisocode_keyword_for_transportistas_de_argentina",
                "/cities/search/:stateIsoCode/:keyword",
                true,
            ),
            ("search_for_tool", "re-search", false),
            ("is_id", "ID", true),
        ] {
            assert_eq!(offered(name).serves(api), serves, "{name} {api}");
        }
    }

    #[test]
    fn arguments_are_checked() {
        for (arguments, faults) in [
            (r#"{"q":"x","max":"3"}"#, ""),
            (r#"{"Q":"x","id":"7"}"#, ""),
            (r#"{"max":3.5}"#, "`q` is missing, `max` is no integer"),
            (r#"{"q":["x"],"n":1}"#, "`q` is no string, `n` is unknown"),
            (r#"["{\"q\":\"x\"}",{"q":1}]"#, ""),
            (r#"[{"q":1},{}]"#, "`q` is missing"),
            ("\"x\"", "the arguments are not an object"),
            ("null", "the arguments are not an object"),
        ] {
            let arguments = Literal::parse(arguments).unwrap();
            assert_eq!(offered("f").faults(&arguments).join(", "), faults, "{arguments}");
        }
    }
}
