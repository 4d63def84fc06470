//! Contents and their names: kept once, found in folders of older versions, removed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jarvis_plan::Kind;

use super::{media, word};
use crate::media::Media;

/// The names of the files under a folder of the public root, those of folders in it too.
pub(super) fn files(media: &Media, folder: &str) -> Vec<String> {
    fn add(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => add(&path, found),
                false => found.push(path.file_name().unwrap().to_string_lossy().into_owned()),
            }
        }
    }
    let mut found = Vec::new();
    add(&media.root().join(folder), &mut found);
    found.sort();
    found
}

#[cfg(unix)]
#[test]
fn one_content_has_many_names() {
    use std::os::unix::fs::MetadataExt;

    let (_folder, media) = media();
    let paths = [
        media.create(Kind::Image, "png", b"the same").unwrap(),
        media.create(Kind::Image, "png", b"the same").unwrap(),
        media.keep(Kind::Video, "film.mp4", "mp4", b"the same").unwrap(),
    ];
    let other = media.create(Kind::Image, "png", b"another").unwrap();
    let node = |path: &str| fs::metadata(media.disk_path(path).unwrap()).unwrap().ino();
    assert!(paths.iter().all(|path| node(path) == node(&paths[0])) && node(&other) != node(&paths[0]));
    assert_eq!(files(&media, "sha256").len(), 2);
    let [first, second, third] = &paths;
    for (gone, left) in [(first, 2), (second, 2), (third, 1)] {
        assert_eq!(media.read(gone, 100).unwrap(), b"the same", "{gone}");
        assert!(media.remove(gone).unwrap());
        assert_eq!(word(&media.read(gone, 100)), "not found");
        assert!(!media.remove(gone).unwrap(), "a second time there is nothing to remove");
        assert_eq!(files(&media, "sha256").len(), left, "after {gone}");
    }
    assert_eq!(media.read(&other, 100).unwrap(), b"another");
}

