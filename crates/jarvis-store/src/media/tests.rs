//! Paths that are good, paths that are not, and files behind them.

use jarvis_testing::rows;
use proptest::prelude::*;

use jarvis_plan::Kind;

use super::*;

const CASES: &str = include_str!("tests.json");

fn media() -> (tempfile::TempDir, Media) {
    let folder = tempfile::tempdir().unwrap();
    let media = Media::open(&folder.path().join("public")).unwrap();
    (folder, media)
}

/// A short word for what came of a call, so that tables stay readable.
fn word<T>(result: &Result<T, MediaError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(MediaError::Forbidden { reason, .. }) => reason,
        Err(MediaError::NotFound { .. }) => "not found",
        Err(MediaError::TooLarge { .. }) => "too large",
        Err(MediaError::Io { .. }) => "io",
        Err(MediaError::Store { .. }) => "store",
    }
}

#[test]
fn writes_of_one_file_share_a_display_form() {
    for (given, shown) in rows::<(String, String)>(CASES, "display") {
        let got = Media::display(&given);
        if shown == "control" {
            assert_eq!(word(&got), "it holds a control character", "{given:?}");
            continue;
        }
        let got = got.unwrap();
        assert_eq!(got, shown, "{given:?}");
        assert_eq!(Media::display(&got).unwrap(), got, "display form of {given:?} is stable");
    }
}

#[test]
fn paths_that_leave_are_refused_whatever_is_done_with_them() {
    let (_folder, media) = media();
    for (path, why) in rows::<(String, String)>(CASES, "refused") {
        assert_eq!(word(&Media::display(&path)), why, "display of {path:?}");
        assert_eq!(word(&media.read(&path, 100)), why, "read of {path:?}");
        assert_eq!(word(&media.disk_path(&path)), why, "disk path of {path:?}");
    }
}

#[test]
fn an_absolute_path_is_a_path_under_the_root() {
    let (_folder, media) = media();
    assert_eq!(media.disk_path("/etc/passwd").unwrap(), media.root().join("etc/passwd"));
    assert_eq!(word(&media.read("/etc/passwd", 1 << 20)), "not found");
}

