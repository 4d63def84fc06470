//! Commands of the documentation: README.md and the pages of `docs/`. A page is read as one session of `bash`, in a folder that
//! holds `examples/` as a clone does: each block `console` is run in order, and what its commands print is compared with the page.
//!
//! A block that cannot run in a test says why, as the second word of its fence; [`NEEDS`] lists the reasons. ` ```console fails`
//! has a command whose exit status is not 0. `…` stands for any characters of a line, and alone for any lines. A fence with a file name, ` ```yaml jarvis.yaml`,
//! writes that file.
//!
//! `JARVIS_UPDATE_DOCS=1 cargo test -p jarvis --test it site` rewrites what the commands print.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::Harness;

/// Reasons for which a block is not run.
const NEEDS: [&str; 10] = [
    "needs-cargo",
    "needs-data",
    "needs-docker",
    "needs-key",
    "needs-network",
    "needs-program",
    "needs-restate",
    "needs-run",
    "needs-terminal",
    "needs-weights",
];

/// Programs that pages call and a machine may lack.
const PROGRAMS: [&str; 2] = ["curl", "python3"];

/// Ends the output of a command in what a session prints; no command here prints it.
const MARK: char = '\u{1e}';

struct Block {
    /// The index of the line after the fence.
    start: usize,
    end: usize,
    indent: String,
    kind: Kind,
}

enum Kind {
    Run { fails: bool },
    File(String),
    Other { commands: bool },
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The fenced blocks of a page, of which some stand in lists.
fn blocks(page: &str, lines: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let body = line.trim_start();
        let Some(info) = body.strip_prefix("```") else { continue };
        let indent = line[..line.len() - body.len()].to_owned();
        let start = at;
        while lines.get(at).is_some_and(|line| line.trim() != "```") {
            at += 1;
        }
        assert!(at < lines.len(), "{page}:{start}: a block without an end");
        let (language, more) = info.split_once(' ').unwrap_or((info, ""));
        let commands = |line: &&str| ["$ ", "jarvis ", "cargo "].iter().any(|word| line.trim_start().starts_with(word));
        let kind = match (language, more) {
            ("console", "") => Kind::Run { fails: false },
            ("console", "fails") => Kind::Run { fails: true },
            ("console", more) => {
                assert!(NEEDS.contains(&more), "{page}:{start}: `{more}` is none of {NEEDS:?}");
                Kind::Other { commands: false }
            }
            (_, "") => Kind::Other { commands: lines[start..at].iter().any(commands) },
            (_, file) => Kind::File(file.to_owned()),
        };
        blocks.push(Block { start, end: at, indent, kind });
        at += 1;
    }
    blocks
}

/// The commands of a block, each with the lines that it goes on for and the lines that the page shows of its output.
fn commands(block: &Block, lines: &[&str]) -> Vec<(Vec<String>, Vec<String>)> {
    let mut found: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for line in &lines[block.start..block.end] {
        let line = line.strip_prefix(&block.indent).unwrap_or(line);
        let continues = |(command, shown): &(Vec<String>, Vec<String>)| {
            shown.is_empty() && command.last().is_some_and(|line| line.ends_with('\\'))
        };
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((vec![command.to_owned()], Vec::new())),
            (None, Some(last)) if continues(last) => last.0.push(line.to_owned()),
            (None, Some(last)) => last.1.push(line.to_owned()),
            (None, None) => panic!("line {}: output before the first command", block.start + 1),
        }
    }
    found
}

/// What `bash` runs for a command. A server goes on behind the commands that follow; it is waited for until it says where it
/// listens, and the port that it chose stands for the one of the page.
fn script(command: &[String]) -> String {
    let command = command.join("\n");
    let background = command.strip_suffix(" &");
    if background.is_none() && !command.starts_with("jarvis serve") {
        let port = jarvis_plan::pattern(r"127\.0\.0\.1:(\d+)");
        return format!("{}\n", port.replace_all(&command, "127.0.0.1:$${PORT:-$1}"));
    }
    let command = background.unwrap_or(&command);
    format!(
        "exec {{SERVER}}< <(exec {command} 2>&1)\nSERVERS=\"$SERVERS $!\"\n\
         while IFS= read -r LINE <&$SERVER; do\n  echo \"$LINE\"\n  \
         case $LINE in *http://127.0.0.1:*) PORT=${{LINE#*http://127.0.0.1:}}; PORT=${{PORT%%[!0-9]*}}; break;; esac\n\
         done\ncat <&$SERVER >/dev/null &\n"
    )
}

