//! Kept vectors: read back, rejected, made again.

use std::fs;

use super::cache::{CacheError, VectorCache};

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn vectors_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let mut cache = VectorCache::open(dir.path(), "tools", "m at h", None).unwrap();
    cache.add(&texts(&["a", "b"]), &[vec![1.0, -0.1], vec![f32::MIN_POSITIVE, 3e38]]).unwrap();
    cache.set_catalogue("abc");
    cache.save().unwrap();
    cache.add(&texts(&["b", "c"]), &[vec![9.0, 9.0], vec![0.0, 7.0]]).unwrap();
    assert!(matches!(cache.add(&texts(&["d"]), &[vec![1.0]]), Err(CacheError::Lengths { found: 1, expected: 2 })));
    cache.save().unwrap();

    let cache = VectorCache::open(dir.path(), "tools", "m at h", Some(2)).unwrap();
    assert_eq!((cache.len(), cache.catalogue()), (3, Some("abc")));
    let vectors: Vec<Option<&[f32]>> = ["a", "b", "c", "d"].iter().map(|text| cache.vector(text)).collect();
    let expected: [Option<&[f32]>; 4] = [Some(&[1.0, -0.1]), Some(&[f32::MIN_POSITIVE, 3e38]), Some(&[0.0, 7.0]), None];
    assert_eq!(vectors, expected);
    // Neither another embedder nor another kind of text sees them.
    assert!(VectorCache::open(dir.path(), "tools", "m at h2", None).unwrap().is_empty());
    assert!(VectorCache::open(dir.path(), "queries", "m at h", None).unwrap().is_empty());
}

#[test]
fn files_that_changed_are_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let mut cache = VectorCache::open(dir.path(), "tools", "m", None).unwrap();
    let path = cache.path().unwrap().to_owned();
    cache.add(&texts(&["a", "b"]), &[vec![1.0, 2.0], vec![3.0, 4.0]]).unwrap();
    cache.save().unwrap();
    let good = fs::read(&path).unwrap();
    let check = |bytes: &[u8], dimension, expected: &str| {
        fs::write(&path, bytes).unwrap();
        let error = VectorCache::open(dir.path(), "tools", "m", dimension).unwrap_err();
        let said = error.to_string().replace(&path.display().to_string(), "FILE");
        assert_eq!(said, expected);
    };
    check(b"", None, "FILE is damaged: it does not start as such files do");
    check(b"jarvisV\n\x01", None, "FILE is damaged: it ends too early");
    check(b"jarvisV\n\xff\xff\xff\xff{}", None, "FILE is damaged: it ends too early");
    check(b"jarvisV\n\x02\0\0\0{}", None, "FILE is damaged: its header cannot be read");
    for at in [good.len() - 1, good.len() - 20, good.len() - 80] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        check(&bytes, None, "FILE is damaged: its checksum does not fit");
    }
    check(&good[..good.len() - 4], None, "FILE is damaged: its checksum does not fit");
    let replaced = |from: &str, to: &str| {
        let text: Vec<u8> = good.clone();
        let at = text.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        [&text[..at], to.as_bytes(), &text[at + from.len()..]].concat()
    };
    check(
        &replaced("\"entries\":2", "\"entries\":1"),
        None,
        "FILE is damaged: it has another length than its header says",
    );
    check(&replaced("\"entries\":2", "\"entries\":9"), None, "FILE is damaged: it ends too early");
    check(
        &replaced("\"m\"", "\"n\""),
        None,
        "the vectors in FILE are not of this embedder: they are of `n`, not of `m`",
    );
    check(
        &replaced("\"format\":1", "\"format\":2"),
        None,
        "the vectors in FILE are not of this embedder: the file's format is 2, and 1 is known",
    );
    check(&good, Some(3), "the vectors in FILE are not of this embedder: they have 2 components, not 3");
    fs::write(&path, &good).unwrap();
    assert_eq!(VectorCache::open(dir.path(), "tools", "m", Some(2)).unwrap().len(), 2);
}

#[test]
fn small_additions_cost_few_writes() {
    let mut cache = VectorCache::unkept("m");
    assert!(!cache.is_due());
    cache.add(&texts(&["a"]), &[vec![1.0]]).unwrap();
    assert!(cache.is_due());
}
