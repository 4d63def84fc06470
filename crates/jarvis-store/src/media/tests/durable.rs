//! What is given out is whole, also when the process that stored it is killed at any moment.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use jarvis_plan::Kind;

use super::kept::files;
use crate::media::Media;
use crate::media::content::ContentId;

/// The folder that the process to be killed writes to.
const FOLDER: &str = "JARVIS_TEST_MEDIA";

/// The bytes of the medium with a number; large enough to be cut.
fn bytes(number: u64) -> Vec<u8> {
    number.to_le_bytes().repeat(40_000)
}

/// Not a test: what the process does that is killed. It tells each display path when it has it.
#[test]
fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let media = Media::open(folder.as_ref()).unwrap();
    let mut out = std::io::stdout().lock();
    for number in 0.. {
        let path = match number % 2 {
            0 => media.create(Kind::Image, "png", &bytes(number)).unwrap(),
            _ => {
                let mut incoming = media.incoming(Kind::Video, Some("film"), "mp4").unwrap();
                incoming.write_all(&bytes(number)).unwrap();
                incoming.finish(&media).unwrap()
            }
        };
        writeln!(out, "\n{} {path}", ContentId::of(&bytes(number))).unwrap();
        out.flush().unwrap();
    }
}

#[test]
fn what_is_given_out_is_whole_after_any_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut told = HashMap::new();
    for kill_after in [1, 2, 3, 5, 8] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "media::tests::durable::writes_until_it_is_killed", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let told_now = lines.filter_map(|line| {
            let (content, path) = line.split_once(' ')?;
            Some((path.to_owned(), ContentId::parse(content)?))
        });
        told.extend(told_now.take(kill_after));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(told.len() >= 10, "{told:?}");
    let media = Media::open(folder.path()).unwrap();
    for (path, content) in &told {
        assert_eq!(ContentId::of(&media.read(path, 1 << 30).unwrap()), *content, "{path}");
    }
    // Nor is there half a file under a name that nobody was told.
    for (at, folder) in ["images", "videos"].into_iter().enumerate() {
        for name in files(&media, folder) {
            let found = media.read(&format!("/{folder}/{name}"), 1 << 30).unwrap();
            let number = u64::from_le_bytes(found[..8].try_into().unwrap());
            assert!(number % 2 == at as u64 && found == bytes(number), "/{folder}/{name}");
        }
    }
}
