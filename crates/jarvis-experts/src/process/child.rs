//! The child's side: one model, one use after the other, until the parent closes the pipe.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::{Reply, Request, frame};
use crate::{Call, ExpertError, Input, LocalModel, Resources, open};

/// Loads the model that the parent names and runs it until the input ends. What it may take is set before it is loaded, by
/// `limit`, which is given the bytes that models may have.
///
/// # Errors
/// When the pipes break or what comes is not a request.
pub fn serve(input: &mut impl Read, output: impl Write + Send + 'static, limit: impl FnOnce(u64)) -> io::Result<()> {
    let Request::Load { files, task, threads, max_memory } = frame::read_blocking(input)? else {
        return Err(io::Error::other("the first request must load a model"));
    };
    limit(max_memory);
    let output = Arc::new(Mutex::new(output));
    let id = files.id.clone();
    let load = || Resources::new(threads, max_memory).and_then(|resources| open(&files, &task, &resources));
    let model = match catch_unwind(AssertUnwindSafe(load)).unwrap_or_else(|_| Err(broke_down(&id))) {
        Ok(model) => model,
        Err(error) => return answer(&output, &Reply::Failed(error)),
    };
    answer(&output, &Reply::Loaded { memory: model.memory() })?;
    // The work has a thread of its own, so that this one hears when it is to stop.
    let (uses, queue) = mpsc::channel::<(Input, Call)>();
    let of_work = Arc::clone(&output);
    let work = std::thread::spawn(move || {
        for (input, call) in queue {
            let reply = perform(model.as_ref(), &id, &input, &call);
            if answer(&of_work, &reply).is_err() {
                return;
            }
        }
    });
    let mut cancel = CancellationToken::new();
    loop {
        match frame::read_blocking(input) {
            Ok(Request::Run { input, deadline_ms, streams }) => {
                cancel = CancellationToken::new();
                let deadline = deadline_ms.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
                let mut call = Call { cancel: cancel.clone(), deadline, ..Call::default() };
                if streams {
                    let output = Arc::clone(&output);
                    // A parent that has gone is noticed at the next read.
                    call.on_text = Some(Box::new(move |text| drop(answer(&output, &Reply::Text(text.to_owned())))));
                }
                if uses.send((*input, call)).is_err() {
                    return Err(io::Error::other("the work has ended"));
                }
            }
            Ok(Request::Stop) => cancel.cancel(),
            Ok(Request::Load { .. }) => return Err(io::Error::other("a process has one model")),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
    }
    cancel.cancel();
    drop((uses, work));
    Ok(())
}

fn perform(model: &dyn LocalModel, id: &str, input: &Input, call: &Call) -> Reply {
    let run = || call.check().and_then(|()| model.run(input, call));
    match catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(broke_down(id))) {
        Ok(output) => Reply::Done(Box::new(output)),
        Err(error) => Reply::Failed(error),
    }
}

fn broke_down(model: &str) -> ExpertError {
    ExpertError::Failed { model: model.to_owned(), reason: "the engine broke down on it".to_owned() }
}

fn answer(output: &Mutex<impl Write>, reply: &Reply) -> io::Result<()> {
    frame::write_blocking(&mut *output.lock().unwrap_or_else(PoisonError::into_inner), reply)
}