#[test]
fn a_folder_of_an_older_version_goes_on_working() {
    let folder = tempfile::tempdir().unwrap();
    // A file that a task made, one that was given as `a`, one that a person put there, and what a power cut left.
    let (made, mine) = ("/audios/0123456789abcdef0123456789abcdef.wav", "/images/mine.png");
    let given = "/images/9c7bce0c551380bbce5f2c44b86b50f8.png";
    for (path, bytes) in [(made, "a sound"), (given, "a picture"), (mine, "my own")] {
        let file = folder.path().join(&path[1..]);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    fs::write(folder.path().join("images/.ab.part"), "half").unwrap();

    let media = Media::open(folder.path()).unwrap();
    assert_eq!(media.read(made, 100).unwrap(), b"a sound");
    assert_eq!(media.read(mine, 100).unwrap(), b"my own");
    assert_eq!(fs::read(media.disk_path(made).unwrap()).unwrap(), b"a sound");
    assert_eq!(media.keep(Kind::Image, "a", "png", b"a picture").unwrap(), given, "it is known again");
    fs::write(media.disk_path(given).unwrap(), "a pict").unwrap();
    assert_eq!(media.keep(Kind::Image, "a", "png", b"a picture").unwrap(), given);
    assert_eq!(media.read(given, 100).unwrap(), b"a picture", "it was cut by a power cut, and is given again");
    let copy = media.create(Kind::Audio, "wav", b"a sound").unwrap();
    assert!(media.remove(made).unwrap());
    assert_eq!(word(&media.read(made, 100)), "not found");
    assert_eq!(media.read(&copy, 100).unwrap(), b"a sound");
    assert_eq!(word(&media.remove(mine)), "it is not that of a medium which jarvis stored");
}

#[test]
fn what_arrives_in_pieces_is_stored_like_what_arrives_whole() {
    let (_folder, media) = media();
    let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let arrive = |own_name| {
        let mut incoming = media.incoming(Kind::Video, own_name, "MP4").unwrap();
        bytes.chunks(4099).for_each(|piece| incoming.write_all(piece).unwrap());
        incoming
    };
    let whole = media.keep(Kind::Video, "film.mp4", "mp4", &bytes).unwrap();
    assert_eq!(arrive(Some("film.mp4")).finish(&media).unwrap(), whole);
    let other = arrive(None).finish(&media).unwrap();
    assert_ne!(other, whole);
    assert_eq!(media.read(&other, 1 << 20).unwrap(), bytes);
    drop(arrive(Some("left.mp4")));
    drop(arrive(None));
    assert_eq!(files(&media, "videos").len(), 2);
    if cfg!(unix) {
        assert_eq!(files(&media, "sha256").len(), 1, "kept once, and no parts are left");
    }
    assert_eq!(word(&media.incoming(Kind::Text, None, "txt")), "texts are not kept as files");
    assert_eq!(word(&media.incoming(Kind::Image, Some("a"), "../x")), "an extension is one to five letters or digits");
}

#[test]
fn damaged_content_is_not_used_again() {
    let (_folder, media) = media();
    let first = media.create(Kind::Image, "png", b"as it should be").unwrap();
    let content = media.root().join("sha256");
    for entry in fs::read_dir(&content).unwrap() {
        for file in fs::read_dir(entry.unwrap().path()).unwrap() {
            let file = file.unwrap().path();
            fs::remove_file(&file).unwrap();
            fs::write(file, "as it must not!").unwrap();
        }
    }
    let second = media.create(Kind::Image, "png", b"as it should be").unwrap();
    for path in [first, second] {
        assert_eq!(media.read(&path, 100).unwrap(), b"as it should be");
    }
}

#[test]
fn only_stored_media_are_removed() {
    let (folder, media) = media();
    fs::write(folder.path().join("0123456789abcdef0123456789abcdef.png"), "outside").unwrap();
    let path = media.create(Kind::Image, "png", b"kept").unwrap();
    let inside = media.root().join("images/ffffffffffffffffffffffffffffffff.png");
    fs::create_dir(&inside).unwrap();
    let content = format!("/sha256/{}", files(&media, "sha256").first().map_or("00", |name| name));
    let refused = "it is not that of a medium which jarvis stored";
    for (path, why) in [
        ("../0123456789abcdef0123456789abcdef.png", "it leads upwards"),
        ("/images/../../0123456789abcdef0123456789abcdef.png", "it leads upwards"),
        ("/images/%2e%2e/%2e%2e/0123456789abcdef0123456789abcdef.png", "it leads upwards"),
        ("/0123456789abcdef0123456789abcdef.png", refused),
        ("/images", refused),
        ("/images/mine.png", refused),
        ("/images/0123456789ABCDEF0123456789ABCDEF.png", refused),
        ("/images/0123456789abcdef0123456789abcdef.tar.gz", refused),
        ("/images/deep/0123456789abcdef0123456789abcdef.png", refused),
        (&content, refused),
        ("/images/ffffffffffffffffffffffffffffffff.png", "it is not a file"),
        ("", "it names no file"),
    ] {
        assert_eq!(word(&media.remove(path)), why, "{path}");
    }
    #[cfg(unix)]
    {
        let link = media.root().join("images/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee.png");
        std::os::unix::fs::symlink(folder.path().join("0123456789abcdef0123456789abcdef.png"), link).unwrap();
        assert_eq!(word(&media.remove("/images/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee.png")), "it is not a file");
        fs::rename(media.root().join("videos"), media.root().join("moved")).unwrap();
        std::os::unix::fs::symlink(folder.path(), media.root().join("videos")).unwrap();
        let outside = media.remove("/videos/0123456789abcdef0123456789abcdef.png");
        assert_eq!(word(&outside), "a link on it leads outside");
    }
    assert_eq!(fs::read(folder.path().join("0123456789abcdef0123456789abcdef.png")).unwrap(), b"outside");
    assert_eq!(media.read(&path, 100).unwrap(), b"kept");
    assert!(media.remove(&format!("public{}", path.replace('/', "%2F"))).unwrap(), "by any writing of its path");
}

#[test]
fn what_interrupted_writes_left_goes_after_a_day() {
    let (folder, media) = media();
    let path = media.create(Kind::Image, "png", b"kept").unwrap();
    for (name, hours) in [(".old.part", 25), (".new.part", 23)] {
        let file = fs::File::create(media.root().join("sha256").join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
    }
    let media = Media::open(&folder.path().join("public")).unwrap();
    assert!(!media.root().join("sha256/.old.part").exists() && media.root().join("sha256/.new.part").exists());
    assert_eq!(media.read(&path, 100).unwrap(), b"kept");
}

#[test]
fn many_writers_and_removers_of_one_content_do_not_disturb_each_other() {
    let (_folder, media) = media();
    let media = &media;
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for round in 0..20 {
                    let path = media.create(Kind::Image, "png", b"the same").unwrap();
                    let kept = media.keep(Kind::Image, "one name", "png", b"the same").unwrap();
                    assert_eq!(media.read(&path, 100).unwrap(), b"the same", "{thread}, {round}");
                    assert!(media.remove(&path).unwrap());
                    assert_eq!(media.read(&kept, 100).unwrap(), b"the same");
                }
            });
        }
    });
    assert_eq!(files(media, "images").len(), 1);
    assert!(files(media, "sha256").len() <= 1, "no parts are left");
}
