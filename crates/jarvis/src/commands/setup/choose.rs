//! Who plans and answers, and where data is kept: the defaults, the questions, and what the answers write.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use url::Url;

use super::found::Found;
use super::providers::Provider;
use crate::cli::Global;
use crate::config::env_vars;
use crate::failure::Failure;
use crate::questions::Dialogue;
use crate::wiring;

/// Who plans, chooses models and answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Planner {
    /// Leave the configuration as it is.
    Unchanged,
    Offline,
    /// A model at an endpoint; without an address OpenAI's.
    Endpoint {
        base_url: Option<String>,
        model: String,
        api_key_env: Option<String>,
    },
    /// A model that jarvis runs itself.
    Local {
        name: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) planner: Planner,
    pub(super) data_dir: PathBuf,
    /// Whether somebody was asked.
    pub(super) asked: bool,
}

impl Planner {
    /// The configured model, else a model on this machine, else the offline planner. Never a service that costs money.
    pub(super) fn default_of(found: &Found, tree: &Map<String, Value>, global: &Global) -> Planner {
        if configured(tree).is_some() || global.llm.is_some() || global.base_url.is_some() {
            return Planner::Unchanged;
        }
        let server = found.servers.first().and_then(|server| Some((server, server.best()?)));
        if let Some((server, best)) = server {
            return at_server(server.base_url(), best.name.clone());
        }
        let local = found.local_models.iter().find(|model| model.plans);
        local.map_or(Planner::Unchanged, |model| Planner::Local { name: model.name.clone() })
    }
}

fn at_server(base_url: String, model: String) -> Planner {
    Planner::Endpoint { base_url: Some(base_url), model, api_key_env: None }
}

/// The model that the configuration names.
fn configured(tree: &Map<String, Value>) -> Option<&str> {
    tree.get("llm")?.get("model")?.as_str().filter(|model| !model.trim().is_empty())
}

/// The variable that must hold a key for the model of this configuration.
pub(super) fn key_needed(tree: &Map<String, Value>) -> Option<String> {
    configured(tree).filter(|model| needs_key(model))?;
    let text = |key: &str| tree.get("llm").and_then(|llm| llm.get(key)).and_then(Value::as_str).map(str::to_owned);
    let default = text("base_url").is_none().then(|| env_vars::OPENAI_API_KEY.to_owned());
    text("api_key_env").or(default)
}

/// Refuses flags that the dialogue would not take as answers.
pub(super) fn check(global: &Global) -> Result<(), Failure> {
    // Not shown: an address may hold a password.
    let refused = |flag: &str, why: String| Failure::usage(format!("{flag} cannot be kept")).hint(why);
    if let Some(url) = &global.base_url {
        address(url).map_err(|why| refused("this --base-url", why))?;
    }
    if let Some(model) = global.llm.as_deref().filter(|model| !model.starts_with("replay:")) {
        name(model).map_err(|why| refused("this --llm", why))?;
    }
    if let Some(path) = &global.data_dir {
        let typed = path.to_str().ok_or_else(|| refused("this --data-dir", "Its path is not Unicode.".to_owned()))?;
        folder(typed).map_err(|why| refused("this --data-dir", why))?;
    }
    Ok(())
}

/// Asks what no flag answers.
pub(super) fn ask(
    dialogue: &mut Dialogue<'_>,
    found: &Found,
    tree: &Map<String, Value>,
    global: &Global,
    defaults: Answers,
) -> Result<Answers, Failure> {
    let planner = match (&global.llm, &global.base_url) {
        (None, None) => ask_planner(dialogue, found, tree, defaults.planner)?,
        _ => defaults.planner,
    };
    let data_dir = match &global.data_dir {
        None => {
            let shown = defaults.data_dir.display().to_string();
            dialogue.text("Folder for media, the journal and logs", Some(&shown), folder)?
        }
        Some(_) => defaults.data_dir,
    };
    Ok(Answers { planner, data_dir, asked: true })
}

