//! Files that arrive in pieces, beside the same files given whole.

use jarvis_document::NoReader;

use super::*;

const MIB: usize = 1 << 20;

#[tokio::test]
async fn a_file_in_pieces_is_taken_in_like_one_given_whole_and_is_not_held() {
    let folder = tempfile::tempdir().unwrap();
    let media = Arc::new(Media::open(folder.path()).unwrap());
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde".as_slice();
    let film = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom".as_slice();
    for (name, start, size, stays) in [
        ("photo.png", png, 100, true),
        ("photo.png", png, MIB - 1, true),
        ("photo.png", png, MIB, false),
        ("photo.png", png, 7 * MIB, false),
        ("film.mp4", film, 7 * MIB, false),
        ("film", film, 7 * MIB, false),
        ("fake.png", b"a text", 3 * MIB, false),
        ("fake.png", film, 3 * MIB, false),
        ("film.tar.gz", film, 3 * MIB, false),
        ("note.txt", b"a text", 100, true),
        ("note.txt", b"a text", 2 * MIB, true),
        ("note.txt", b"a text", 2 * MIB + 1, true),
        ("note", b"a text", 5 * MIB, true),
        ("table.csv", b"a,b", 5 * MIB, true),
        ("paper.pdf", b"%PDF-1.7", 3 * MIB, true),
        ("paper", b"PK\x03\x04", 3 * MIB, true),
        ("none", b"\0\xff\x01\x02", 3 * MIB, true),
    ] {
        let mut bytes = start.to_vec();
        bytes.resize(size, b'x');
        let whole = attach(name, bytes.clone(), &media, &NoReader).await;
        let pieces = async {
            let mut file = Arriving::new(name, &media);
            for piece in bytes.chunks(100_003) {
                file = file.add(piece).await?;
                let most = if stays { 33 * MIB } else { MIB };
                assert!(file.held.len() < most, "{name} of {size} bytes");
            }
            assert_eq!(file.size(), size as u64);
            file.finish(&NoReader).await
        };
        match (whole, pieces.await) {
            (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces, "{name} of {size} bytes"),
            (Err(whole), Err(pieces)) => assert_eq!(whole.to_string(), pieces.to_string(), "{name} of {size} bytes"),
            (whole, pieces) => panic!("{name} of {size} bytes: {whole:?} and {pieces:?}"),
        }
    }
    let mut long = Arriving::new("paper.pdf", &media);
    for _ in 0..40 {
        long = long.add(&[b"%PDF-1.7".as_slice(), &vec![0; MIB - 8]].concat()).await.unwrap();
        assert!(long.held.len() <= 33 * MIB, "what is too long is not held");
    }
    let error = long.finish(&NoReader).await.unwrap_err().to_string();
    assert!(error.contains(&(40 * MIB).to_string()), "{error}");
}
