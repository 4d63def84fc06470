//! Addresses of releases, and servers that do not do what they should.

use jarvis_testing::stub::{Canned, Stub};

use super::*;

#[test]
fn only_safe_addresses_are_asked() {
    let version = Version::new(1, 2, 3);
    for (base, version, address) in [
        ("https://github.com/o/r/releases/latest/download", None, "https://github.com/o/r/releases/latest/download"),
        (
            "https://github.com/o/r/releases/latest/download/",
            Some(&version),
            "https://github.com/o/r/releases/download/v1.2.3",
        ),
        ("https://mirror.example/jarvis", Some(&version), "https://mirror.example/jarvis"),
        ("http://127.0.0.1:80/x", None, "http://127.0.0.1/x"),
        ("http://localhost:8/x", None, "http://localhost:8/x"),
    ] {
        let releases = Releases::at(base, version).map_err(|failure| failure.message());
        assert_eq!(releases.map(|releases| releases.address()).as_deref(), Ok(address), "{base}");
    }
    for (base, why) in [
        ("http://mirror.example/jarvis", "it is not https"),
        ("ftp://mirror.example/jarvis", "only http and https"),
        ("file:///etc", "only http and https"),
        ("https://u:p@mirror.example/", "user name or password"),
        ("https://169.254.169.254/latest", "metadata"),
        ("mirror.example", "relative URL"),
    ] {
        let refused = Releases::at(base, None).err().map(|failure| failure.message()).unwrap_or_default();
        assert!(refused.contains(why) && !refused.contains("u:p@"), "{base}: {refused}");
    }
}

/// What a server with this answer makes of a question for the version.
async fn check(answer: impl Fn(&str) -> Canned + Send + Sync + 'static, stall: Duration) -> Result<Version, String> {
    let stub = Stub::start(move |asked| answer(&asked.path)).await.expect("a port");
    let mut releases = Releases::at(&stub.url("/r"), None).map_err(|failure| failure.message())?;
    releases.stall = stall;
    releases.version().await.map_err(|failure| failure.message())
}

#[tokio::test]
async fn the_version_is_read_and_nothing_else() {
    let text = |text: &'static str| move |_: &str| Canned::bytes("text/plain", text);
    for (line, version) in [("1.2.3\n", "1.2.3"), (" v2.0.0-rc.1 \nmore\n", "2.0.0-rc.1")] {
        assert_eq!(check(text(line), STALL).await.map(|version| version.to_string()).as_deref(), Ok(version));
    }
    for (line, why) in [("<html>", "`<html>`"), ("", "holds no version")] {
        let refused = check(text(line), STALL).await.expect_err(line);
        assert!(refused.contains(why), "{refused}");
    }
    let long = check(|_| Canned::bytes("text/plain", vec![b'1'; 5000]), STALL).await.expect_err("it is too long");
    assert!(long.contains("longer than 4096 bytes"), "{long}");
    let gone = check(|_| Canned::bytes("text/plain", "").status(404), STALL).await.expect_err("it is gone");
    assert!(gone.contains("404"), "{gone}");
    let endless = |_: &str| Canned::bytes("text/plain", "1.").endless();
    let stalled = check(endless, Duration::from_millis(50)).await.expect_err("it does not end");
    assert!(stalled.contains("nothing came for 0.05 s"), "{stalled}");
}

#[tokio::test]
async fn redirects_are_followed_to_safe_addresses() {
    let moved = |path: &str| match path {
        "/r/version.txt" => Canned::redirect("/elsewhere"),
        _ => Canned::bytes("text/plain", "1.0.0"),
    };
    assert_eq!(check(moved, STALL).await, Ok(Version::new(1, 0, 0)));
    for (to, why) in [
        ("http://mirror.example/version.txt", "it is not https"),
        ("https://169.254.169.254/", "metadata"),
        ("https://u:p@mirror.example/", "user name or password"),
        ("/r/version.txt", "too often"),
    ] {
        let refused = check(move |_| Canned::redirect(to), STALL).await.expect_err(to);
        assert!(refused.contains(why) && !refused.contains("u:p@"), "{to}: {refused}");
    }
}
