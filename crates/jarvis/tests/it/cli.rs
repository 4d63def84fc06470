//! Transcripts of the command line: `tests/cli/*.md`. A block `console` holds commands for `bash` and what they print, a block
//! with a file name writes that file, and each heading begins a working folder and a data folder of its own.
//!
//! `JARVIS_UPDATE_DOCS=1 cargo test -p jarvis --test it cli` rewrites what the commands print.

use std::path::Path;

use crate::harness::Harness;

/// Runs every command of a transcript and compares what it prints.
fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli").join(name).with_extension("md");
    let written = std::fs::read_to_string(&path).unwrap();
    let mut harness = Harness::new();
    let mut shown = Vec::new();
    let mut commands = 0;
    let mut lines = written.lines();
    while let Some(line) = lines.next() {
        shown.push(line.to_owned());
        if line.starts_with('#') {
            harness = Harness::new();
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if info == "console" {
            for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                commands += 1;
                shown.push(format!("$ {command}"));
                shown.extend(harness.shell(command).lines().map(str::to_owned));
            }
        } else {
            if let Some((_, file)) = info.split_once(' ') {
                harness.file(file, block.join("\n") + "\n");
            }
            shown.extend(block.into_iter().map(str::to_owned));
        }
        shown.push("```".to_owned());
    }
    assert!(commands > 0, "{} holds no commands", path.display());
    let differs = shown.iter().map(String::as_str).zip(written.lines()).position(|(now, before)| now != before);
    if std::env::var_os("JARVIS_UPDATE_DOCS").is_some() {
        std::fs::write(&path, shown.join("\n") + "\n").unwrap();
    } else if differs.is_some() || shown.len() != written.lines().count() {
        let from = differs.unwrap_or(shown.len().min(written.lines().count())).saturating_sub(3);
        let near = |lines: &mut dyn Iterator<Item = &str>| lines.skip(from).take(12).collect::<Vec<_>>().join("\n");
        let (now, before) = (near(&mut shown.iter().map(String::as_str)), near(&mut written.lines()));
        panic!("{} from line {}:\n{before}\n--- is now:\n{now}", path.display(), from + 1);
    }
}

macro_rules! transcripts {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check(stringify!($name)); })*

        #[test]
        fn every_transcript_is_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
            let mut found: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter_map(|name| Some(name.strip_suffix(".md")?.to_owned()))
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($name)),*]);
        }
    };
}

transcripts! {
    bench_plan
    documents
    easytool_call
    easytool_instruct
    easytool_retrieve
    easytool_score
    models
    plan
    planner_fit
    run
    runs
    setup
    taskbench_evaluate
    taskbench_generate
    taskbench_graph
    taskbench_infer
    taskbench_inspect
    taskbench_report
}

/// `--version` is answered before clap is asked.
#[test]
fn the_version_is_the_one_that_clap_says() {
    let harness = Harness::new();
    let [long, short] = ["--version", "-V"].map(|flag| harness.shell(&format!("jarvis {flag}")));
    assert_eq!(long, short);
    assert_eq!(long.trim(), concat!("jarvis ", env!("CARGO_PKG_VERSION")));
}
