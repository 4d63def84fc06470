//! The parts of a release that need no build.

use std::io::Read;

use super::archive::{Entry, tar};
use super::options::Options;
use super::{Release, build, sha256};

#[test]
fn the_command_line_is_read() {
    let check = |args: &[&str], want: Result<(usize, bool), &str>| {
        let read = Options::parse(args).map(|options| (options.targets.len(), options.check));
        match (read, want) {
            (Ok(read), Ok(want)) => assert_eq!(read, want, "{args:?}"),
            (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{args:?}: {error}"),
            (read, want) => panic!("{args:?}: {read:?} where {want:?} is expected"),
        }
    };
    check(&[], Ok((3, false)));
    let here = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    check(&["--check", "--target", &here], Ok((1, true)));
    check(&["--binary", "jarvis"], Ok((1, false)));
    check(&["--check", "--allow-skips"], Ok((3, true)));
    check(&["--allow-skips"], Err("`--allow-skips` is for `--check`"));
    check(&["--target"], Err("`--target` wants a value"));
    check(&["--target", "riscv"], Err("no release is made for `riscv`; one of x86_64-unknown-linux-musl,"));
    let other = if cfg!(target_arch = "aarch64") { "x86_64-unknown-linux-musl" } else { "aarch64-unknown-linux-musl" };
    check(&["--target", other], Err("none of the targets is for this machine's processor"));
    check(&["--fast"], Err("unknown argument `--fast`"));
    let two = ["--target", "x86_64-unknown-linux-gnu", "--target", "x86_64-unknown-linux-musl", "--binary", "jarvis"];
    check(&two, Err("for one target"));
}

#[test]
fn an_archive_is_equal_whatever_the_order_of_its_entries() {
    let entries =
        || [Entry::program("a/jarvis", "x"), Entry::file("a/man/jarvis.1", "y"), Entry::file("a/README.md", "z")];
    let mut turned = entries();
    turned.reverse();
    assert_eq!(tar(&entries(), 7).unwrap(), tar(&turned, 7).unwrap());
    assert_ne!(tar(&entries(), 7).unwrap(), tar(&entries(), 8).unwrap());

    let packed = tar(&entries(), 7).unwrap();
    let mut archive = tar::Archive::new(packed.as_slice());
    let listed: Vec<(String, u32, String)> = archive
        .entries()
        .unwrap()
        .map(|entry| {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            assert_eq!(entry.header().mtime().unwrap(), 7);
            (path, entry.header().mode().unwrap(), text)
        })
        .collect();
    let want = [
        ("a/", 0o755, ""),
        ("a/README.md", 0o644, "z"),
        ("a/jarvis", 0o755, "x"),
        ("a/man/", 0o755, ""),
        ("a/man/jarvis.1", 0o644, "y"),
    ];
    assert_eq!(listed, want.map(|(path, mode, text)| (path.to_owned(), mode, text.to_owned())));
}

#[test]
fn what_is_shipped_has_the_flags_of_every_build() {
    let folder = std::env::temp_dir().join(format!("jarvis-flags-{}", std::process::id()));
    std::fs::create_dir_all(folder.join(".cargo")).unwrap();
    let flags = |root: &std::path::Path| {
        let mut cargo = std::process::Command::new("cargo");
        build::reproducible(&mut cargo, root, &root.join("target"), "x86_64-unknown-linux-musl", 7)?;
        let given = cargo.get_envs().find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS").and_then(|(_, value)| value);
        let given = given.unwrap().to_str().unwrap();
        anyhow::Ok(given.split('\u{1f}').map(str::to_owned).collect::<Vec<_>>())
    };
    let check = |config: &str, want: Result<&[&str], &str>| {
        std::fs::write(folder.join(".cargo/config.toml"), config).unwrap();
        match (flags(&folder), want) {
            (Ok(given), Ok(want)) => {
                let given = given.iter().map(String::as_str).filter(|flag| flag.starts_with("-C"));
                assert_eq!(given.collect::<Vec<_>>(), [want, &["-Clink-self-contained=no"]].concat(), "{config}");
            }
            (Err(error), Err(want)) => assert!(error.to_string().contains(want), "{config}: {error}"),
            (given, want) => panic!("{config}: {given:?} where {want:?} is expected"),
        }
    };
    check("[build]\nrustflags = [\"-Cone\", \"-Ctwo=2\"]\n", Ok(&["-Cone", "-Ctwo=2"]));
    check("[env]\nX = \"1\"\n", Ok(&[]));
    check("[build]\nrustflags = \"-Cone\"\n", Err("build.rustflags is not a list"));
    check("[target.'cfg(unix)']\nrustflags = []\n", Err("flags by target"));
    std::fs::remove_dir_all(&folder).unwrap();
    // And those of this workspace can be read.
    flags(&crate::root().unwrap()).unwrap();
}

#[test]
fn a_hash_is_that_of_sha256sum() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn a_release_has_the_version_of_the_workspace() {
    let root = crate::root().unwrap();
    let release = Release::new(&root).unwrap();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(manifest.contains(&format!("version = \"{}\"", release.version)));
    assert!(release.epoch > 1_700_000_000);
}