#[test]
fn what_is_stored_can_be_read_by_every_writing_of_its_path() {
    let (_folder, media) = media();
    for (kind, extension, start) in [
        (Kind::Image, "png", "/images/"),
        (Kind::Audio, "FLAC", "/audios/"),
        (Kind::Video, "mp4", "/videos/"),
        (Kind::Image, "7z", "/images/"),
    ] {
        let path = media.create(kind, extension, b"bytes").unwrap();
        let name = path.strip_prefix(start).unwrap();
        let (stem, ending) = name.split_once('.').unwrap();
        assert_eq!((stem.len(), ending), (32, extension.to_lowercase().as_str()));
        assert!(stem.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(Media::display(&path).unwrap(), path);
        for writing in [path.clone(), format!("public{path}"), path.replace('/', "%2F"), path[1..].to_owned()] {
            assert_eq!(media.read(&writing, 5).unwrap(), b"bytes", "{writing}");
        }
        assert_eq!(std::fs::read(media.disk_path(&path).unwrap()).unwrap(), b"bytes");
    }
    let names: Vec<_> =
        std::fs::read_dir(media.root().join("images")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "no half-written file stays: {names:?}");
}

#[test]
fn only_media_with_plain_extensions_are_stored() {
    let (_folder, media) = media();
    let extension = "an extension is one to five letters or digits";
    for (kind, given, why) in [
        (Kind::Text, "txt", "texts are not kept as files"),
        (Kind::Json, "", extension),
        (Kind::Image, "", extension),
        (Kind::Image, ".png", extension),
        (Kind::Image, "tar.gz", extension),
        (Kind::Image, "toolong", extension),
        (Kind::Image, "/../x", extension),
        (Kind::Image, "p\0g", extension),
        (Kind::Image, "пнг", extension),
    ] {
        assert_eq!(word(&media.create(kind, given, b"x")), why, "{given:?}");
    }
}

#[test]
fn limits_hold_and_folders_are_not_files() {
    let (_folder, media) = media();
    let path = media.create(Kind::Image, "png", &[7; 100]).unwrap();
    let empty = media.create(Kind::Image, "png", &[]).unwrap();
    for (path, limit, want) in [
        (path.as_str(), 100, "ok"),
        (path.as_str(), 99, "too large"),
        (path.as_str(), u64::MAX, "ok"),
        (empty.as_str(), 0, "ok"),
        ("/images", 100, "it is not a file"),
        ("/images/none.png", 100, "not found"),
        ("/none/none.png", 100, "not found"),
    ] {
        assert_eq!(word(&media.read(path, limit)), want, "{path} within {limit}");
    }
    let below = format!("{path}/x.png");
    assert_eq!(word(&media.read(&below, 100)), "not found", "a name below a file");
}

#[test]
fn opening_again_keeps_what_is_there() {
    let (folder, media) = media();
    let path = media.create(Kind::Image, "png", b"kept").unwrap();
    drop(media);
    let media = Media::open(&folder.path().join("public")).unwrap();
    assert_eq!(media.read(&path, 10).unwrap(), b"kept");
}

#[test]
fn a_folder_that_many_make_at_once_is_there_for_all() {
    const AT_ONCE: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    let start = std::sync::Barrier::new(AT_ONCE);
    // What fails is looked at afterwards: the others wait for whoever panics.
    let stored = || -> Vec<Result<String, MediaError>> {
        let store = |round: usize| {
            start.wait();
            Media::open(&folder.path().join(format!("{round}/public")))?.create(Kind::Image, "png", b"the same")
        };
        (0..20).map(store).collect()
    };
    let stored: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(stored)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(stored.len(), 20 * AT_ONCE);
    let failed: Vec<_> = stored.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[cfg(unix)]
#[test]
fn links_that_lead_outside_are_refused() {
    use std::os::unix::fs::symlink;

    let (folder, media) = media();
    std::fs::write(folder.path().join("secret"), b"secret").unwrap();
    let inside = media.create(Kind::Image, "png", b"inside").unwrap();
    let images = media.root().join("images");
    symlink(folder.path().join("secret"), images.join("absolute.png")).unwrap();
    symlink("../../secret", images.join("relative.png")).unwrap();
    symlink("../../missing", images.join("dangling.png")).unwrap();
    symlink(folder.path(), images.join("folder")).unwrap();
    symlink(media.disk_path(&inside).unwrap().file_name().unwrap(), images.join("good.png")).unwrap();
    let refused = "a link on it leads outside";
    for (path, want) in [
        ("/images/absolute.png", refused),
        ("/images/relative.png", refused),
        ("/images/dangling.png", refused),
        ("/images/folder/secret", refused),
        ("/images/folder/public/images/x.png", refused),
        ("/images/good.png", "ok"),
    ] {
        assert_eq!(word(&media.read(path, 100)), want, "read of {path}");
        assert_eq!(word(&media.disk_path(path)), want, "disk path of {path}");
    }
    // A folder swapped for a link after opening is no way out either.
    std::fs::rename(media.root().join("videos"), media.root().join("moved")).unwrap();
    symlink(folder.path(), media.root().join("videos")).unwrap();
    assert_eq!(word(&media.create(Kind::Video, "mp4", b"x")), refused);
    assert_eq!(word(&Media::open(media.root())), refused);
}

/// Pieces that path tricks are made of, and anything else.
fn tricky_path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "..", ".", "/", "//", "\\", "%2e", "%2f", "%5c", "%00", "%25", "%", "C:", "public", "public/", "images",
            "images/", "link", "link/", "secret", "~", " ", "\0", "\n", "etc/passwd", "\u{202e}", "．．", "∕",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_string_resolves_outside_the_root(path in tricky_path()) {
        if let Ok(shown) = Media::display(&path) {
            prop_assert_eq!(Media::display(&shown).unwrap(), shown.clone());
            prop_assert!(shown.starts_with('/') && !shown.contains('\\') && !shown.contains('\0'));
            prop_assert!(shown.split('/').skip(1).all(|name| !name.is_empty() && name != ".." && name != "."));
            let joined = Path::new("/root").join(&shown[1..]);
            prop_assert!(joined.starts_with("/root"));
            prop_assert!(joined.components().all(|part| !matches!(part, std::path::Component::ParentDir)));
        }
    }
}

#[cfg(unix)]
#[test]
fn no_string_reads_a_file_outside_the_root() {
    let (folder, media) = media();
    std::fs::write(folder.path().join("secret"), b"outside").unwrap();
    std::os::unix::fs::symlink(folder.path(), media.root().join("link")).unwrap();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    runner
        .run(&tricky_path(), |path| {
            prop_assert!(media.read(&path, 1 << 20).is_err(), "there is no file to read inside, yet {path:?} gave one");
            Ok(())
        })
        .unwrap();
}

#[cfg(unix)]
#[test]
fn folders_that_are_made_are_private_and_others_stay_as_they_are() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let there = folder.path().join("there");
    std::fs::create_dir_all(there.join("images")).unwrap();
    for path in [&there, &there.join("images")] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    Media::open(&there).unwrap();
    Media::open(&folder.path().join("new/public")).unwrap();
    for (path, want) in [
        ("there", 0o755),
        ("there/images", 0o755),
        ("there/audios", 0o700),
        ("new", 0o700),
        ("new/public", 0o700),
        ("new/public/images", 0o700),
        ("new/public/videos", 0o700),
    ] {
        assert_eq!(mode(&folder.path().join(path)), want, "{path}");
    }
}

#[test]
fn what_came_from_outside_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let media = Media::open(folder.path()).unwrap();
    let keep = |name: &str, extension: &str, bytes: &[u8]| media.keep(Kind::Image, name, extension, bytes).unwrap();
    let first = keep("a", "PNG", b"a picture");
    assert_eq!(keep("a", "png", b"a picture"), first);
    for other in [keep("b", "png", b"a picture"), keep("a", "jpg", b"a picture"), keep("a", "png", b"another")] {
        assert_ne!(other, first);
    }
    assert_eq!(media.read(&first, 100).unwrap(), b"a picture");
    assert_eq!(std::fs::read_dir(folder.path().join("images")).unwrap().count(), 4, "and no parts");
    assert!(media.keep(Kind::Text, "a", "txt", b"").is_err() && media.keep(Kind::Image, "a", "../x", b"").is_err());
}

mod durable;
mod kept;
#[cfg(feature = "s3")]
mod store;
