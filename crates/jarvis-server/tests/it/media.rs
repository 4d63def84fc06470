//! Files in and out.

use jarvis_testing::rows;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{self, CASES, Does, Harness, Reply};

/// The first bytes of a PNG, enough to be known as one.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde";

const WAV: &[u8] = b"RIFF\x0a\0\0\0WAVE0123456789";

async fn upload(harness: &Harness, files: &[(&str, &[u8])]) -> Reply {
    let mut form = Form::new();
    for (name, bytes) in files {
        form = form.part("file", Part::bytes(bytes.to_vec()).file_name((*name).to_owned()));
    }
    Reply::of(harness.request(Method::POST, "/upload").multipart(form).send().await.expect("a reply")).await
}

#[tokio::test]
async fn uploads_are_known_by_name_or_by_their_bytes() {
    let harness = harness::offline().start().await;
    for (name, bytes, kind, path) in [
        ("photo.PNG", PNG, "image", Some(("/images/", ".png"))),
        ("photo", PNG, "image", Some(("/images/", ".png"))),
        ("../../etc/cron.d/x.png", PNG, "image", Some(("/images/", ".png"))),
        ("<img src=x>.png", PNG, "image", Some(("/images/", ".png"))),
        ("say.wav", WAV, "audio", Some(("/audios/", ".wav"))),
        ("film.mp4", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", "video", Some(("/videos/", ".mp4"))),
        ("note.txt", "привет".as_bytes(), "text", None),
        ("table.csv", b"a,b", "json", None),
    ] {
        let reply = upload(&harness, &[(name, bytes)]).await;
        assert_eq!((reply.status, reply.json["kind"].as_str()), (200, Some(kind)), "{name}: {}", reply.text);
        match path {
            Some((start, end)) => {
                let path = reply.json["path"].as_str().expect("a path");
                assert!(
                    path.starts_with(start) && path.ends_with(end) && path.len() == start.len() + 32 + end.len(),
                    "{path}"
                );
                let file = harness.request(Method::GET, path).send().await.expect("a reply");
                assert!(
                    file.headers()["content-security-policy"].to_str().is_ok_and(|policy| policy.contains("sandbox"))
                );
                assert_eq!(file.bytes().await.expect("bytes"), bytes);
            }
            None => assert_eq!(reply.json["text"].as_str().map(str::as_bytes), Some(bytes)),
        }
        assert_eq!(reply.json["bytes"], bytes.len());
        assert!(reply.json["name"].as_str().is_some_and(|told| !told.contains('/')));
    }
    let several = upload(&harness, &[("a.png", PNG), ("b.txt", b"text")]).await;
    assert_eq!(several.json["files"].as_array().map(Vec::len), Some(2));
    assert_eq!(several.json["kind"], "image");
}

#[tokio::test]
async fn a_large_upload_is_stored_as_it_comes_and_read_in_parts() {
    let harness = harness::offline().options(|options| options.max_upload = 12 << 20).start().await;
    let mut film = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom".to_vec();
    film.extend((0..5_u32 << 20).map(|at| at.to_le_bytes()[at as usize % 3]));
    let reply = upload(&harness, &[("film.mp4", &film), ("again.mp4", &film)]).await;
    assert_eq!((reply.status, reply.json["bytes"].as_u64()), (200, Some(film.len() as u64)), "{}", reply.text);
    let path = reply.json["path"].as_str().expect("a path");
    for (range, part) in [("bytes=0-9", 0..10), ("bytes=5000000-5000099", 5_000_000..5_000_100)] {
        let reply = harness.request(Method::GET, path).header("range", range).send().await.expect("a reply");
        assert_eq!((reply.status().as_u16(), reply.bytes().await.expect("bytes").as_ref()), (206, &film[part]));
    }
    let whole = harness.request(Method::GET, path).send().await.expect("a reply");
    assert_eq!(whole.bytes().await.expect("bytes").as_ref(), film);
    film.resize((12 << 20) + 1, 0);
    assert_eq!(upload(&harness, &[("film.mp4", &film)]).await.told(), "413 too_large");
    let kept = std::fs::read_dir(harness.folder().join("public/sha256")).expect("a folder");
    let parts = kept.filter(|entry| entry.as_ref().expect("an entry").path().is_file()).count();
    assert_eq!(parts, 0, "what was refused leaves nothing");
}

#[tokio::test]
async fn uploads_that_cannot_be_taken_are_refused() {
    let harness = harness::offline().options(|options| options.max_upload = 100_000).start().await;
    let large = vec![0; 300_000];
    for (name, bytes, want) in [
        ("a.png", &[] as &[u8], "400 invalid_request"),
        ("thing.bin", &[0, 1, 2, 255], "415 unsupported_media"),
        ("fake.jpg", b"a text", "415 unsupported_media"),
        ("fake.png", &[0; 100], "415 unsupported_media"),
        ("say.png", WAV, "415 unsupported_media"),
        ("big.png", &large, "413 too_large"),
        ("big.txt", &vec![b'x'; 120_000], "413 too_large"),
    ] {
        assert_eq!(upload(&harness, &[(name, bytes)]).await.told(), want, "{name}");
    }
    let other = Form::new().text("note", "no file here");
    let reply = harness.request(Method::POST, "/upload").multipart(other).send().await.expect("a reply");
    assert_eq!(Reply::of(reply).await.told(), "400 invalid_request");
    let broken = harness.request(Method::POST, "/upload").header("content-type", "multipart/form-data; boundary=x");
    assert_eq!(Reply::of(broken.body("nonsense").send().await.expect("a reply")).await.told(), "400 invalid_request");
    assert_eq!(harness.post("/upload", Value::Null).await.told(), "415 unsupported_media");
}

#[tokio::test]
async fn files_are_served_whole_and_in_parts_and_nothing_else_is() {
    let harness = harness::offline().start().await;
    let path = upload(&harness, &[("say.wav", WAV)]).await.json["path"].as_str().expect("a path").to_owned();
    for (range, status, want, told) in [
        (None, 200, "RIFF\n\0\0\0WAVE0123456789", ""),
        (Some("bytes=14-16"), 206, "234", "bytes 14-16/22"),
        (Some("bytes=19-"), 206, "789", "bytes 19-21/22"),
        (Some("bytes=-2"), 206, "89", "bytes 20-21/22"),
    ] {
        let mut request = harness.request(Method::GET, &path);
        if let Some(range) = range {
            request = request.header("range", range);
        }
        let reply = Reply::of(request.send().await.expect("a reply")).await;
        assert_eq!(
            (reply.status, reply.text.as_str(), reply.header("content-range")),
            (status, want, told),
            "{range:?}"
        );
        assert_eq!(reply.header("content-type"), "audio/wav");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
    }
    let beyond = harness.request(Method::GET, &path).header("range", "bytes=22-").send().await.expect("a reply");
    let beyond = Reply::of(beyond).await;
    assert_eq!((beyond.told().as_str(), beyond.header("content-range")), ("416 no_such_range", "bytes */22"));
    std::fs::write(harness.folder().join("public/tables/0a.csv"), "a,b\n").expect("written");
    let table = harness.get("/tables/0a.csv").await;
    assert_eq!((table.status, table.text.as_str(), table.header("content-type")), (200, "a,b\n", "text/csv"));
    assert!(
        table.header("content-security-policy").contains("sandbox"),
        "{:?}",
        table.header("content-security-policy")
    );
    std::fs::write(harness.folder().join("secret.png"), "secret").expect("written");
    std::fs::write(harness.folder().join("public/images/.hidden.part"), "secret").expect("written");
    #[cfg(unix)]
    std::os::unix::fs::symlink(harness.folder().join("secret.png"), harness.folder().join("public/images/link.png"))
        .expect("linked");
    for path in rows::<String>(CASES, "hidden files") {
        let reply = harness.get(&path).await;
        assert_eq!(reply.status, 404, "{path}: {}", reply.text);
        assert!(!reply.text.contains("secret"), "{path}");
    }
}

#[tokio::test]
async fn files_by_id_are_kept_named_and_removed() {
    let harness = harness::offline().start().await;
    let form = |name: &str, bytes: &[u8]| {
        let part = Part::bytes(bytes.to_vec()).file_name(name.to_owned());
        Form::new().part("file", part).text("purpose", "user_data")
    };
    let send =
        |name: &str, bytes: &[u8]| harness.request(Method::POST, "/v1/files").multipart(form(name, bytes)).send();
    let sent = Reply::of(send("note.txt", b"one two three").await.expect("a reply")).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let id = sent.json["id"].as_str().expect("an id").to_owned();
    assert_eq!(
        (&sent.json["filename"], &sent.json["bytes"], &sent.json["purpose"]),
        (&json!("note.txt"), &json!(13), &json!("user_data"))
    );
    let other = Form::new().part("file", Part::bytes(b"x".to_vec()).file_name("x.txt")).text("purpose", "lunch");
    let other =
        Reply::of(harness.request(Method::POST, "/v1/files").multipart(other).send().await.expect("a reply")).await;
    assert_eq!((other.told().as_str(), &other.json["error"]["param"]), ("400 invalid_request", &json!("purpose")));
    assert_eq!(harness.get("/v1/files").await.json["data"][0]["id"], id.as_str());
    assert_eq!(harness.get(&format!("/v1/files/{id}")).await.json, sent.json);
    assert_eq!(harness.get(&format!("/v1/files/{id}/content")).await.text, "one two three");

    let parts =
        json!([{"type": "text", "text": "how many words has this file?"}, {"type": "file", "file": {"file_id": id}}]);
    let asked = json!({"model": "jarvis/hugginggpt", "messages": [{"role": "user", "content": parts}]});
    let reply = harness.post("/v1/chat/completions", asked.clone()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let runs = harness.get("/runs").await;
    let run = harness.get(&format!("/runs/{}", runs.json["runs"][0]["run_id"].as_str().expect("an id"))).await;
    assert_eq!(run.json["events"][0]["request"]["attachments"][0]["name"], "note.txt", "{}", run.text);

    let gone =
        Reply::of(harness.request(Method::DELETE, &format!("/v1/files/{id}")).send().await.expect("a reply")).await;
    assert_eq!(gone.json, json!({"id": id, "object": "file", "deleted": true}));
    let left = std::fs::read_dir(harness.folder().join("public/files")).expect("a folder").count();
    assert_eq!(left, 0, "its bytes are gone too");
    assert_eq!(harness.get(&format!("/v1/files/{id}")).await.told(), "404 not_found");
    assert_eq!(harness.post("/v1/chat/completions", asked).await.told(), "404 not_found");
    for (name, bytes, want) in [("empty.txt", &b""[..], "400 invalid_request"), ("a.pdf", b"%PDF-1.4", "200")] {
        assert_eq!(Reply::of(send(name, bytes).await.expect("a reply")).await.told(), want, "{name}");
    }
}

#[tokio::test]
async fn pictures_are_drawn_by_whatever_serves_that_here() {
    let made = Does::Gives(r#"{"generated image": "/images/made.png"}"#);
    let harness = harness::offline().does("text-to-image", made).start().await;
    let folder = harness.folder().join("public/images");
    std::fs::write(folder.join("made.png"), "a picture").expect("a file");
    for (more, want) in [
        (
            json!({"n": 2}),
            json!([{"url": format!("{}/images/made.png", harness.url)}, {"url": format!("{}/images/made.png", harness.url)}]),
        ),
        (json!({"model": "gpt-image-1"}), json!([{"b64_json": "YSBwaWN0dXJl"}])),
        (
            json!({"model": "dall-e-3", "response_format": "b64_json", "size": "1024x1024"}),
            json!([{"b64_json": "YSBwaWN0dXJl"}]),
        ),
    ] {
        let mut body = json!({"prompt": "a red fox"});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let reply = harness.post("/v1/images/generations", body).await;
        assert_eq!(reply.json["data"], want, "{}", reply.text);
    }
    for (body, want) in [
        (json!({"prompt": " "}), "400 invalid_request"),
        (json!({"prompt": "x", "n": 9}), "400 invalid_request"),
        (json!({"prompt": "x", "response_format": "png"}), "400 invalid_request"),
        (json!({"prompt": "x", "model": "painter"}), "404 model_not_found"),
    ] {
        assert_eq!(harness.post("/v1/images/generations", body.clone()).await.told(), want, "{body}");
    }
}