/// What an option of the first question leads to.
enum Choice<'a> {
    Ready(Planner),
    Server(&'a jarvis_chat::ModelServer),
    Provider(&'a Provider),
    Other,
}

fn ask_planner(
    dialogue: &mut Dialogue<'_>,
    found: &Found,
    tree: &Map<String, Value>,
    default: Planner,
) -> Result<Planner, Failure> {
    let mut choices = Vec::new();
    if let Some(model) = configured(tree) {
        choices.push((format!("{model}, as it is configured now"), Choice::Ready(Planner::Unchanged)));
    }
    let offline = "the offline planner, with native models: no key, no network".to_owned();
    choices.push((offline, Choice::Ready(Planner::Offline)));
    for server in &found.servers {
        let best = server.best().map_or("", |best| &best.name);
        choices.push((format!("{} at {}: {best}", server.kind, server.shown_address()), Choice::Server(server)));
    }
    for model in found.local_models.iter().filter(|model| model.talks) {
        let small = if model.plans { "" } else { "; too small to plan, so the offline planner does" };
        let planner = Planner::Local { name: model.name.clone() };
        choices.push((format!("local/{}, run by jarvis itself{small}", model.name), Choice::Ready(planner)));
    }
    for provider in found.keys.iter().filter(|provider| provider.chats) {
        let line = format!("{}, with the key in {}; calls cost money", provider.name, provider.variable);
        choices.push((line, Choice::Provider(provider)));
    }
    choices.push(("another OpenAI-compatible endpoint".to_owned(), Choice::Other));

    let is_default = |(_, choice): &(String, Choice<'_>)| match (choice, &default) {
        (Choice::Ready(planner), default) => planner == default,
        (Choice::Server(server), Planner::Endpoint { base_url, .. }) => *base_url == Some(server.base_url()),
        _ => false,
    };
    let preset = choices.iter().position(is_default).unwrap_or(0);
    let lines: Vec<String> = choices.iter().map(|(line, _)| line.clone()).collect();
    let chosen = dialogue.choice("Who plans, chooses models and answers?", &lines, preset)?;
    match choices.into_iter().nth(chosen).map(|(_, choice)| choice) {
        Some(Choice::Ready(planner)) => Ok(planner),
        Some(Choice::Server(server)) => ask_model(dialogue, server),
        Some(Choice::Provider(provider)) => {
            let model = dialogue.text("Name of the model", provider.model, name)?;
            let base_url = provider.base_url.map(str::to_owned);
            Ok(Planner::Endpoint { base_url, model, api_key_env: Some(provider.variable.to_owned()) })
        }
        Some(Choice::Other) | None => ask_endpoint(dialogue),
    }
}

fn ask_model(dialogue: &mut Dialogue<'_>, server: &jarvis_chat::ModelServer) -> Result<Planner, Failure> {
    let names: Vec<String> = server.models.iter().filter(|model| model.chats).map(|model| model.name.clone()).collect();
    let best = server.best().and_then(|best| names.iter().position(|name| *name == best.name)).unwrap_or(0);
    let chosen = match names.len() {
        0 | 1 => best,
        _ => dialogue.choice("Which model?", &names, best)?,
    };
    let model = names.into_iter().nth(chosen).unwrap_or_default();
    Ok(at_server(server.base_url(), model))
}

fn ask_endpoint(dialogue: &mut Dialogue<'_>) -> Result<Planner, Failure> {
    let base_url = dialogue.text("Base URL, such as http://localhost:8000/v1", None, address)?;
    let model = dialogue.text("Name of the model", None, name)?;
    let question = "Name of the environment variable that holds its key; Enter for none";
    let api_key_env = dialogue.text(question, None, variable)?;
    Ok(Planner::Endpoint { base_url: Some(base_url), model, api_key_env })
}

fn name(typed: &str) -> Result<String, String> {
    match typed.is_empty() || typed.contains(char::is_whitespace) {
        true => Err("Type the name that the endpoint has for it, without spaces.".to_owned()),
        false => Ok(typed.to_owned()),
    }
}

fn address(typed: &str) -> Result<String, String> {
    let url = Url::parse(typed).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match url {
        Some(url) if !url.username().is_empty() || url.password().is_some() => {
            Err("Type the address without a user name and password: the configuration holds no secrets.".to_owned())
        }
        Some(_) => Ok(typed.to_owned()),
        None => Err("Type an address that begins with http:// or https://.".to_owned()),
    }
}

/// The name of a variable. Only capitals are accepted, so that a key pasted by mistake never reaches the file.
fn variable(typed: &str) -> Result<Option<String>, String> {
    let is_name = !typed.starts_with(|c: char| c.is_ascii_digit())
        && typed.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    match (typed, is_name) {
        ("", _) => Ok(None),
        (_, true) => Ok(Some(typed.to_owned())),
        (_, false) => Err("Type the name of a variable, in capitals, such as OPENAI_API_KEY, and never the key \
             itself: what you typed was not kept."
            .to_owned()),
    }
}

fn folder(typed: &str) -> Result<PathBuf, String> {
    let path = match (typed.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(typed),
    };
    let path = std::path::absolute(&path).map_err(|error| format!("That is no folder: {error}."))?;
    let is_file = path.ancestors().find(|part| part.exists()).is_some_and(|part| !part.is_dir());
    if is_file { Err(format!("{} is a file, or lies below one.", path.display())) } else { Ok(path) }
}

impl Answers {
    /// Writes the answers, and the flags that were given, into the tree of a configuration.
    pub(super) fn apply(&self, tree: &mut Map<String, Value>, global: &Global) -> Result<(), Failure> {
        self.apply_data_dir(tree, global)?;
        let planner = match &self.planner {
            Planner::Unchanged => by_flags(tree, global),
            planner => planner.clone(),
        };
        let (model, base_url, api_key_env) = match planner {
            Planner::Unchanged => return Ok(()),
            Planner::Offline => ("offline".to_owned(), None, None),
            Planner::Local { name } => (format!("local/{name}"), None, None),
            Planner::Endpoint { base_url, model, api_key_env } => (model, base_url, api_key_env),
        };
        let llm = tree.entry("llm").or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(llm) = llm else {
            return Err(Failure::usage("`llm` in the configuration is not a mapping")
                .hint("mend the file, or move it away, and run `jarvis setup` again"));
        };
        // These describe the previous endpoint or model. Azure's would win over any other endpoint.
        let differs = |key: &str, now: Option<&str>| llm.get(key).and_then(Value::as_str) != now;
        let is_elsewhere = differs("base_url", base_url.as_deref());
        let is_other = is_elsewhere || differs("model", Some(&model));
        let is_chosen = needs_key(&model) && (self.planner != Planner::Unchanged || base_url.is_some());
        let stale = [
            ("azure", is_other && is_chosen),
            ("stages", is_elsewhere),
            ("context_tokens", is_other),
            ("vision", is_other),
        ];
        for (key, _) in stale.into_iter().filter(|(_, is_stale)| *is_stale) {
            llm.remove(key);
        }
        let mut set = |key: &str, value: Option<String>| match value {
            Some(value) => drop(llm.insert(key.to_owned(), value.into())),
            None => drop(llm.remove(key)),
        };
        set("base_url", base_url);
        set("api_key_env", api_key_env.filter(|_| needs_key(&model)));
        set("model", Some(model));
        Ok(())
    }

    /// Sets the folder only if it differs from the platform's default, and is not what the environment says for this time.
    fn apply_data_dir(&self, tree: &mut Map<String, Value>, global: &Global) -> Result<(), Failure> {
        let is_default = wiring::default_data_folder().is_ok_and(|default| default == self.data_dir);
        let was_set = tree.get("data_dir").and_then(Value::as_str).map(Path::new);
        // Confirmed in the dialogue it counts, where the file names another.
        let is_passing =
            global.data_dir.is_none() && from_environment(&self.data_dir) && (was_set.is_none() || !self.asked);
        if was_set == Some(&self.data_dir) || is_passing || (was_set.is_none() && is_default) {
            return Ok(());
        }
        let text = self.data_dir.to_str().ok_or_else(|| {
            Failure::usage(format!("the path {} is not Unicode", self.data_dir.display())).hint("name another folder")
        })?;
        tree.insert("data_dir".to_owned(), text.into());
        Ok(())
    }
}

/// `--llm` and `--base-url`, completed from the configuration where only one of them is given.
fn by_flags(tree: &Map<String, Value>, global: &Global) -> Planner {
    if global.llm.is_none() && global.base_url.is_none() {
        return Planner::Unchanged;
    }
    let model = global.llm.as_deref().or(configured(tree)).unwrap_or("auto").to_owned();
    let had = |key: &str| tree.get("llm").and_then(|llm| llm.get(key)).and_then(Value::as_str).map(str::to_owned);
    let base_url = global.base_url.clone().or_else(|| had("base_url"));
    // Never send a key to another endpoint than the one it was configured for.
    let api_key_env = had("api_key_env").filter(|_| base_url == had("base_url"));
    let default = base_url.is_none().then(|| env_vars::OPENAI_API_KEY.to_owned());
    Planner::Endpoint { base_url, model, api_key_env: api_key_env.or(default) }
}

fn needs_key(model: &str) -> bool {
    !matches!(model, "offline" | "auto" | "local") && !model.starts_with("local/") && !model.starts_with("replay:")
}

/// Whether the environment already sets this folder.
fn from_environment(folder: &Path) -> bool {
    std::env::var_os(format!("{}DATA_DIR", env_vars::PREFIX)).is_some_and(|named| Path::new(&named) == folder)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use serde_json::json;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn only_names_of_variables_are_kept() {
        for (typed, kept) in [
            ("OPENAI_API_KEY", Ok(Some("OPENAI_API_KEY".to_owned()))),
            ("KEY2", Ok(Some("KEY2".to_owned()))),
            ("", Ok(None)),
            ("sk-proj-0123456789", Err(())),
            ("hf_AbCdEf", Err(())),
            ("gsk_0123", Err(())),
            ("2KEY", Err(())),
            ("MY KEY", Err(())),
        ] {
            let found = variable(typed).map_err(|why| assert!(typed.is_empty() || !why.contains(typed), "{why}"));
            assert_eq!(found, kept, "{typed}");
        }
    }

    #[test]
    fn an_answer_drops_what_belonged_to_the_model_before() {
        let before = json!({"model": "gpt-4o", "azure": {"base_url": "https://a"}, "stages": {"react": "b"}, "vision": true,
                            "timeout_s": 7, "api_key_env": "KEY"});
        let local = || Planner::Local { name: "qwen3".into() };
        let server = || at_server("http://127.0.0.1:1/v1".into(), "m".into());
        let at_openai =
            |model: &str| Planner::Endpoint { base_url: None, model: model.into(), api_key_env: Some("KEY".into()) };
        let (same, openai) = (|| at_openai("gpt-4o"), || at_openai("gpt-4o-mini"));
        let at_server = json!({"model": "m", "base_url": "http://127.0.0.1:1/v1", "timeout_s": 7});
        let none: &[&str] = &[];
        for (planner, flags, after) in [
            (Planner::Unchanged, none, before.clone()),
            (same(), none, before.clone()),
            (server(), none, at_server.clone()),
            // Azure's endpoint and the models of stages wait for the day that it is chosen again.
            (
                local(),
                none,
                json!({"model": "local/qwen3", "azure": before["azure"], "stages": before["stages"], "timeout_s": 7}),
            ),
            (
                Planner::Unchanged,
                &["--llm", "gpt-4o-mini"],
                json!({"model": "gpt-4o-mini", "azure": before["azure"],
             "stages": before["stages"], "timeout_s": 7, "api_key_env": "KEY"}),
            ),
            (
                openai(),
                none,
                json!({"model": "gpt-4o-mini", "stages": before["stages"], "timeout_s": 7, "api_key_env": "KEY"}),
            ),
            (Planner::Unchanged, &["--llm", "m", "--base-url", "http://127.0.0.1:1/v1"], at_server),
        ] {
            let global = Cli::parse_from([&["jarvis", "setup"][..], flags].concat()).global;
            let mut tree: Map<String, Value> = serde_json::from_value(json!({"llm": before})).expect("an object");
            let data_dir = wiring::default_data_folder().expect("a home");
            Answers { planner, data_dir, asked: false }.apply(&mut tree, &global).expect("it fits");
            assert_eq!(
                tree,
                serde_json::from_value::<Map<_, _>>(json!({"llm": after})).expect("an object"),
                "{flags:?}"
            );
        }
    }
}
