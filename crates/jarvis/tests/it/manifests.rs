//! `compose.yaml` and `deploy/kubernetes.yaml`: their command lines and environments start the binary, and files are shared by a store alone.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use jarvis_testing::s3;
use serde_json::Value;

use crate::harness::Harness;

const COMPOSE: &str = include_str!("../../../../compose.yaml");
const KUBERNETES: &str = include_str!("../../../../deploy/kubernetes.yaml");

/// Where the manifests say that the store is.
const STORE: &str = "http://store:9000";

/// A container, with what stands in the place of secrets.
#[derive(Debug)]
struct Container {
    name: String,
    image: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    /// What it shares with others, or keeps on a disk of its own.
    volumes: String,
}

impl Container {
    fn is_jarvis(&self) -> bool {
        self.image.contains("jarvis:")
    }

    /// The bucket that it makes.
    fn makes_bucket(&self) -> Option<&str> {
        let bucket = self.args.last()?.strip_prefix("store/")?;
        let store = self.env.get("MC_HOST_store")?;
        assert_eq!(*store, STORE.replace("//", &format!("//{}:{}@", s3::KEY, s3::SECRET)));
        Some(bucket)
    }
}

/// What a person gives for a variable or a secret.
fn secret(name: &str) -> &'static str {
    match name {
        "JARVIS_TOKEN" | "jarvis/token" => "Zq7-vN2_kL9.pT4x-0815",
        "STORE_USER" | "store/user" => s3::KEY,
        "STORE_PASSWORD" | "store/password" => s3::SECRET,
        "jarvis/identity-key" => "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f",
        other => panic!("nobody is asked for `{other}`"),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A text of the compose file: `${NAME:-default}` is the default, and `${NAME:?why}` is asked for.
fn given(text: &str) -> String {
    let variable = jarvis_plan::pattern(r"\$\{([A-Z_]+):([-?])([^}]*)\}");
    let value = |found: &regex::Captures<'_>| match &found[2] {
        "-" => found[3].to_owned(),
        _ => secret(&found[1]).to_owned(),
    };
    variable.replace_all(text, value).into_owned()
}

fn composed() -> Vec<Container> {
    let document: Value = serde_saphyr::from_str(COMPOSE).expect("YAML");
    let service = |(name, service): (&String, &Value)| Container {
        name: name.clone(),
        image: given(&text(&service["image"])),
        args: service["command"].as_str().unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
        env: service["environment"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), given(&text(value))))
            .collect(),
        volumes: service["volumes"].to_string(),
    };
    document["services"].as_object().expect("services").iter().map(service).collect()
}

fn pods() -> Vec<Container> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(KUBERNETES).expect("YAML");
    let pod = |document: &Value| {
        let name = text(&document["metadata"]["name"]);
        let pod = document.pointer("/spec/template/spec")?;
        let container = &pod["containers"][0];
        let mut env: BTreeMap<String, String> = BTreeMap::new();
        for variable in container["env"].as_array().into_iter().flatten() {
            let value = match &variable["valueFrom"]["secretKeyRef"] {
                Value::Null => expanded(&text(&variable["value"]), &env),
                of => secret(&format!("{}/{}", text(&of["name"]), text(&of["key"]))).to_owned(),
            };
            env.insert(text(&variable["name"]), value);
        }
        let args = container["args"].as_array().into_iter().flatten();
        let args = args.map(|arg| expanded(&text(arg), &env)).collect();
        let volumes = pod["volumes"].to_string();
        Some(Container { name, image: text(&container["image"]), args, env, volumes })
    };
    documents.iter().filter_map(pod).collect()
}

/// A text of the other file: `$(NAME)` is a variable that stands before it.
fn expanded(text: &str, env: &BTreeMap<String, String>) -> String {
    env.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("$({name})"), value))
}

/// The process of a container; it ends with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the binary as the manifest says, with addresses of this machine and a folder of its own; gives what it said until it is ready.
fn start(container: &Container, store: &s3::Server, harness: &Harness) -> (Started, Vec<String>) {
    let here = |text: &String| {
        let text = text.replace(STORE, &store.address).replace("/data", &harness.data().display().to_string());
        // Port 0 is a free one, and on port 1 nobody listens.
        let text = jarvis_plan::pattern(r"0\.0\.0\.0:\d+").replace_all(&text, "127.0.0.1:0").into_owned();
        jarvis_plan::pattern(r"http://restate:\d+").replace_all(&text, "http://127.0.0.1:1").into_owned()
    };
    let args: Vec<String> = container.args.iter().map(here).collect();
    let mut command = harness.command(&args.iter().map(String::as_str).collect::<Vec<_>>());
    command.env_remove("JARVIS_DATA_DIR").envs(container.env.iter().map(|(name, value)| (name, here(value))));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = Started(command.spawn().expect("the binary starts"));
    let stderr = BufReader::new(child.0.stderr.take().expect("a pipe"));
    let mut said = Vec::new();
    for line in stderr.lines().map_while(Result::ok) {
        let is_ready = line.ends_with("stop with Ctrl-C") || line.starts_with("jarvis performs ");
        said.push(line);
        if is_ready {
            return (child, said);
        }
    }
    panic!("{}: {said:#?}", container.name);
}

#[test]
fn what_the_manifests_start_does_start_and_shares_files_by_a_store_alone() {
    for (file, containers) in [("compose.yaml", composed()), ("kubernetes.yaml", pods())] {
        let bucket = containers.iter().find_map(Container::makes_bucket).expect("somebody makes the bucket");
        let store = s3::Server::start();
        let folder = store.make_bucket(bucket);
        let mut commands = Vec::new();
        for container in containers.iter().filter(|container| container.is_jarvis()) {
            let of = format!("{file}: {}", container.name);
            assert!(matches!(&*container.volumes, r#"["/data"]"# | r#"[{"name":"data","emptyDir":{}}]"#), "{of}");
            let harness = Harness::new();
            let (_process, said) = start(container, &store, &harness);
            let odd: Vec<&String> = said.iter().filter(|line| line.contains("unknown configuration key")).collect();
            assert!(odd.is_empty(), "{of}: {odd:?}");
            assert!(harness.data().join("public").is_dir(), "{of} has a folder of its own");
            commands.push(container.args[0].as_str());
            // The same environment finds the bucket that was made: a check leaves a mark in it.
            let env = container.env.iter().map(|(name, value)| (name, value.replace(STORE, &store.address)));
            let told = harness.command(&["doctor"]).envs(env).output().expect("it ends");
            let told = String::from_utf8_lossy(&told.stdout);
            assert!(std::fs::remove_file(folder.join("check")).is_ok(), "{of}: {told}");
        }
        commands.sort_unstable();
        commands.dedup();
        assert_eq!(commands, ["serve", "worker"], "{file}");
    }
}
