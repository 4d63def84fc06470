//! A store that several machines share: a real S3 server on this machine, and ways in which one fails.

mod fail;

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jarvis_net::Secret;
use jarvis_plan::Kind;
use jarvis_testing::s3::{BUCKET, KEY, SECRET, Server};
use tempfile::TempDir;

use super::kept::files;
use super::word;
use crate::media::cache::Cache;
use crate::media::{Media, MediaError, StoreFault, StoreKeys, StoreSettings};

fn settings(address: &str) -> StoreSettings {
    let secret = |text| Secret::new(text).unwrap();
    StoreSettings {
        bucket: BUCKET.to_owned(),
        prefix: "shared/media".to_owned(),
        endpoint: Some(address.parse().unwrap()),
        region: "us-east-1".to_owned(),
        keys: StoreKeys { access: secret(KEY), secret: secret(SECRET), session: None },
        cache_bytes: 1 << 30,
        timeout: Duration::from_secs(30),
    }
}

/// A machine with a folder of its own.
fn machine(settings: &StoreSettings) -> (TempDir, Media) {
    let folder = tempfile::tempdir().unwrap();
    let media = Media::open(folder.path()).unwrap().with_store(settings).unwrap();
    (folder, media)
}

/// What is wrong with the store, or what came of the call otherwise.
fn fault<T>(result: &Result<T, MediaError>) -> Result<StoreFault, &'static str> {
    match result {
        Err(error @ MediaError::Store { fault, .. }) => {
            assert!(
                error.hint().is_some() && error.to_string().contains("s3://media/shared/media at http://127.0.0.1:")
            );
            Ok(*fault)
        }
        other => Err(word(other)),
    }
}

/// Bytes that compress to nothing else than what they are.
fn bytes(size: usize) -> Vec<u8> {
    (0..size as u64 / 8 + 1).flat_map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_le_bytes()).take(size).collect()
}

#[test]
fn what_comes_from_the_store_is_what_was_put_there() {
    let server = Server::start();
    let settings = settings(&server.address);
    let ((_a, here), (_b, there)) = (machine(&settings), machine(&settings));
    for size in [0, 1, (64 << 10) - 1, 64 << 10, (16 << 20) + 3] {
        let bytes = bytes(size);
        let path = here.create(Kind::Image, "png", &bytes).unwrap();
        assert!(!there.root().join(&path[1..]).exists());
        assert_eq!(there.read(&path, 1 << 30).unwrap(), bytes, "{size} bytes");
        assert_eq!(fs::read(there.root().join(&path[1..])).unwrap(), bytes, "it is in the folder from then on");
    }
    let mut incoming = there.incoming(Kind::Audio, Some("song.mp3"), "mp3").unwrap();
    bytes(1 << 20).chunks(7_000).for_each(|piece| incoming.write_all(piece).unwrap());
    let path = incoming.finish(&there).unwrap();
    assert_eq!(fs::read(here.disk_path(&path).unwrap()).unwrap(), bytes(1 << 20), "a path on the disk has its file");
    let (mut file, size) = here.open_file(&path).unwrap();
    let mut start = [0; 8];
    file.read_exact(&mut start).unwrap();
    assert_eq!((size, &start[..]), (1 << 20, &bytes(8)[..]));
    assert_eq!(there.keep(Kind::Audio, "song.mp3", "mp3", &bytes(1 << 20)).unwrap(), path, "a second time it is there");
}

#[test]
fn contents_are_in_the_store_once_and_as_long_as_a_name_needs_them() {
    let server = Server::start();
    let settings = settings(&server.address);
    let ((_a, here), (_b, there)) = (machine(&settings), machine(&settings));
    let first = here.create(Kind::Image, "png", b"the same").unwrap();
    let second = there.create(Kind::Image, "png", b"the same").unwrap();
    let contents = || files_under(&server.bucket().join("shared/media/sha256"));
    assert_eq!(contents(), 1);
    assert_eq!(there.read(&first, 100).unwrap(), b"the same");
    assert_eq!(files(&there, "sha256").len(), 1, "also on this machine");
    assert!(there.remove(&first).unwrap());
    assert_eq!(word(&there.read(&first, 100)), "not found");
    assert_eq!(contents(), 1);
    assert_eq!(machine(&settings).1.read(&second, 100).unwrap(), b"the same");
    assert!(here.remove(&second).unwrap(), "by a machine that never had it in its folder");
    assert_eq!(contents(), 0);
    assert_eq!(word(&machine(&settings).1.read(&second, 100)), "not found");
    assert!(!machine(&settings).1.remove(&second).unwrap());
}

/// How many files are under a folder.
fn files_under(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { files_under(&path) } else { 1 }).sum()
}

#[test]
fn names_that_no_medium_can_have_are_not_asked_for() {
    let server = Server::start();
    let (_folder, media) = machine(&settings(&server.address));
    for path in ["/images/mine.png", "/sha256/ab/cd", "/check", "/names/images/x.png", "/images/../../check"] {
        let _ = media.read(path, 100);
        let _ = media.disk_path(path);
    }
    assert_eq!(server.requests(), 0);
    assert_eq!(word(&media.read("/images/0123456789abcdef0123456789abcdef.png", 100)), "not found");
    assert_eq!(server.requests(), 1);
    let path = media.disk_path("/images/0123456789abcdef0123456789abcdef.png").unwrap();
    assert!(!path.exists() && path.starts_with(media.root()), "a path need not exist");
}

