//! Tools as the planning model sees them: a line each, and demonstrations of calls.

use jarvis_plan::{Param, Tool, Turn, schema};
use serde_json::{Value, json};

use crate::untrusted::shown;

/// How much of a tool's description is shown, in characters.
const DESCRIPTION_SHOWN: usize = 120;

/// The same for the task types of the registry, whose names say most of it.
const PURPOSE_SHOWN: usize = 60;

/// How many demonstrations there should be at least.
pub(super) const DEMOS: usize = 2;

/// One line for one tool: `name(argument, optional?: what it takes) -> kinds: description`. Where it is known what a result is
/// made of, that stands in the place of the kinds: `{flights: [{number, price}]}`.
pub(super) fn line(tool: &Tool) -> String {
    let params: Vec<String> = tool.params.iter().map(param).collect();
    let mut line = format!("{}({})", tool.name, params.join(", "));
    if let Some(schema) = &tool.output_schema {
        line.push_str(&format!(" -> {}", shown(&schema::shape(schema), DESCRIPTION_SHOWN)));
    } else if !tool.outputs.is_empty() {
        let outputs: Vec<&str> = tool.outputs.iter().map(|kind| kind.as_str()).collect();
        line.push_str(&format!(" -> {}", outputs.join(", ")));
    }
    let plain: String = tool.description.chars().filter(|char| !jarvis_net::text::is_hidden(*char)).collect();
    let description = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if !description.is_empty() {
        let most = if is_stock(&tool.name) { PURPOSE_SHOWN } else { DESCRIPTION_SHOWN };
        line.push_str(&format!(": {}", shown(&description, most)));
    }
    line
}

/// A parameter by its name; one with a schema with what it takes.
fn param(param: &Param) -> String {
    let mark = if param.required { "" } else { "?" };
    match &param.schema {
        Some(schema) => format!("{}{mark}: {}", param.name, shown(&schema::in_words(schema), DESCRIPTION_SHOWN)),
        None => format!("{}{mark}", param.name),
    }
}

/// True for the task types of the registry.
pub(super) fn is_stock(name: &str) -> bool {
    jarvis_catalogue::find(name).is_some()
}

/// Demonstrations made of the tools' own examples: one call each, those of the configuration first.
pub(super) fn demos(tools: &[Tool], count: usize) -> Vec<Turn> {
    let own = tools.iter().filter(|tool| !is_stock(&tool.name));
    let stock = tools.iter().filter(|tool| is_stock(&tool.name));
    own.chain(stock).filter_map(demo).take(count).flatten().collect()
}

fn demo(tool: &Tool) -> Option<[Turn; 2]> {
    let example = tool.example.as_ref()?;
    let args = example.parameters.as_object().filter(|args| !args.is_empty() || tool.params.is_empty())?;
    // What the example takes is named in the request, as everything that a plan holds must be.
    let given: Vec<String> = args.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let request = shown(&example.scenario, DESCRIPTION_SHOWN);
    let request = if given.is_empty() { request } else { format!("{request} ({})", given.join(", ")) };
    let plan = json!([{"task": tool.name, "id": 0, "dep": [-1], "args": Value::Object(args.clone())}]);
    Some([Turn::user(request), Turn::assistant(plan.to_string())])
}
