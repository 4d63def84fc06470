//! The table of keys in `docs/configuration.md`, generated from the configuration's types.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::Config;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
const BEGIN: &str = "<!-- keys: begin -->\n";
const END: &str = "<!-- keys: end -->";
const UPDATE: &str = "JARVIS_UPDATE_DOCS";

/// The schemas of one key without `null`: an untagged enum has several, and an optional key one.
fn alternatives(schema: &Value) -> Vec<&Value> {
    match schema["anyOf"].as_array() {
        Some(inner) => inner.iter().flat_map(alternatives).filter(|schema| schema["type"] != "null").collect(),
        None => vec![schema],
    }
}

/// Adds the rows of the keys under `key`, in the order of the fields.
fn rows(key: &str, schema: &Value, default: &Value, description: &str, table: &mut String) {
    let (objects, plain): (Vec<&Value>, Vec<&Value>) =
        alternatives(schema).into_iter().partition(|schema| schema["properties"].is_object());
    if let Some(schema) = plain.first() {
        let name = if schema["additionalProperties"].is_object() { ".NAME" } else { "" };
        *table += &row(&format!("{key}{name}"), default, description);
    }
    for (name, schema) in objects.iter().filter_map(|schema| schema["properties"].as_object()).flatten() {
        let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        let default = default.get(name).unwrap_or(&schema["default"]);
        rows(&key, schema, default, schema["description"].as_str().unwrap_or(""), table);
    }
}

/// A row of the table. A key without a default value may describe what applies in a last sentence `Default: ….`.
fn row(key: &str, default: &Value, description: &str) -> String {
    let description = description.replace('\n', " ").replace('|', "\\|");
    let (meaning, words) = match description.rsplit_once(" Default: ") {
        Some((meaning, words)) => (meaning, words.strip_suffix('.')),
        None => (&*description, None),
    };
    assert!(!meaning.is_empty(), "`{key}` needs a doc comment: it is the key's entry in docs/configuration.md");
    let value = value(key, default);
    assert!(value.is_none() || words.is_none(), "`{key}` has a default value, which its doc comment need not name");
    let default = value.or(words.map(str::to_owned)).unwrap_or_else(|| "–".into());
    format!("| `{key}` | {default} | {meaning} |\n")
}

fn value(key: &str, default: &Value) -> Option<String> {
    const MIB: u64 = 1 << 20;
    match default {
        Value::Null => None,
        Value::Object(map) if map.is_empty() => None,
        Value::Number(number) => Some(match number.as_u64() {
            Some(bytes) if key.ends_with("_bytes") && bytes % MIB == 0 => format!("{} MiB", bytes / MIB),
            Some(millions) if millions >= 1_000_000 && millions % 1_000_000 == 0 => {
                format!("{} million", millions / 1_000_000)
            }
            _ => number.to_string(),
        }),
        Value::String(text) => Some(format!("`{text}`")),
        other => Some(format!("`{other}`")),
    }
}

#[test]
fn configuration_reference_is_up_to_date() {
    let schema = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let schema = schema.into_generator().into_root_schema_for::<Config>();
    // Through text, so that an `f32` keeps the digits it is written with.
    let defaults = serde_json::to_string(&Config::default()).expect("the configuration has only string keys");
    let defaults = serde_json::from_str(&defaults).expect("it was just written");
    let mut table = "| key | default | meaning |\n|---|---|---|\n".to_owned();
    rows("", schema.as_value(), &defaults, "", &mut table);

    let page = std::fs::read_to_string(PAGE).expect("the page is in the repository");
    let (before, rest) = page.split_once(BEGIN).expect("the page has the first marker");
    let (found, after) = rest.split_once(END).expect("the page has the second marker");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(PAGE, format!("{before}{BEGIN}{table}{END}{after}")).expect("the page can be written");
        return;
    }
    let outdated = found.lines().zip(table.lines()).find(|(found, wanted)| found != wanted);
    assert!(
        found == table,
        "the keys in docs/configuration.md differ from the types, first here: {outdated:?}\n\
         rewrite them with: {UPDATE}=1 cargo test -p jarvis --bin jarvis configuration_reference"
    );

    let variables: Vec<&str> = include_str!("env_vars.rs")
        .lines()
        .filter_map(|line| line.split_once("&str = \"")?.1.strip_suffix("\";"))
        .collect();
    assert!(variables.contains(&super::env_vars::HF_TOKEN), "the names are read from the source: {variables:?}");
    for name in variables {
        assert!(page.contains(&format!("`{name}")), "docs/configuration.md does not name `{name}`");
    }
}
