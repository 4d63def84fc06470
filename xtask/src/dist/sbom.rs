//! `jarvis.cdx.json`: the bill of materials in CycloneDX, of every crate that the shipped binary is made of.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::archive::read;
use super::toolchain::Tools;
use super::{Release, output};

const CYCLONEDX: (&str, &str) = ("cargo-cyclonedx", "0.5.9");

/// Writes the bill.
pub(super) fn write(release: &Release) -> Result<()> {
    let tools = Tools::ready(&release.root)?;
    tools.cargo_program(CYCLONEDX.0, CYCLONEDX.1)?;
    let mut cargo = Command::new("cargo");
    cargo
        .args(["cyclonedx", "--format", "json", "--spec-version", "1.5", "--describe", "binaries", "--no-build-deps"])
        .args(["--target", "x86_64-unknown-linux-musl", "--manifest-path", "crates/jarvis/Cargo.toml"])
        .env("PATH", tools.search_path()?)
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string())
        .current_dir(&release.root);
    output(&mut cargo)?;
    // It writes beside each manifest of the workspace.
    let written = release.root.join("crates/jarvis/jarvis_bin.cdx.json");
    let content = read(&written).context("cargo-cyclonedx wrote no bill")?;
    let mut bill: Value = serde_json::from_slice(&content).context("the bill is not JSON")?;
    // A number of its own for each run would make no two builds equal.
    if let Some(fields) = bill.as_object_mut() {
        fields.remove("serialNumber");
    }
    if bill.get("components").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        bail!("the bill of materials lists no crate");
    }
    let mut text = serde_json::to_vec_pretty(&bill)?;
    text.push(b'\n');
    release.publish("jarvis.cdx.json", &text)
}
