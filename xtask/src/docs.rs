//! The documentation as a site: `docs/` built by mdBook into target/site, and the links of the site and of the Markdown files checked.

use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{doors, steps, tidy};

/// Rewrites what commands print in the pages, the generated pages and the table of keys.
///
/// # Errors
/// When a page cannot be brought up to date.
pub(crate) fn update(root: &Path) -> Result<()> {
    let update = [("JARVIS_UPDATE_DOCS", Path::new("1"))];
    let it = ["test", "--package=jarvis", steps::FEATURES, "--test=it", "--", "site::", "reference::"];
    steps::cargo_with(root, &it, update)?;
    let keys = ["test", "--package=jarvis", steps::FEATURES, "--bin=jarvis", "configuration_reference"];
    steps::cargo_with(root, &keys, update)
}

/// Builds the site and checks its links; external ones are not fetched.
///
/// # Errors
/// When a page is not in SUMMARY.md, mdBook complains, or a link leads nowhere.
pub(crate) fn build(root: &Path) -> Result<()> {
    doors::python_environment(root)?;
    let tool = |name: &str| root.join("target/python/bin").join(name);
    let book = root.join("target/book");
    let site = root.join("target/site");
    for folder in [&book, &site] {
        if folder.exists() {
            std::fs::remove_dir_all(folder).with_context(|| format!("{} cannot be removed", folder.display()))?;
        }
    }
    let settings = tidy::read(root, "book.toml")?;
    write(&book.join("book.toml"), settings.as_bytes())?;
    let settings: toml::Table = toml::from_str(&settings).context("book.toml is not valid")?;
    let repository = settings.get("output").and_then(|output| output.get("html"));
    let repository = repository.and_then(|html| html.get("git-repository-url")).and_then(toml::Value::as_str);
    let repository = repository.context("book.toml has no `output.html.git-repository-url`")?;
    let pages = stage(root, &book, repository)?;

    doors::quiet(Command::new(tool("mdbook")).arg("build").arg(&book).arg("--dest-dir").arg(&site))?;
    // A pattern that no file matches has no broken link.
    if !site.join("tutorial.html").is_file() {
        bail!("mdBook built no {}", site.join("tutorial.html").display());
    }
    links(root, &tool("lychee"), &site, "target/site/**/*.html")?;
    for files in ["*.md", "docs/**/*.md", "crates/*/*.md", "web/*.md", "examples/**/*.md"] {
        links(root, &tool("lychee"), root, files)?;
    }
    println!("docs: {pages} pages in target/site, links checked");
    Ok(())
}

/// Copies `docs/` with links to files outside of it turned into links to the repository; returns how many pages there are.
fn stage(root: &Path, book: &Path, repository: &str) -> Result<usize> {
    let mut pages = 0;
    let mut folders = vec![PathBuf::from("docs")];
    let summary = tidy::read(root, "docs/SUMMARY.md")?;
    while let Some(folder) = folders.pop() {
        let at = root.join(&folder);
        for entry in at.read_dir().with_context(|| format!("{} cannot be listed", at.display()))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let page = path.strip_prefix("docs").unwrap_or(&path).to_string_lossy().replace('\\', "/");
                if page != "SUMMARY.md" && !summary.contains(&format!("({page})")) {
                    bail!("docs/{page} is not in docs/SUMMARY.md, so the site would not have it");
                }
                let text = tidy::read(root, &path.to_string_lossy())?;
                write(&book.join(&path), rewrite(root, &folder, &text, repository)?.as_bytes())?;
                pages += usize::from(page != "SUMMARY.md");
            } else {
                let bytes =
                    std::fs::read(root.join(&path)).with_context(|| format!("{} cannot be read", path.display()))?;
                write(&book.join(&path), &bytes)?;
            }
        }
    }
    Ok(pages)
}

/// A page with its links out of `docs/` turned into links to the repository.
fn rewrite(root: &Path, folder: &Path, text: &str, repository: &str) -> Result<String> {
    let mut parts = text.split("](");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        page += "](";
        let target = part.split([')', '#', ' ', '\n']).next().unwrap_or_default();
        let path = normal(&folder.join(target));
        let outside = target.starts_with("../") && !path.starts_with("docs");
        if !outside {
            page += part;
            continue;
        }
        let kind = match std::fs::metadata(root.join(&path)) {
            Ok(found) if found.is_dir() => "tree",
            Ok(_) => "blob",
            Err(_) => bail!("a page in {} links to {target}, which is not in the repository", folder.display()),
        };
        let path = path.to_string_lossy().replace('\\', "/");
        page += &format!("{repository}/{kind}/main/{path}{}", part.strip_prefix(target).unwrap_or_default());
    }
    Ok(page)
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

/// Checks the links within files, anchors too.
fn links(root: &Path, lychee: &Path, site: &Path, files: &str) -> Result<()> {
    let mut command = Command::new(lychee);
    command.args(["--offline", "--include-fragments", "--no-progress", "--root-dir"]).arg(site).arg(files);
    doors::quiet(command.current_dir(root)).map(drop).with_context(|| format!("a link of {files} leads nowhere"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    std::fs::write(path, bytes).with_context(|| format!("{} cannot be written", path.display()))
}
