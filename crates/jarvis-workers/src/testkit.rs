//! What the unit tests of the workers share: jobs, folders, pictures, a scripted chat model.

use std::sync::Arc;

use image::{DynamicImage, Rgb, RgbImage};
use jarvis_catalogue::Host;
use jarvis_chat::{ChatError, ChatReply, Scripted, TokenUsage};
use jarvis_engine::{Events, Job};
use jarvis_plan::{Candidate, Event, Request, RunId, Task, TaskId};
use jarvis_store::Media;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::{InputLimits, Inputs, picture};
use jarvis_net::UrlPolicy;

pub(crate) fn job(host: Host, model: &str, task: &str, args: &[(&str, &str)]) -> Job {
    job_and_events(host, model, task, args).0
}

pub(crate) fn job_and_events(
    host: Host,
    model: &str,
    task: &str,
    args: &[(&str, &str)],
) -> (Job, UnboundedReceiver<Event>) {
    let (events, reader) = Events::channel(RunId("run".to_owned()));
    let planned = Task {
        task: task.to_owned(),
        id: TaskId(3),
        dep: vec![TaskId(1)],
        args: Default::default(),
        unfolded_from: None,
        faults: Vec::new(),
    };
    let job = Job {
        request: Arc::new(Request::new("do it")),
        task: Arc::new(planned),
        args: args.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect(),
        candidate: Candidate { id: model.to_owned(), host: host.into(), effective_task: task.to_owned() },
        events,
        cancel: CancellationToken::new(),
        part: 0,
    };
    (job, reader)
}

pub(crate) fn native_job(model: &str, request: &str, args: &[(&str, &str)]) -> Job {
    Job { request: Arc::new(Request::new(request)), ..job(Host::Native, model, "a-task", args) }
}

pub(crate) type Args = Vec<(String, String)>;

pub(crate) fn strs(args: &Args) -> Vec<(&str, &str)> {
    args.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Inputs over a folder of their own, under the strict policy.
pub(crate) fn inputs() -> (TempDir, Arc<Inputs>) {
    inputs_with(InputLimits::default())
}

pub(crate) fn inputs_with(limits: InputLimits) -> (TempDir, Arc<Inputs>) {
    let folder = TempDir::new().unwrap();
    let media = Arc::new(Media::open(folder.path()).unwrap());
    let inputs = Inputs::new(media, UrlPolicy::default(), limits).unwrap();
    (folder, Arc::new(inputs))
}

pub(crate) fn jpeg(width: u32, height: u32) -> Vec<u8> {
    picture::jpeg(&RgbImage::from_pixel(width, height, Rgb([200, 40, 40]))).unwrap()
}

pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    picture::png(&DynamicImage::ImageRgb8(RgbImage::from_pixel(width, height, Rgb([40, 40, 200])))).unwrap()
}

/// The start of a WAV file: enough to be recognised.
pub(crate) const WAV: &[u8] =
    b"RIFF\x2c\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\x08\0\0\0\0\0\0\0\0\0\0\0";
/// The start of a FLAC file.
pub(crate) const FLAC: &[u8] = b"fLaC\0\0\0\x22\x10\0\x10\0";
/// The start of an MP4 file.
pub(crate) const MP4: &[u8] = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom\0\0\0\x08mdat";

/// A chat model that gives the same answer to each of its first calls.
pub(crate) fn scripted(sees: bool, answer: Result<&str, ChatError>) -> Arc<Scripted> {
    let answer = answer.map(|text| ChatReply {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
        usage: TokenUsage { prompt: 7, completion: 2, ..TokenUsage::default() },
        ..ChatReply::default()
    });
    Arc::new(Scripted::answering(vec![answer; 4]).seeing(sees))
}