/// Runs the blocks of a page; returns for each of its commands the exit status and what it printed.
fn session(harness: &Harness, blocks: &[Block], lines: &[&str]) -> Vec<(i32, String)> {
    let mut text = "trap 'kill $SERVERS 2>/dev/null' EXIT\n".to_owned();
    for block in blocks {
        match &block.kind {
            Kind::Run { .. } => {
                for (command, _) in commands(block, lines) {
                    text += &format!("{}printf '\\n{MARK}%s{MARK}' $?\n", script(&command));
                }
            }
            Kind::File(file) => {
                let body = lines[block.start..block.end].join("\n");
                text += &format!("mkdir -p \"$(dirname {file})\"; cat > {file} <<'{MARK}'\n{body}\n{MARK}\n");
            }
            Kind::Other { .. } => {}
        }
    }
    let printed = harness.session(&text);
    let mut rest = printed.as_str();
    let mut ended = Vec::new();
    while let Some((output, after)) = rest.split_once(MARK) {
        let (code, after) = after.split_once(MARK).expect("each mark has a second");
        ended.push((code.parse().expect("a status"), output.strip_suffix('\n').unwrap_or(output).to_owned()));
        rest = after;
    }
    ended
}

/// Lines with what differs from run to run taken out; reports of tasks that ran at the same time in one order.
fn comparable(harness: &Harness, lines: &[String]) -> Vec<String> {
    let text = harness.filtered(&lines.join("\n"));
    let text = jarvis_plan::pattern(r"127\.0\.0\.1:\d+").replace_all(&text, "127.0.0.1:[PORT]");
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    let report = |line: &String| line.contains(". ") && line.contains(" done with ") && line.ends_with("[MS]");
    for run in lines.chunk_by_mut(|one, other| report(one) && report(other)) {
        run.sort();
    }
    lines
}

/// Whether lines are as the page has them, where `…` stands for any.
fn matches(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any.trim() == "…" => {
            (0..=printed.len()).any(|skip| matches(rest, &printed[skip..]))
        }
        (Some((one, shown)), Some((other, printed))) => same(one, other) && matches(shown, printed),
        _ => false,
    }
}

/// Whether a line is as the page has it, where `…` stands for any characters.
fn same(shown: &str, printed: &str) -> bool {
    let mut rest = printed;
    let mut parts = shown.split('…').peekable();
    let mut first = true;
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let place = match (first, last) {
            (true, true) => (rest == part).then_some(0),
            (true, false) => rest.starts_with(part).then_some(0),
            (false, true) => rest.ends_with(part).then(|| rest.len() - part.len()),
            (false, false) => rest.find(part),
        };
        let Some(place) = place else { return false };
        rest = &rest[place + part.len()..];
        first = false;
    }
    true
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (entry, path) = (entry.as_ref().unwrap(), to.join(entry.as_ref().unwrap().file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &path),
            false => drop(std::fs::copy(entry.path(), path).unwrap()),
        }
    }
}

