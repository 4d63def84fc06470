//! The image: its layout by digests, its user, and a run in a root of its own. No container engine is needed.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use serde_json::Value;

use super::place::{PATH, Place, Root, expect, succeeds};
use crate::dist::archive::runs_here;
use crate::dist::{Release, sha256};

pub(super) fn check(release: &Release) -> Result<()> {
    let binary = runs_here(release)?;
    if !binary.target.is_static {
        println!("  none was made: it holds a static binary");
        return Ok(());
    }
    let layout = release.out.join("oci");
    let index: Value = serde_json::from_slice(&fs::read(layout.join("index.json"))?)?;
    // What takes one image from a layout wants one name in it.
    let named = index.get("manifests").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let [named] = named else { bail!("the layout has {} names where one is expected", named.len()) };
    let images: Value = serde_json::from_slice(&blob(&layout, named)?)?;
    let manifests = images.get("manifests").and_then(Value::as_array).context("the index has no manifests")?;
    for described in manifests {
        let manifest = blob(&layout, described)?;
        let manifest: Value = serde_json::from_slice(&manifest)?;
        let config = blob(&layout, manifest.get("config").context("no config")?)?;
        let config: Value = serde_json::from_slice(&config)?;
        let layer = blob(&layout, manifest.pointer("/layers/0").context("no layer")?)?;
        let mut files = Vec::new();
        GzDecoder::new(layer.as_slice()).read_to_end(&mut files)?;
        let diff = config.pointer("/rootfs/diff_ids/0").and_then(Value::as_str).unwrap_or_default();
        expect(diff == format!("sha256:{}", sha256(&files)), || "a layer differs from its diff id".to_owned())?;
        let user = config.pointer("/config/User").and_then(Value::as_str).unwrap_or_default();
        expect(!user.is_empty() && !user.starts_with('0'), || format!("the image runs as {user:?}"))?;
        if described.pointer("/platform/architecture").and_then(Value::as_str) == Some(binary.target.debian) {
            run(release, &files, &config)?;
        }
    }
    Ok(())
}

/// A blob, whose size and digest must be as described.
fn blob(layout: &Path, described: &Value) -> Result<Vec<u8>> {
    let digest = described.get("digest").and_then(Value::as_str).context("no digest")?;
    let hex = digest.strip_prefix("sha256:").context("not a SHA-256")?;
    let content = fs::read(layout.join("blobs/sha256").join(hex))?;
    expect(sha256(&content) == hex, || format!("a blob differs from {digest}"))?;
    let size = described.get("size").and_then(Value::as_u64);
    expect(size == Some(content.len() as u64), || format!("the size of {digest} is another one"))?;
    Ok(content)
}

/// Starts the image as an engine would: its environment, its user, its command, nothing else in the root.
fn run(release: &Release, files: &[u8], config: &Value) -> Result<()> {
    let Some(root_user) = Root::of(release, "a run of the image") else { return Ok(()) };
    let place = Place::new(release, "image")?;
    let root = place.folder.join("root");
    // Every engine mounts it; in a mount namespace, so that it ends with the program.
    let proc = root.join("proc");
    fs::create_dir_all(&proc)?;
    if release.trial {
        super::place::libraries(&runs_here(release)?.path, &root)?;
    }
    let layer = place.folder.join("layer.tar");
    fs::write(&layer, files)?;
    let mut tar = root_user.command(&[("PATH", PATH)], "tar");
    tar.args(["--extract", "--preserve-permissions", "--same-owner", "--numeric-owner", "--file"]).arg(&layer);
    succeeds(tar.arg("--directory").arg(&root)).context("the layer cannot be unpacked")?;
    let [unshare, chroot] = ["unshare", "chroot"].map(which::which);
    let (unshare, chroot) = (unshare.context("unshare is not installed")?, chroot.context("chroot is not installed")?);
    let environment = config.pointer("/config/Env").and_then(Value::as_array).into_iter().flatten();
    let environment: Vec<_> = environment.filter_map(|line| line.as_str()?.split_once('=')).collect();
    let command = |args: &[&str]| {
        let mut command = root_user.command(&environment, &unshare);
        command.arg(format!("--mount-proc={}", proc.display()));
        command.arg(&chroot);
        command.arg("--userspec=65532:65532").arg(&root).arg("/jarvis").args(args);
        command
    };
    let version = succeeds(&mut command(&["--version"]))?;
    expect(version.trim() == format!("jarvis {}", release.version), || format!("--version printed {version:?}"))?;
    let answer = succeeds(&mut command(&["run", "--offline", "tell the mood of: what a lovely day"]))?;
    expect(answer.to_lowercase().contains("positive"), || format!("an offline run answered {answer:?}"))?;
    let test: Vec<&str> = config
        .pointer("/config/Healthcheck/Test")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .skip(2)
        .collect();
    // Without a server the health check must fail, or it would always pass.
    let nothing = command(&test).arg("http://127.0.0.1:1").output()?;
    expect(!nothing.status.success(), || "the health check passes without a server".to_owned())?;
    let mut server =
        command(&["serve", "--http", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let healthy = address(&mut server).and_then(|address| {
        let mut health = command(&test);
        succeeds(health.arg(address))
    });
    root_user.end(&mut server)?;
    healthy.context("the health check fails beside a server")?;
    Ok(())
}

/// The address that a server prints.
fn address(server: &mut std::process::Child) -> Result<String> {
    let stderr = server.stderr.take().context("no stderr")?;
    for line in BufReader::new(stderr).lines() {
        let line = line?;
        if let Some(start) = line.find("http://") {
            let rest = line.get(start..).unwrap_or_default();
            return Ok(rest
                .split(|c: char| c.is_whitespace() || c == '`')
                .next()
                .unwrap_or(rest)
                .trim_end_matches('/')
                .to_owned());
        }
    }
    Err(anyhow::anyhow!("the server printed no address"))
}
