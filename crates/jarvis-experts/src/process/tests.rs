//! Frames, the child's side over a socket, and programs that are no models.

use std::os::unix::net::UnixStream;

use super::*;
use crate::Picture;

fn resources() -> Resources {
    Resources::new(1, 1 << 30).unwrap()
}

async fn opened(program: &str) -> String {
    let processes = Processes::new(program.into(), Vec::new(), 1);
    let files = ModelFiles::new("org/model", "/nowhere");
    let open = move || processes.open(&files, "summarization", &resources(), &Call::default()).map(drop);
    tokio::task::spawn_blocking(open).await.unwrap().unwrap_err().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_no_model_is_an_error() {
    assert_eq!(opened("false").await, "the model `org/model` failed: its process ended (exit status: 1)");
    // It writes without end, and what it announces is not allocated.
    let yes = opened("yes").await;
    assert!(yes.starts_with("the model `org/model` failed: its process ended (signal: "), "{yes}");
    let nowhere = opened("/nowhere/jarvis").await;
    assert!(
        nowhere.starts_with("the model `org/model` failed: its process cannot be started: No such file"),
        "{nowhere}"
    );
}

#[test]
fn a_child_answers_in_frames_until_its_input_ends() {
    let check = |requests: &[Request], replies: &[&str], ends_well: bool| {
        let (mut parent, mut child) = UnixStream::pair().unwrap();
        let output = child.try_clone().unwrap();
        let limits = std::sync::Arc::new(std::sync::Mutex::new(None));
        let seen = std::sync::Arc::clone(&limits);
        let serving = std::thread::spawn(move || serve(&mut child, output, |max| *seen.lock().unwrap() = Some(max)));
        for request in requests {
            // It may have given up already.
            let _ = frame::write_blocking(&mut parent, request);
        }
        parent.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(serving.join().unwrap().is_ok(), ends_well, "{requests:?}");
        let mut found = Vec::new();
        while let Ok(reply) = frame::read_blocking::<Reply>(&mut parent) {
            found.push(format!("{reply:?}"));
        }
        assert_eq!(found, replies);
    };
    let load = || Request::Load {
        files: ModelFiles::new("org/model", "/nowhere"),
        task: "no-such-task".to_owned(),
        threads: 1,
        max_memory: 7,
    };
    let unsupported = "Failed(Unsupported { model: \"org/model\", reason: \"jarvis has no processing for a model of this \
                       architecture for no-such-task\" })";
    check(&[load()], &[unsupported], true);
    check(&[Request::Stop], &[], false);
    check(&[], &[], false);
}

#[tokio::test]
async fn frames_keep_what_they_carry() {
    let picture = Picture { width: 2, height: 1, pixels: vec![0, 127, 255, 1, 2, 3] };
    let sent = Run::Run { input: &Input::Picture(picture.clone()), deadline_ms: Some(5), streams: true };
    let mut bytes = Vec::new();
    frame::write(&mut bytes, &sent).await.unwrap();
    let Request::Run { input, deadline_ms: Some(5), streams: true } = frame::read(&mut bytes.as_slice()).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(*input, Input::Picture(picture));
    // Cut off, and of a length that no message has.
    for end in [0, 3, 4, bytes.len() - 1] {
        assert!(frame::read::<Request>(&mut &bytes[..end]).await.is_err(), "{end}");
    }
    assert!(frame::read::<Request>(&mut [255; 64].as_slice()).await.is_err());
}