/// Runs every command of a page and compares what it prints.
#[allow(clippy::print_stdout, reason = "the report of a test that needs an installed program")]
fn check(page: &str) {
    let path = root().join(page);
    let written = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    let blocks = blocks(page, &lines);
    let run: Vec<&Block> = blocks.iter().filter(|block| matches!(block.kind, Kind::Run { .. })).collect();
    assert!(!run.is_empty(), "{page} has no command that is run");
    let used = blocks.iter().filter(|block| !matches!(block.kind, Kind::Other { .. }));
    let words = used.flat_map(|block| &lines[block.start..block.end]).copied().collect::<Vec<_>>().join(" ");
    for program in PROGRAMS {
        let known = Command::new(program).arg("--version").output().is_ok();
        if words.split(' ').any(|word| word == program) && !known {
            println!("skipped: {program} is not installed");
            return;
        }
    }
    let harness = Harness::new();
    // A copy, since commands write beside what they read.
    copy(&root().join("examples"), &harness.work().join("examples"));
    let mut ended = session(&harness, &blocks, &lines).into_iter();

    let mut now: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let mut differences = Vec::new();
    for block in run.iter().rev() {
        // From the last to the first, so that line numbers hold while lines are replaced.
        let asked = commands(block, &lines);
        let place = ended.len().checked_sub(asked.len());
        let place = place.unwrap_or_else(|| panic!("{page}:{}: the session ended early", block.start + 1));
        let printed: Vec<(i32, String)> = ended.clone().skip(place).collect();
        ended = ended.take(place).collect::<Vec<_>>().into_iter();
        let fails = printed.iter().any(|(code, _)| *code != 0);
        if fails != matches!(block.kind, Kind::Run { fails: true }) {
            differences.push(format!("{page}:{}: exit statuses and outputs {printed:?}", block.start + 1));
        }
        let mut body = Vec::new();
        for ((command, shown), (_, output)) in asked.iter().zip(&printed) {
            let output: Vec<String> = harness.readable(output).lines().map(|line| line.trim_end().to_owned()).collect();
            body.push(format!("$ {}", command.join("\n")));
            if matches(&comparable(&harness, shown), &comparable(&harness, &output)) {
                body.extend(shown.iter().cloned());
            } else {
                let (shown, output) = (shown.join("\n"), output.join("\n"));
                differences.push(format!("{page}:{}: `{}`:\n{shown}\n--- is now:\n{output}", block.start, command[0]));
                body.extend(output.lines().map(str::to_owned));
            }
        }
        let body = body.join("\n");
        let body = body.lines().map(|line| format!("{}{line}", block.indent).trim_end().to_owned());
        now.splice(block.start..block.end, body);
    }
    if std::env::var_os("JARVIS_UPDATE_DOCS").is_some() {
        std::fs::write(&path, now.join("\n") + "\n").unwrap();
    }
    differences.retain(|one| std::env::var_os("JARVIS_UPDATE_DOCS").is_none() || one.contains("exit statuses"));
    differences.reverse();
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

macro_rules! pages {
    ($($name:ident $page:literal)*) => {
        $(#[test] fn $name() { check($page); })*

        const PAGES: &[&str] = &[$($page),*];
    };
}

pages! {
    a2a_with_installed_programs "docs/a2a.md"
    approvals_with_installed_programs "docs/approvals.md"
    bench "docs/bench.md"
    documents "docs/documents.md"
    easytool "docs/easytool.md"
    evaluation "docs/evaluation.md"
    experience "docs/experience.md"
    install "docs/install.md"
    own_tools_with_installed_programs "docs/own-tools.md"
    readme "README.md"
    requests "docs/requests.md"
    taskbench "docs/taskbench.md"
    tutorial_with_installed_programs "docs/tutorial.md"
}

/// The pages of the site and the README.
fn pages(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            found.extend(pages(&path));
        } else if path.ends_with(".md") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_command_of_the_documentation_is_run_or_says_what_it_needs() {
    let mut with_commands = Vec::new();
    for page in pages("docs").into_iter().chain(["README.md".to_owned()]) {
        let written = std::fs::read_to_string(root().join(&page)).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        let blocks = blocks(&page, &lines);
        let hidden = blocks.iter().find(|block| matches!(block.kind, Kind::Other { commands: true }));
        // The generated pages show help, whose examples are commands.
        let hidden = hidden.filter(|_| !page.starts_with("docs/reference/"));
        assert!(
            hidden.is_none(),
            "{page}:{}: commands outside a block `console`",
            hidden.map_or(0, |block| block.start)
        );
        if blocks.iter().any(|block| matches!(block.kind, Kind::Run { .. })) {
            with_commands.push(page);
        }
    }
    with_commands.sort();
    let mut run: Vec<&str> = PAGES.to_vec();
    run.sort_unstable();
    assert_eq!(with_commands, run, "a page with commands is listed in this file, and no other is");
}
