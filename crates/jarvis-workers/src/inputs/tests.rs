//! Inputs of every form, on a real folder and real sockets: what is let in, what is refused, and in which words.

use std::net::IpAddr;
use std::sync::Mutex;

use jarvis_net::policy::Lookup;
use jarvis_testing::rows;
use jarvis_testing::stub::{Canned, Stub};
use tempfile::TempDir;

use super::*;

const CASES: &str = include_str!("tests.json");
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01";

fn inputs(policy: UrlPolicy, limits: InputLimits) -> (TempDir, Inputs) {
    let folder = TempDir::new().unwrap();
    let media = Arc::new(Media::open(folder.path()).unwrap());
    let inputs = Inputs::new(media, policy, limits).unwrap();
    (folder, inputs)
}

fn code<T>(found: &Result<T, TaskError>) -> String {
    found.as_ref().map_or_else(|error| format!("{:?}", error.code), |_| "Ok".to_owned())
}

fn listing(hosts: &[&str]) -> UrlPolicy {
    UrlPolicy { allow_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(), ..UrlPolicy::default() }
}

fn small() -> InputLimits {
    InputLimits { max_bytes: 1000, ..InputLimits::default() }
}

/// Names and what they resolve to, in turn; the last answer stays.
fn names(table: &[(&str, &[&str])]) -> Lookup {
    let table: Vec<(String, Vec<IpAddr>)> = table
        .iter()
        .map(|(name, ips)| ((*name).to_owned(), ips.iter().map(|ip| ip.parse().unwrap()).collect()))
        .collect();
    let asked = Mutex::new(std::collections::HashMap::<String, usize>::new());
    Arc::new(move |name: String| {
        let mut asked = asked.lock().unwrap();
        let times = asked.entry(name.clone()).or_default();
        let answers: Vec<Vec<IpAddr>> = table.iter().filter(|row| row.0 == name).map(|row| row.1.clone()).collect();
        let answer = answers.get(*times).or(answers.last()).cloned();
        *times += 1;
        Box::pin(async move { answer.ok_or_else(|| std::io::Error::other("no such name")) })
    })
}

