//! crates.io: publishes what its index does not have yet, so that a release that broke off goes on where it was.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use crate::steps::cargo;
use crate::tidy::Workspace;

/// Where each crate has a file with a line for each version.
const INDEX: &str = "https://index.crates.io";

/// Publishes the crates of a version; with `dry` only as far as that goes without a token.
pub(super) fn publish(root: &Path, version: &str, dry: bool) -> Result<()> {
    let names = Workspace::load(root)?.published();
    let (names, how): (_, &[&str]) = if dry {
        (names, &["publish", "--dry-run", "--allow-dirty"])
    } else {
        // Built from their packages by `cargo xtask crates`, where no build script sees a token.
        (missing(names, version, versions)?, &["publish", "--no-verify"])
    };
    if names.is_empty() {
        println!("nothing is left to publish");
        return Ok(());
    }
    let packages = names.iter().flat_map(|name| ["--package", name]);
    cargo(root, &[how, &packages.collect::<Vec<_>>()].concat())
}

/// The crates that have no such version yet; the others are told.
fn missing(names: Vec<String>, version: &str, versions: impl Fn(&str) -> Result<Vec<String>>) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    for name in names {
        if versions(&name)?.iter().any(|there| there == version) {
            println!("{name} {version} is there already");
        } else {
            missing.push(name);
        }
    }
    Ok(missing)
}

/// Every version of a crate, also those that were yanked: none of them can be published again.
fn versions(name: &str) -> Result<Vec<String>> {
    let url = format!("{INDEX}/{}", place(name));
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--show-error", "--location", "--retry", "3", "--max-time", "60"]);
    let output = curl.args(["--write-out", "\n%{http_code}", &url]).output().context("`curl` cannot start")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{url} cannot be asked which versions of {name} are there: {}\nhint: try again", said.trim());
    }
    answered(&url, &String::from_utf8_lossy(&output.stdout))
}

/// What the index says: a line of JSON for each version, and the status last.
fn answered(url: &str, answer: &str) -> Result<Vec<String>> {
    let (body, status) = answer.rsplit_once('\n').unwrap_or(("", answer));
    match status {
        "200" => {}
        // As cargo takes them: a crate that nobody published.
        "404" | "410" | "451" => return Ok(Vec::new()),
        other => bail!("{url} answered {other}, so it is not known which versions are there\nhint: try again"),
    }
    let version = |line: &str| {
        let line: Json = serde_json::from_str(line).with_context(|| format!("{url}: a line is not JSON"))?;
        line.get("vers")
            .and_then(Json::as_str)
            .map(str::to_owned)
            .with_context(|| format!("{url}: a line has no `vers`"))
    };
    body.lines().filter(|line| !line.trim().is_empty()).map(version).collect()
}

/// The file of a crate in the index.
fn place(name: &str) -> String {
    let name = name.to_lowercase();
    let part = |from: usize, to: usize| name.get(from..to).unwrap_or_default();
    match name.len() {
        1 => format!("1/{name}"),
        2 => format!("2/{name}"),
        3 => format!("3/{}/{name}", part(0, 1)),
        _ => format!("{}/{}/{name}", part(0, 2), part(2, 4)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_broke_off_goes_on_with_what_is_missing() {
        let index = |name: &str| match name {
            "a" => answered("u", "{\"vers\":\"0.0.9\"}\n{\"vers\":\"0.1.0\",\"yanked\":true}\n\n200"),
            "b" => answered("u", "{\"vers\":\"0.1.0-rc.1\"}\n200"),
            "c" => answered("u", "<html>not found</html>\n404"),
            _ => answered("u", "\n503"),
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let check = |all: &[&str]| missing(names(all), "0.1.0", index).map_err(|error| error.to_string());
        assert_eq!(check(&["a", "b", "c"]), Ok(names(&["b", "c"])));
        assert_eq!(check(&["a"]), Ok(Vec::new()));
        let unknown = check(&["a", "d"]).unwrap_err();
        assert!(unknown.starts_with("u answered 503, so it is not known which versions are there"), "{unknown}");
    }

    #[test]
    fn an_index_has_a_place_for_each_name() {
        for (name, expected) in [("a", "1/a"), ("ab", "2/ab"), ("Abc", "3/a/abc"), ("jarvis-plan", "ja/rv/jarvis-plan")]
        {
            assert_eq!(place(name), expected);
        }
    }
}
