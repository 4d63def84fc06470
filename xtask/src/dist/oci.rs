//! `jarvis-oci.tar`: an image from scratch with nothing but the static binary, certificates and a user. An OCI image layout
//! (`podman load`, `skopeo copy oci-archive:jarvis-oci.tar docker://…`), one manifest for each processor.

use std::fs;

use anyhow::{Context, Result};
use base64::Engine;
use serde_json::{Value, json};

use super::archive::{Entry, append, gzip, read};
use super::{Binary, Release, sha256};

/// The name that the image is loaded and pushed by.
pub(crate) const IMAGE: &str = "ghcr.io/jarvis-run/jarvis";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// Nobody in particular, as in other images from scratch.
const USER: &str = "65532:65532";

const PASSWD: &str = "root:x:0:0:root:/:/sbin/nologin\njarvis:x:65532:65532:jarvis:/data:/sbin/nologin\n";
const GROUP: &str = "root:x:0:\njarvis:x:65532:\n";

/// Writes the layout as a folder (`oci/`) and as an archive of it.
pub(super) fn write(release: &Release) -> Result<()> {
    let mut layout = Layout::default();
    let mut manifests = Vec::new();
    for binary in release.binaries.iter().filter(|binary| binary.target.is_static) {
        manifests.push(image(release, binary, &mut layout)?);
    }
    if manifests.is_empty() {
        return Ok(());
    }
    // One name that leads to the image of each processor, so that tools which take one image take all of it.
    let images = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
    let mut named = layout.blob(INDEX, serde_json::to_vec(&images)?);
    if let Some(fields) = named.as_object_mut() {
        let name = format!("{IMAGE}:{}", release.version);
        fields.insert("annotations".into(), json!({"org.opencontainers.image.ref.name": name}));
    }
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [named]});
    let mut entries = layout.entries;
    entries.push(Entry::file("index.json", pretty(&index)?));
    entries.push(Entry::file("oci-layout", r#"{"imageLayoutVersion":"1.0.0"}"#));
    let folder = release.out.join("oci");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    for entry in &entries {
        let path = folder.join(&entry.path);
        let parent = path.parent().context("an entry without a folder")?;
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        fs::write(&path, &entry.content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    release.publish("jarvis-oci.tar", &super::archive::tar(&entries, release.epoch)?)
}

/// The blobs of the layout.
#[derive(Default)]
struct Layout {
    entries: Vec<Entry>,
}

impl Layout {
    /// Adds a blob and describes it.
    fn blob(&mut self, media_type: &str, content: Vec<u8>) -> Value {
        let digest = sha256(&content);
        let described = json!({"mediaType": media_type, "digest": format!("sha256:{digest}"), "size": content.len()});
        self.entries.push(Entry::file(format!("blobs/sha256/{digest}"), content));
        described
    }
}

/// Adds the image of one binary and describes its manifest.
fn image(release: &Release, binary: &Binary, layout: &mut Layout) -> Result<Value> {
    let files = root(release, binary)?;
    let diff = format!("sha256:{}", sha256(&files));
    let layer = layout.blob("application/vnd.oci.image.layer.v1.tar+gzip", gzip(release, &files)?);
    let created = timestamp(release.epoch);
    let labels = json!({
        "org.opencontainers.image.title": "jarvis",
        "org.opencontainers.image.version": release.version,
        "org.opencontainers.image.source": super::REPOSITORY,
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
    });
    let config = json!({
        "created": created,
        "architecture": binary.target.debian,
        "os": "linux",
        "config": {
            "User": USER,
            "ExposedPorts": {"8004/tcp": {}, "50051/tcp": {}},
            "Env": [
                "HOME=/data",
                "JARVIS_DATA_DIR=/data",
                "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
                "MIMALLOC_PURGE_DELAY=0",
            ],
            "Entrypoint": ["/jarvis"],
            "Cmd": ["serve", "--http", "0.0.0.0:8004"],
            "Volumes": {"/data": {}},
            "WorkingDir": "/data",
            "Labels": labels,
            "StopSignal": "SIGTERM",
            // Docker's own addition, which others ignore: 30 s, in nanoseconds.
            "Healthcheck": {
                "Test": ["CMD", "/jarvis", "health"],
                "Interval": 30_000_000_000_u64,
                "Timeout": 5_000_000_000_u64,
                "StartPeriod": 5_000_000_000_u64,
                "Retries": 3,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [diff]},
        "history": [{"created": created, "created_by": "cargo xtask dist"}],
    });
    let config = layout.blob("application/vnd.oci.image.config.v1+json", serde_json::to_vec(&config)?);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [layer],
        "annotations": labels,
    });
    let mut described = layout.blob("application/vnd.oci.image.manifest.v1+json", serde_json::to_vec(&manifest)?);
    if let Some(fields) = described.as_object_mut() {
        fields.insert("platform".into(), json!({"architecture": binary.target.debian, "os": "linux"}));
    }
    Ok(described)
}

/// The files of the image. `/data` is the user's, `/tmp` everyone's.
fn root(release: &Release, binary: &Binary) -> Result<Vec<u8>> {
    use tar::EntryType::{Directory, Regular};

    let mut builder = tar::Builder::new(Vec::new());
    let epoch = release.epoch;
    for (path, mode) in [("etc/", 0o755), ("etc/ssl/", 0o755), ("etc/ssl/certs/", 0o755), ("tmp/", 0o1777)] {
        append(&mut builder, path, Directory, mode, epoch, &[])?;
    }
    append(&mut builder, "etc/passwd", Regular, 0o644, epoch, PASSWD.as_bytes())?;
    append(&mut builder, "etc/group", Regular, 0o644, epoch, GROUP.as_bytes())?;
    append(&mut builder, "etc/ssl/certs/ca-certificates.crt", Regular, 0o644, epoch, certificates().as_bytes())?;
    append(&mut builder, "jarvis", Regular, 0o755, epoch, &read(&binary.path)?)?;
    let mut data = tar::Header::new_ustar();
    data.set_entry_type(Directory);
    data.set_mode(0o700);
    data.set_mtime(epoch);
    data.set_uid(65532);
    data.set_gid(65532);
    data.set_size(0);
    builder.append_data(&mut data, "data/", std::io::empty())?;
    Ok(builder.into_inner()?)
}

/// Mozilla's certificates, as the file that TLS clients read.
fn certificates() -> String {
    let mut text = String::new();
    for certificate in webpki_root_certs::TLS_SERVER_ROOT_CERTS {
        let encoded = base64::engine::general_purpose::STANDARD.encode(certificate);
        text.push_str("-----BEGIN CERTIFICATE-----\n");
        for line in encoded.as_bytes().chunks(64) {
            text.push_str(&String::from_utf8_lossy(line));
            text.push('\n');
        }
        text.push_str("-----END CERTIFICATE-----\n");
    }
    text
}

fn pretty(value: &Value) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec_pretty(value)?)
}

/// Seconds since 1970 as RFC 3339.
fn timestamp(epoch: u64) -> String {
    humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + std::time::Duration::from_secs(epoch)).to_string()
}