/// A site with one page of every sort that fetching must cope with.
async fn site() -> Stub {
    Stub::start(|request| match request.path.as_str() {
        "/a.png" => Canned::bytes("image/png", PNG),
        "/lies.png" => Canned::bytes("image/png", "<html><body>not a picture</body></html>"),
        "/page" => Canned::bytes("text/html", "<!doctype html><p>x"),
        "/big" => Canned::bytes("image/png", [PNG, &[0; 2000]].concat()),
        "/big-chunked" => Canned::bytes("image/png", [PNG, &[0; 2000]].concat()).endless(),
        "/cut" => Canned::bytes("image/png", PNG).cut(),
        "/stall" => Canned::bytes("image/png", PNG).endless(),
        "/broken" => Canned::bytes("text/plain", "oops").status(500),
        "/nowhere" => Canned::bytes("text/plain", "").status(302),
        "/relative" => Canned::redirect("a.png"),
        "/loop" => Canned::redirect("/loop"),
        path => match path.strip_prefix("/to/") {
            Some(_) => Canned::redirect(&request.query),
            None => match path.strip_prefix("/hop/").and_then(|left| left.parse::<u32>().ok()) {
                Some(0) => Canned::bytes("image/png", PNG),
                Some(left) => Canned::redirect(&format!("/hop/{}", left - 1)),
                None => Canned::bytes("text/plain", "no such page").status(404),
            },
        },
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn fetches_end_as_they_should() {
    let site = site().await;
    let (_folder, inputs) = inputs(listing(&["127.0.0.1"]), small());
    for (path, expected) in rows::<(String, String)>(CASES, "fetches") {
        let found = inputs.bytes(&site.url(&path), Kind::Image).await;
        assert_eq!(code(&found), expected, "{path}: {found:?}");
        if let Ok(bytes) = found {
            assert_eq!(bytes, PNG, "{path}");
        }
    }
    let page = inputs.bytes(&format!("{}?token=s3cret", site.url("/page")), Kind::Image).await.unwrap_err();
    assert_eq!(page.message, format!("{} is not an image: it is an HTML page", site.url("/page")));
    for request in site.requests() {
        assert_eq!(request.header("authorization"), None);
        assert_eq!(request.header("referer"), None);
    }
}

#[tokio::test]
async fn a_fetch_that_does_not_end_is_given_up() {
    let site = site().await;
    let limits = InputLimits { fetch_timeout: Duration::from_millis(200), ..small() };
    let (_folder, inputs) = inputs(listing(&["127.0.0.1"]), limits);
    let error = inputs.bytes(&site.url("/stall"), Kind::Image).await.unwrap_err();
    assert_eq!((error.code, error.message.contains("within 0.2 s")), (ErrorCode::Timeout, true), "{error}");
}

#[tokio::test]
async fn redirects_to_private_hosts_are_refused() {
    let site = site().await;
    let port = site.address().port();
    let (_folder, inputs) = inputs(listing(&["127.0.0.1"]), small());
    let lookup = names(&[
        ("inside.example", &["10.1.2.3"]),
        ("loop.example", &["127.0.0.1"]),
        ("mapped.example", &["::ffff:127.0.0.1"]),
    ]);
    let inputs = inputs.with_lookup(lookup);
    let targets = "http://127.0.0.2/a.png http://10.0.0.1/ http://169.254.169.254/latest/meta-data/ \
        http://[::1]/a.png http://[::ffff:127.0.0.1]/a.png http://2130706434/ \
        http://inside.example/a.png http://mapped.example/a.png file:///etc/passwd \
        ftp://example.com/a.png data:text/html,x http://user:pw@127.0.0.1/a.png";
    for target in targets.split(' ') {
        let url = format!("{}?{target}", site.url("/to/x"));
        let error = inputs.bytes(&url, Kind::Image).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Forbidden, "{target}: {error}");
    }
    let by_name = format!("{}?http://loop.example:{port}/a.png", site.url("/to/x"));
    assert_eq!(inputs.bytes(&by_name, Kind::Image).await.unwrap_err().code, ErrorCode::Forbidden);
    assert!(site.requests().iter().all(|request| request.path == "/to/x"), "no refused hop was made");
}

#[tokio::test]
async fn names_are_judged_by_what_they_resolve_to_each_time() {
    let site = site().await;
    let port = site.address().port();
    let (_folder, strict) = inputs(UrlPolicy::default(), small());
    let table: &[(&str, &[&str])] = &[("sly.example", &["127.0.0.1"]), ("meta.example", &["169.254.169.254"])];
    let strict = strict.with_lookup(names(table));
    for host in ["sly.example", "SLY.example", "meta.example"] {
        let error = strict.bytes(&format!("http://{host}:{port}/a.png"), Kind::Image).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::Forbidden, "{host}: {error}");
    }
    let unknown = strict.bytes("http://nobody.example/a.png", Kind::Image).await.unwrap_err();
    assert_eq!(unknown.code, ErrorCode::Unavailable, "{unknown}");
    assert!(site.requests().is_empty());

    // A name that is harmless first and points inside later: the connection of the second fetch is judged again.
    let (_folder, private) = inputs(UrlPolicy { allow_private: true, ..UrlPolicy::default() }, small());
    let rebinding = names(&[("turn.example", &["127.0.0.1"]), ("turn.example", &["169.254.169.254"])]);
    let private = private.with_lookup(rebinding);
    let url = format!("http://turn.example:{port}/a.png");
    assert_eq!(private.bytes(&url, Kind::Image).await.unwrap(), PNG);
    assert_eq!(private.bytes(&url, Kind::Image).await.unwrap_err().code, ErrorCode::Forbidden);
    assert_eq!(site.requests().len(), 1);

    let (_folder, listed) = inputs(listing(&["sly.example"]), small());
    let listed = listed.with_lookup(names(table));
    assert_eq!(listed.bytes(&format!("http://sly.example:{port}/a.png"), Kind::Image).await.unwrap(), PNG);
}

#[tokio::test]
async fn arguments_of_other_forms_are_read_or_refused() {
    let (folder, inputs) = inputs(UrlPolicy::default(), small());
    let stored = inputs.store(Kind::Image, "png", PNG.to_vec()).await.unwrap();
    std::fs::write(folder.path().join("images/notes.png"), "just words").unwrap();
    std::fs::write(folder.path().join("images/big.png"), [PNG, &[0; 2000]].concat()).unwrap();
    for (arg, expected) in rows::<(String, String)>(CASES, "forms") {
        let found = inputs.bytes(&arg.replace("STORED", &stored), Kind::Image).await;
        assert_eq!(code(&found), expected, "{arg}: {found:?}");
    }
    let error = inputs.store(Kind::Image, "png", vec![0; 1001]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLarge);
}

#[test]
fn allowed_hosts_must_be_hosts() {
    let folder = TempDir::new().unwrap();
    let media = Arc::new(Media::open(folder.path()).unwrap());
    for (host, good) in
        [("a.example", true), ("127.0.0.1", true), ("[::1]", true), ("::1", true), ("http://a/", false), ("", false)]
    {
        let made = Inputs::new(Arc::clone(&media), listing(&[host]), InputLimits::default());
        assert_eq!(made.is_ok(), good, "{host}");
    }
}
