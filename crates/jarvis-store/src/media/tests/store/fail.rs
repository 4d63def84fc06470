//! Stores that refuse, stall and break off.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jarvis_net::Secret;
use jarvis_plan::Kind;
use jarvis_testing::s3::Server;

use super::{bytes, fault, files, machine, settings};
use crate::media::{StoreFault, StoreKeys, StoreSettings};

/// What is done with each connection, by its number.
fn listen(serve: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let (counted, serve) = (Arc::clone(&count), Arc::new(serve));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (number, serve) = (counted.fetch_add(1, Ordering::SeqCst), Arc::clone(&serve));
            std::thread::spawn(move || serve(number, stream));
        }
    });
    (address, count)
}

/// A way to a server that breaks off the first `cut` connections when so many bytes have come from it.
fn cutting(server: &Server, cut: usize, after: u64) -> (String, Arc<AtomicUsize>) {
    let to = server.address.strip_prefix("http://").unwrap().to_owned();
    listen(move |number, near| {
        let far = TcpStream::connect(&to).unwrap();
        let (mut requests, mut to_far) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut requests, &mut to_far));
        let limit = if number < cut { after } else { u64::MAX };
        let _ = std::io::copy(&mut far.try_clone().unwrap().take(limit), &mut near.try_clone().unwrap());
        let _ = (near.shutdown(std::net::Shutdown::Both), far.shutdown(std::net::Shutdown::Both));
    })
}

#[test]
fn a_store_that_refuses_is_told_from_one_without_the_bucket() {
    let server = Server::start();
    let right = settings(&server.address);
    let keys = StoreKeys { secret: Secret::new("another").unwrap(), ..right.keys };
    let (_folder, media) = machine(&StoreSettings { keys, ..right });
    assert_eq!(fault(&media.create(Kind::Image, "png", b"x")), Ok(StoreFault::Refused));
    assert_eq!(fault(&media.read("/images/0123456789abcdef0123456789abcdef.png", 9)), Ok(StoreFault::Refused));
    assert_eq!(fault(&media.check_writable()), Ok(StoreFault::Refused));
    assert_eq!(files(&media, "images").len() + files(&media, "sha256").len(), 0, "what is not told is not kept");
    let (address, _) = listen(|_, mut stream| {
        let body = "<Error><Code>NoSuchBucket</Code><Message>The bucket does not exist</Message></Error>";
        let head = format!("HTTP/1.1 404 Not Found\r\ncontent-length: {}\r\n\r\n", body.len());
        let mut request = [0; 4096];
        let _ = (stream.read(&mut request), stream.write_all(format!("{head}{body}").as_bytes()));
    });
    let (_folder, media) = machine(&settings(&address));
    assert_eq!(fault(&media.create(Kind::Image, "png", b"x")), Ok(StoreFault::NoBucket));
    assert_eq!(fault(&media.read("/images/0123456789abcdef0123456789abcdef.png", 9)), Ok(StoreFault::NoBucket));
}

#[test]
fn a_store_that_is_busy_for_a_moment_is_asked_again() {
    let server = Server::start();
    let settings = settings(&server.address);
    server.busy.store(2, Ordering::SeqCst);
    let path = machine(&settings).1.create(Kind::Image, "png", b"kept").unwrap();
    server.busy.store(2, Ordering::SeqCst);
    assert_eq!(machine(&settings).1.read(&path, 9).unwrap(), b"kept");
    server.busy.store(usize::MAX, Ordering::SeqCst);
    let before = server.requests();
    assert_eq!(fault(&machine(&settings).1.create(Kind::Image, "png", b"x")), Ok(StoreFault::Failing));
    assert_eq!(server.requests() - before, 3, "three tries and no more");
}

#[test]
fn a_store_that_stalls_or_is_not_there_ends_in_time() {
    // The connections are held, so that nothing is answered and nothing is closed.
    let held = std::sync::Mutex::new(Vec::new());
    let (address, count) = listen(move |_, stream| held.lock().unwrap().push(stream));
    let (_folder, media) = machine(&StoreSettings { timeout: Duration::from_millis(50), ..settings(&address) });
    assert_eq!(fault(&media.create(Kind::Image, "png", b"x")), Ok(StoreFault::Slow));
    assert_eq!(count.load(Ordering::SeqCst), 3);
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (_folder, media) = machine(&settings(&format!("http://{gone}")));
    assert_eq!(fault(&media.create(Kind::Image, "png", b"x")), Ok(StoreFault::Unreachable));
    let (address, _) = listen(|_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-le");
    });
    let (_folder, media) = machine(&settings(&address));
    assert_eq!(fault(&media.read("/images/0123456789abcdef0123456789abcdef.png", 9)), Ok(StoreFault::Failing));
}

#[test]
fn what_is_cut_off_on_its_way_is_fetched_again_and_never_kept_in_part() {
    let server = Server::start();
    let bytes = bytes(1 << 20);
    let path = machine(&settings(&server.address)).1.create(Kind::Video, "mp4", &bytes).unwrap();
    for after in [100, 5_000, 100_000, 500_000, 1_000_000] {
        let (address, count) = cutting(&server, 1, after);
        assert_eq!(machine(&settings(&address)).1.read(&path, 1 << 30).unwrap(), bytes, "cut after {after} bytes");
        assert!(count.load(Ordering::SeqCst) > 1);
    }
    let (address, _) = cutting(&server, usize::MAX, 700);
    let (_folder, media) = machine(&settings(&address));
    assert_eq!(fault(&media.read(&path, 1 << 30)), Ok(StoreFault::Failing));
    assert_eq!(files(&media, "videos").len() + files(&media, "sha256").len(), 0);
}

#[test]
fn what_is_cut_off_while_it_is_put_is_put_again_or_not_told() {
    let server = Server::start();
    let (address, _) = cutting(&server, 2, 100);
    let path = machine(&settings(&address)).1.create(Kind::Video, "mp4", &bytes(9 << 20)).unwrap();
    assert_eq!(machine(&settings(&server.address)).1.read(&path, 1 << 30).unwrap(), bytes(9 << 20));
    let (address, _) = cutting(&server, usize::MAX, 10);
    let (_folder, media) = machine(&settings(&address));
    assert_eq!(fault(&media.create(Kind::Video, "mp4", &bytes(9 << 20))), Ok(StoreFault::Failing));
    assert_eq!(files(&media, "videos").len() + files(&media, "sha256").len(), 0);
}