#[test]
fn damaged_content_of_the_store_is_not_taken() {
    let server = Server::start();
    let settings = settings(&server.address);
    let path = machine(&settings).1.create(Kind::Image, "png", b"as it should be").unwrap();
    let replace = |folder: &str, text: &str| {
        fn all(folder: &Path, text: &str) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { all(&path, text) } else { fs::write(&path, text).unwrap() }
            }
        }
        all(&server.bucket().join("shared/media").join(folder), text);
    };
    replace("sha256", "as it must not!");
    let (_folder, media) = machine(&settings);
    assert_eq!(fault(&media.read(&path, 100)), Ok(StoreFault::Damaged));
    assert_eq!(fault(&media.disk_path(&path)), Ok(StoreFault::Damaged));
    assert_eq!((files(&media, "images").len(), files(&media, "sha256").len()), (0, 0), "nothing of it is kept");
    replace("names", "no hash");
    assert_eq!(fault(&media.read(&path, 100)), Ok(StoreFault::Damaged));
    fs::remove_dir_all(server.bucket().join("shared/media/sha256")).unwrap();
    replace("names", "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8");
    assert_eq!(fault(&media.read(&path, 100)), Ok(StoreFault::Damaged), "a name without its content");
}

#[test]
fn the_folder_of_a_store_is_bounded_and_only_what_the_store_has_goes() {
    let server = Server::start();
    let settings = settings(&server.address);
    let folder = tempfile::tempdir().unwrap();
    let old = Media::open(folder.path()).unwrap().create(Kind::Image, "png", &bytes(50_000)).unwrap();
    let media = Media::open(folder.path()).unwrap().with_store(&settings).unwrap();
    let paths: Vec<String> =
        (0..5_u8).map(|at| media.create(Kind::Video, "mp4", &[vec![at], bytes(100_000)].concat()).unwrap()).collect();
    let now = SystemTime::now();
    let ago = |path: &str, hours: u64| {
        let file = fs::File::open(media.root().join(&path[1..])).unwrap();
        file.set_modified(now - Duration::from_secs(hours * 3600)).unwrap();
    };
    ago(&old, 100);
    paths.iter().zip([2, 50, 30, 40, 0]).for_each(|(path, hours)| ago(path, hours));
    // One that was used stays: it is looked up, or opened.
    media.disk_path(&paths[1]).unwrap();
    let shared = media.shared.clone().unwrap();
    let cache = Cache::new(media.dir.try_clone().unwrap(), Arc::clone(&shared), 400_000);
    assert_eq!(cache.sweep(now).unwrap(), 550_005 - 200_002);
    let here = |path: &String| media.root().join(&path[1..]).exists();
    assert_eq!(paths.iter().map(here).collect::<Vec<_>>(), [true, true, false, false, true]);
    assert!(here(&old), "the store does not have it");
    assert_eq!(media.read(&paths[3], 1 << 20).unwrap().len(), 100_001, "it is fetched again");
    let small = Arc::new(Cache::new(media.dir.try_clone().unwrap(), shared, 160));
    small.grew(0).expect("the first file has the folder looked through").join().unwrap();
    assert_eq!(paths.iter().map(here).collect::<Vec<_>>(), [false, true, false, true, true], "what is in use stays");
    assert!(here(&old) && small.grew(0).is_none(), "it is not looked through again before more has come");
}

#[test]
fn a_file_that_another_program_wrote_is_shared_too() {
    let server = Server::start();
    let settings = settings(&server.address);
    let (_folder, media) = machine(&settings);
    fs::write(media.root().join("images/1a2b.PNG"), "by a model server").unwrap();
    let path = media.adopt("public/images/1a2b.PNG", Kind::Image).unwrap();
    assert!(path.ends_with(".png"));
    assert_eq!(machine(&settings).1.read(&path, 100).unwrap(), b"by a model server");
    let (_folder, media) = super::media();
    fs::write(media.root().join("images/1a2b.PNG"), "by a model server").unwrap();
    assert_eq!(media.adopt("public/images/1a2b.PNG", Kind::Image).unwrap(), "/images/1a2b.PNG");
    assert_eq!(word(&media.adopt("../1a2b.PNG", Kind::Image)), "it leads upwards");
}

#[test]
fn calls_inside_of_a_runtime_and_many_at_once_are_served() {
    let server = Server::start();
    let settings = settings(&server.address);
    let path = machine(&settings).1.create(Kind::Image, "png", &bytes(100_000)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (_folder, media) = machine(&settings);
        media.check_writable().unwrap();
        assert_eq!(media.read(&path, 1 << 20).unwrap(), bytes(100_000));
    });
    let (_folder, media) = machine(&settings);
    let before = server.requests();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(media.read(&path, 1 << 20).unwrap(), bytes(100_000)));
        }
    });
    assert_eq!(server.requests() - before, 4, "it is fetched once: its name, its size, its bytes in two pieces");
}
