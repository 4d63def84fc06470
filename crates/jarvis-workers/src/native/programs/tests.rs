//! Programs are stood in for by scripts.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// A folder with a script that stands for espeak-ng.
fn fake(script: &str) -> (tempfile::TempDir, Programs) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("espeak-ng");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let programs = Programs::find_in(folder.path().as_os_str());
    (folder, programs)
}

fn call(stdin: &[u8]) -> Call<'_> {
    Call { args: &["$(touch hacked)", "two words"], stdin, limit: 1000, timeout: Duration::from_secs(20) }
}

#[tokio::test]
async fn a_program_gets_its_arguments_and_its_text_as_they_are() {
    let (_folder, programs) = fake("printf '%s|' \"$@\"; cat");
    let written = programs.run(Program::EspeakNg, call("; ю".as_bytes())).await.unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), "$(touch hacked)|two words|; ю");
}

#[tokio::test]
async fn failures_are_told_apart() {
    let cases = [
        ("echo 'no such voice' >&2; exit 3", ErrorCode::Upstream, "`espeak-ng` failed: no such voice"),
        ("head -c 5000 /dev/zero", ErrorCode::TooLarge, "`espeak-ng` wrote more than 1000 bytes"),
    ];
    for (script, code, message) in cases {
        let (_folder, programs) = fake(script);
        let error = programs.run(Program::EspeakNg, call(b"")).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (code, message));
    }
    let (_folder, programs) = fake("exec sleep 600");
    let brief = Call { timeout: Duration::from_millis(50), ..call(b"") };
    let error = programs.run(Program::EspeakNg, brief).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Timeout);
}

#[tokio::test]
async fn a_program_that_does_not_read_is_no_deadlock() {
    let (_folder, programs) = fake("exec echo done");
    let text = vec![b'x'; 1 << 20];
    assert_eq!(programs.run(Program::EspeakNg, call(&text)).await.unwrap(), b"done\n");
}

#[test]
fn a_missing_program_says_how_to_get_it() {
    let error = Programs::none().path(Program::EspeakNg).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotConfigured);
    assert!(error.hint.unwrap().contains("apt-get install espeak-ng"));
    // Neither a folder that is not absolute nor a file that cannot be run counts.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tesseract"), "").unwrap();
    let path = std::env::join_paths([Path::new("."), folder.path()]).unwrap();
    assert!(Programs::find_in(&path).path(Program::Tesseract).is_err());
}
