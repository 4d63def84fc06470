//! The generated pages of the documentation, `docs/reference/`: every command as `--help` prints it, and every route of the server
//! as `/openapi.json` describes it. With the feature `restate`, so that no command is missing.
//!
//! `JARVIS_UPDATE_DOCS=1 cargo test -p jarvis --features restate --test it reference` rewrites them.

use std::path::Path;

use crate::harness::Harness;
use crate::serve::Server;

/// Compares a page with what it should be, or rewrites it.
fn check(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("JARVIS_UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(&path, wanted).expect("writable");
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "docs/reference/{name} differs from the binary, first here: {differs:?}\n\
         rewrite it with: JARVIS_UPDATE_DOCS=1 cargo test -p jarvis --features restate --test it reference"
    );
}

/// The help of a command, without the options that every command has and without its description.
struct Help {
    about: String,
    text: String,
    commands: Vec<String>,
}

fn help(harness: &Harness, words: &[String]) -> Help {
    let args: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let ended = harness.run(&args);
    assert_eq!(ended.code, 0, "jarvis {}: {}", args.join(" "), ended.stderr);
    let (about, usage) = ended.stdout.split_once("\nUsage: ").expect("a help has a usage");
    let mut text = String::new();
    let mut commands = Vec::new();
    let mut section = "";
    for line in format!("Usage: {usage}").lines() {
        if !line.is_empty() && !line.starts_with(' ') {
            section = if words.is_empty() && line.starts_with("Options of") { "" } else { line };
        }
        // One level of indentation is a command; what is deeper is the rest of its description.
        let entry = line.strip_prefix("  ").filter(|entry| section == "Commands:" && !entry.starts_with(' '));
        commands
            .extend(entry.and_then(|entry| entry.split(' ').next()).filter(|name| *name != "help").map(str::to_owned));
        if section != "Options of every command:" {
            text += line.trim_end();
            text += "\n";
        }
    }
    Help { about: about.trim().replace('\n', " "), text: text.trim_end().to_owned(), commands }
}

/// Adds a command and the commands below it: entries of the list, and sections.
fn walk(harness: &Harness, words: &[String], list: &mut String, sections: &mut String) {
    let help = help(harness, words);
    let name = [&["jarvis".to_owned()], words].concat().join(" ");
    let level = words.len().clamp(1, 3) + 1;
    let indent = "  ".repeat(words.len().saturating_sub(1));
    if !words.is_empty() {
        let first = help.about.split("  ").next().unwrap_or_default();
        *list += &format!("{indent}- [`{name}`](#{}): {first}\n", name.replace(' ', "-"));
    }
    *sections += &format!("\n{} {name}\n\n{}\n\n```text\n{}\n```\n", "#".repeat(level), help.about, help.text);
    for command in &help.commands {
        walk(harness, &[words, std::slice::from_ref(command)].concat(), list, sections);
    }
}

#[test]
fn the_reference_of_commands_is_what_the_binary_says() {
    let (mut list, mut sections) = (String::new(), String::new());
    walk(&Harness::new(), &[], &mut list, &mut sections);
    let page = format!(
        "# Commands\n\nEvery command of `jarvis`, as `--help` prints it; a test compares this page with the binary. The options of \
         every command stand once, under [`jarvis`](#jarvis). `jarvis worker` is in builds with the feature `restate`.\n\n\
         {list}{sections}"
    );
    assert!(page.matches("\n## jarvis ").count() > 10, "the commands are found: {page}");
    check("cli.md", &page);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_reference_of_routes_is_what_the_server_says() {
    let server = Server::start(&Harness::new(), &[]);
    let (status, document) = server.get("/openapi.json").await;
    assert_eq!(status, 200);
    let mut groups: Vec<(String, String)> = Vec::new();
    let paths = document["paths"].as_object().expect("paths");
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            let group = operation["tags"][0].as_str().unwrap_or("other").to_owned();
            let says = |key: &str| operation[key].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
            let summary = [says("summary"), says("description")].into_iter().find(|text| !text.is_empty());
            let summary = summary.unwrap_or_else(|| panic!("{method} {path} says nothing of itself"));
            // Those that are not `4XX` or `5XX`, which every route has.
            let replies = operation["responses"].as_object().into_iter().flatten().map(|(status, _)| status.as_str());
            let replies = replies.filter(|status| !status.ends_with("XX"));
            let row = format!(
                "| `{} {path}` | {summary} | {} |\n",
                method.to_uppercase(),
                replies.collect::<Vec<_>>().join(", ")
            );
            match groups.iter_mut().find(|(name, _)| *name == group) {
                Some((_, rows)) => *rows += &row,
                None => groups.push((group, row)),
            }
        }
    }
    let version = document["openapi"].as_str().expect("a version");
    let tags = document["tags"].as_array().expect("tags");
    groups.sort_by_key(|(name, _)| tags.iter().position(|tag| tag["name"] == name.as_str()));
    let mut page = format!(
        "# Routes\n\nEvery route of `jarvis serve`, from the OpenAPI {version} document that it serves at `/openapi.json`; a test \
         compares this page with the server. Bodies and schemas are at `/docs` of a running server. [The server](../server.md) explains \
         how they work together.\n"
    );
    for (name, rows) in groups {
        let about = tags.iter().find(|tag| tag["name"] == name.as_str());
        let about = about.and_then(|tag| tag["description"].as_str()).map(|text| format!("{text}\n\n"));
        page +=
            &format!("\n## {name}\n\n{}| route | what | status |\n|---|---|---|\n{rows}", about.unwrap_or_default());
    }
    check("http.md", &page);
}
