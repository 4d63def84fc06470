//! The keys that are decided when a server starts, and hold until it ends, whatever its file says later.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// The tree of a configuration file.
pub(crate) type Tree = Map<String, Value>;

/// Sections and keys of what is opened once: sockets, limits, folders, the journal, stores, the memory of local models.
const AT_START: [&str; 13] = [
    "server",
    "grpc",
    "http_listen",
    "local",
    "data_dir",
    "public_dir",
    "media_store",
    "runs",
    "kept_media",
    "kept_logs",
    "urls",
    "limits.max_input_bytes",
    "decisions.compat_errors",
];

/// Those among them that are taken all the same: who may call, and the certificate.
const TAKEN: [&str; 7] = [
    "server.tokens",
    "server.token_env",
    "server.token_file",
    "server.admin_token_env",
    "server.admin_token_file",
    "server.tls_cert",
    "server.tls_key",
];

/// How a server that runs takes what its file says now.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    /// The file as it was at the start.
    pub(crate) started: Tree,
    /// Whether models and tools may be others than at the start.
    pub(crate) takes_setup: bool,
}

/// A key of the top level, or one of a section.
type Key = (String, Option<String>);

impl Held {
    fn holds(&self, key: &str) -> bool {
        let is_in = |held: &str| key.strip_prefix(held).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        !TAKEN.contains(&key) && (!self.takes_setup || AT_START.into_iter().any(is_in))
    }

    /// Gives the keys that are held the values of the start, and warns of each that had another.
    pub(crate) fn apply(&self, now: &mut Tree) -> Vec<String> {
        let (started, mut keys) = (keys(&self.started), keys(now));
        let differs = |key: &&Key| self.holds(&dotted(key)) && started.get(*key) != keys.get(*key);
        let changed: BTreeSet<Key> = started.keys().chain(keys.keys()).filter(differs).cloned().collect();
        for key in &changed {
            match started.get(key) {
                Some(value) => keys.insert(key.clone(), value.clone()),
                None => keys.remove(key),
            };
        }
        if !changed.is_empty() {
            *now = tree(keys);
        }
        let warning = |key: &Key| format!("`{}` stays as it was: it is decided when the server starts", dotted(key));
        changed.iter().map(warning).collect()
    }
}

fn dotted((section, key): &Key) -> String {
    key.as_ref().map_or_else(|| section.clone(), |key| format!("{section}.{key}"))
}

fn keys(tree: &Tree) -> BTreeMap<Key, Value> {
    let mut keys = BTreeMap::new();
    for (name, value) in tree {
        match value.as_object().filter(|section| !section.is_empty()) {
            Some(section) => {
                keys.extend(section.iter().map(|(key, value)| ((name.clone(), Some(key.clone())), value.clone())));
            }
            None => {
                keys.insert((name.clone(), None), value.clone());
            }
        }
    }
    keys
}

fn tree(keys: BTreeMap<Key, Value>) -> Tree {
    let mut tree = Tree::new();
    for ((name, key), value) in keys {
        let Some(key) = key else {
            tree.insert(name, value);
            continue;
        };
        // Where the section became one meanwhile, what it was is what is held.
        if let Value::Object(section) = tree.entry(name).or_insert_with(|| Value::Object(Map::new())) {
            section.insert(key, value);
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Config;

    fn object(value: Value) -> Tree {
        serde_json::from_value(value).expect("an object")
    }

    #[test]
    fn each_key_that_is_held_is_one() {
        let config = serde_json::to_value(Config::default()).expect("it has only string keys");
        for key in AT_START.iter().chain(&TAKEN) {
            assert!(config.pointer(&format!("/{}", key.replace('.', "/"))).is_some(), "{key}");
        }
    }

    #[test]
    fn what_is_held_stays_and_is_named() {
        let started = json!({"llm": {"model": "a"}, "server": {"max_running": 4, "token_file": "x"}, "data_dir": "d"});
        for (takes_setup, now, want, changed) in [
            (true, started.clone(), started.clone(), vec![]),
            (
                true,
                json!({"llm": {"model": "b"}, "server": {"max_running": 4, "token_file": "y"}, "data_dir": "d"}),
                json!({"llm": {"model": "b"}, "server": {"max_running": 4, "token_file": "y"}, "data_dir": "d"}),
                vec![],
            ),
            (
                true,
                json!({"llm": {"model": "b"}, "server": {"max_running": 8, "token_file": "y", "drain_s": 1}, "media": {}}),
                json!({"llm": {"model": "b"}, "server": {"max_running": 4, "token_file": "y"}, "data_dir": "d", "media": {}}),
                vec!["data_dir", "server.drain_s", "server.max_running"],
            ),
            (
                true,
                json!({"llm": {"model": "a"}, "limits": {"max_input_bytes": 1, "concurrency": 2}}),
                json!({"llm": {"model": "a"}, "limits": {"concurrency": 2}, "data_dir": "d", "server": {"max_running": 4}}),
                vec!["data_dir", "limits.max_input_bytes", "server.max_running"],
            ),
            (
                false,
                json!({"llm": {"model": "b"}, "server": {"max_running": 4, "token_file": "y"}, "data_dir": "d"}),
                json!({"llm": {"model": "a"}, "server": {"max_running": 4, "token_file": "y"}, "data_dir": "d"}),
                vec!["llm.model"],
            ),
        ] {
            let held = Held { started: object(started.clone()), takes_setup };
            let mut tree = object(now.clone());
            let warnings = held.apply(&mut tree);
            assert_eq!(warnings.len(), changed.len(), "{now}: {warnings:?}");
            for (warning, key) in warnings.iter().zip(changed) {
                assert!(warning.starts_with(&format!("`{key}` ")), "{now}: {warning}");
            }
            assert_eq!(Value::Object(tree), want, "{now}");
        }
    }
}
