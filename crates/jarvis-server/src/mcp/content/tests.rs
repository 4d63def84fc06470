//! What goes into a result, and what is linked.

use std::sync::Arc;

use axum::http::Request;
use axum::http::request::Parts;
use jarvis_plan::Kind;
use jarvis_store::Media;
use rmcp::model::ContentBlock;

use super::{Client, MOST, MOST_TOGETHER, Naming};

fn parts(host: &str, forwarded: Option<&str>) -> Parts {
    let mut request = Request::builder().header("host", host);
    if let Some(scheme) = forwarded {
        request = request.header("x-forwarded-proto", scheme);
    }
    request.body(()).unwrap().into_parts().0
}

fn described(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Image(image) => format!("{} of {}", image.mime_type, image.data.len()),
        ContentBlock::Audio(audio) => format!("{} of {}", audio.mime_type, audio.data.len()),
        ContentBlock::ResourceLink(link) => format!("{} {}", link.mime_type.as_deref().unwrap_or_default(), link.uri),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn small_pictures_and_sounds_are_inside_and_the_rest_is_linked() {
    let folder = tempfile::tempdir().unwrap();
    let media = Arc::new(Media::open(folder.path()).unwrap());
    let keep = |kind, extension, bytes: usize| media.create(kind, extension, &vec![0; bytes]).unwrap();
    let half = usize::try_from(MOST_TOGETHER / 2).unwrap();
    let picture = keep(Kind::Image, "png", 3);
    let sound = keep(Kind::Audio, "wav", 6);
    let film = keep(Kind::Video, "mp4", 3);
    let large = keep(Kind::Image, "png", usize::try_from(MOST).unwrap() + 1);
    let full = keep(Kind::Image, "png", half);

    let http = parts("jarvis.example:8004", None);
    let naming = || Naming::new(&media, Client::There, Some(&http));
    let urls = vec![picture.clone(), "/images/none.png".into(), sound, film.clone(), large.clone()];
    let blocks: Vec<String> = naming().blocks(urls).await.iter().map(described).collect();
    let linked = |kind: &str, url: &str| format!("{kind} http://jarvis.example:8004{url}");
    let want =
        ["image/png of 4".into(), "audio/wav of 8".into(), linked("video/mp4", &film), linked("image/png", &large)];
    assert_eq!(blocks, want);

    // Together they have their limit too.
    let blocks = naming().blocks(vec![full.clone(), full.clone(), picture.clone()]).await;
    assert!(matches!(blocks[..2], [ContentBlock::Image(_), ContentBlock::Image(_)]));
    assert_eq!(described(&blocks[2]), linked("image/png", &picture));

    // A proxy with TLS, and a client on this machine.
    let tls = parts("jarvis.example", Some("https"));
    let blocks = Naming::new(&media, Client::There, Some(&tls)).blocks(vec![film.clone()]).await;
    assert_eq!(described(&blocks[0]), format!("video/mp4 https://jarvis.example{film}"));
    let here = Naming::new(&media, Client::Here, None);
    assert_eq!(here.disk(&film), media.disk_path(&film).ok());
    let blocks = here.blocks(vec![film.clone()]).await;
    assert!(described(&blocks[0]).starts_with("video/mp4 file:///"), "{}", described(&blocks[0]));
    assert!(described(&blocks[0]).ends_with(&film), "{}", described(&blocks[0]));
}
