//! Renders the configuration as YAML: every key with a comment, unset keys commented out.

use serde_json::{Map, Value};

use crate::failure::Failure;

/// A key that the file documents.
struct Key {
    path: &'static str,
    about: &'static str,
    /// Example value, in YAML.
    example: &'static str,
}

const HEADER: &str = "\
# The configuration of jarvis, written by `jarvis setup`. docs/configuration.md lists every key.
# Flags and environment variables win over this file. Keys and tokens do not belong here: name the variables that hold them.
";

/// In the order of the file; keys of one section stand together.
const KEYS: [Key; 11] = [
    Key {
        path: "llm.model",
        about: "The chat model that plans, chooses models and answers: `offline` for none, `auto` for the best of a local server,\n\
                `local/NAME` for one that jarvis runs itself (`jarvis models`), or the name that the endpoint has for it.",
        example: "auto",
    },
    Key {
        path: "llm.base_url",
        about: "The OpenAI-compatible endpoint that has the model; OpenAI's unless set.",
        example: "http://127.0.0.1:11434/v1",
    },
    Key {
        path: "llm.api_key_env",
        about: "The environment variable that holds the endpoint's key.",
        example: "OPENAI_API_KEY",
    },
    Key {
        path: "huggingface.token_env",
        about: "The environment variable that holds the token for models at Hugging Face.",
        example: "HF_TOKEN",
    },
    Key {
        path: "local.max_memory_mb",
        about: "Megabytes that local models may take together; half of the machine's memory unless set.",
        example: "4096",
    },
    Key {
        path: "approve",
        about: "Which calls of tools wait for your approval: `writes`, `destroys` or `never`.",
        example: "writes",
    },
    Key { path: "budget.max_time_s", about: "Seconds after which a run starts nothing new.", example: "600" },
    Key { path: "budget.max_calls", about: "Model calls after which a run starts nothing new.", example: "50" },
    Key {
        path: "output.dir",
        about: "Folder for the files that `jarvis run` and `jarvis chat` make.",
        example: "results",
    },
    Key {
        path: "data_dir",
        about: "Folder of media, the journal and logs; the platform's data folder unless set.",
        example: "/srv/jarvis",
    },
    Key { path: "http_listen.port", about: "The port of `jarvis serve`.", example: "8004" },
];

/// Renders a configuration. Undocumented keys come last.
pub(super) fn render(tree: &Map<String, Value>) -> Result<String, Failure> {
    let mut rest = tree.clone();
    let mut text = HEADER.to_owned();
    let mut done: Vec<&str> = Vec::new();
    for key in &KEYS {
        let (head, is_section) = match key.path.split_once('.') {
            Some((head, _)) => (head, true),
            None => (key.path, false),
        };
        if done.contains(&head) {
            continue;
        }
        done.push(head);
        text.push('\n');
        let value = rest.remove(head);
        match (is_section, value) {
            (false, value) => text.push_str(&entry(key, key.path, value.as_ref(), "")?),
            (true, None) => text.push_str(&unset_section(head)),
            (true, Some(Value::Object(section))) if section.is_empty() => {
                text.push_str(&yaml(head, &Value::Object(section))?);
            }
            (true, Some(Value::Object(section))) => text.push_str(&self::section(head, section)?),
            // Some sections have a scalar form, such as `local_inference_endpoint: URL`.
            (true, Some(other)) => text.push_str(&yaml(head, &other)?),
        }
    }
    if !rest.is_empty() {
        text.push_str("\n# What else was configured before.\n");
        for (key, value) in &rest {
            text.push_str(&yaml(key, value)?);
        }
    }
    Ok(text)
}

fn section(head: &str, mut section: Map<String, Value>) -> Result<String, Failure> {
    let mut text = format!("{head}:\n");
    for (key, name) in keys_of(head) {
        text.push_str(&entry(key, name, section.remove(name).as_ref(), "  ")?);
    }
    for (key, value) in &section {
        text.push_str(&indented(&yaml(key, value)?, "  "));
    }
    Ok(text)
}

/// Commented out as a whole: removing the marks sets it.
fn unset_section(head: &str) -> String {
    let mut text = format!("# {head}:\n");
    for (key, name) in keys_of(head) {
        text.push_str(&indented(key.about, "#   # "));
        text.push_str(&format!("#   {name}: {}\n", key.example));
    }
    text
}

fn keys_of(head: &str) -> impl Iterator<Item = (&'static Key, &'static str)> {
    KEYS.iter().filter_map(move |key| Some((key, key.path.strip_prefix(head)?.strip_prefix('.')?)))
}

/// A key with its comment; commented out with its example if it is unset.
fn entry(key: &Key, name: &str, value: Option<&Value>, indent: &str) -> Result<String, Failure> {
    let about = indented(key.about, &format!("{indent}# "));
    let line = match value {
        Some(value) => indented(&yaml(name, value)?, indent),
        None => format!("{indent}# {name}: {}\n", key.example),
    };
    Ok(about + &line)
}

fn yaml(key: &str, value: &Value) -> Result<String, Failure> {
    let entry: Map<String, Value> = [(key.to_owned(), value.clone())].into_iter().collect();
    serde_saphyr::to_string(&entry).map_err(Failure::work)
}

fn indented(text: &str, indent: &str) -> String {
    text.lines().map(|line| format!("{indent}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config;

    fn tree(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).expect("an object")
    }

    fn read(text: &str) -> Map<String, Value> {
        let (read, unknown) = config::check_text("jarvis.yaml".as_ref(), text).expect("valid");
        assert_eq!(unknown, Vec::<String>::new(), "{text}");
        read
    }

    #[test]
    fn what_is_set_is_read_back() {
        for set in [
            json!({}),
            json!({"llm": {"model": "qwen3:8b", "base_url": "http://127.0.0.1:11434/v1"}, "data_dir": "/srv/my data"}),
            json!({"llm": {"model": "1234", "stages": {"task_llm": "a: b # c"}, "api_key_env": "KEY"}, "approve": "never"}),
            json!({"llm": {"local_servers": []}, "tools": [{"name": "shop", "when": "an\narticle: \"is\" wanted",
                   "openapi": {"document": "shop.json"}}], "approved": ["shop/*"], "local_inference_endpoint": "http://h:8005"}),
            json!({"prompt": {"chitchat": "  one\n\n  two: {{x}}\n# three\n"}, "limits": {"concurrency": 3}, "proxy": "~"}),
        ] {
            let set = tree(set);
            let text = render(&set).expect("text");
            assert_eq!(read(&text), set, "{text}");
        }
    }

    #[test]
    fn every_example_is_a_key_with_a_value_that_fits() {
        let mut text = String::new();
        for line in render(&Map::new()).expect("text").lines() {
            let line = line.strip_prefix("# ").unwrap_or_default();
            // Prose has a blank before its first colon, or none at all.
            let is_setting = line.split_once(':').is_some_and(|(key, _)| !key.trim().contains(' '));
            text.push_str(if is_setting { line } else { "" });
            text.push('\n');
        }
        let read = read(&text);
        for key in &KEYS {
            assert!(!read.is_empty() && value_at(&read, key.path).is_some(), "{}: {text}", key.path);
        }
    }

    fn value_at<'a>(tree: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
        match path.split_once('.') {
            Some((head, key)) => tree.get(head)?.get(key),
            None => tree.get(path),
        }
    }
}
