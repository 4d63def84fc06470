//! Whose files a task may read: those of the user its run is carried out for, where a server has several users.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, Source, TaskError};
use jarvis_store::{Journal, Media, blocking};
use serde_json::Value;

use crate::inputs::public_path;

/// A worker that performs no task which is given a file of somebody else, whoever wrote its path there: the request, a model, a
/// document or a tool. To its run such a file does not exist.
///
/// What is given are the arguments and the attached files. A text among the arguments is a file where [`crate::Inputs`] would open
/// it as one and it is there; a path inside a longer text is no file.
pub struct OwnFiles {
    worker: Arc<dyn Worker>,
    journal: Arc<Journal>,
    media: Arc<Media>,
}

impl OwnFiles {
    /// The worker, confined where there is a journal that knows whose the files are; without one there are no several users.
    pub fn confine(worker: Arc<dyn Worker>, journal: Option<&Arc<Journal>>, media: &Arc<Media>) -> Arc<dyn Worker> {
        match journal {
            Some(journal) => Arc::new(OwnFiles { worker, journal: Arc::clone(journal), media: Arc::clone(media) }),
            None => worker,
        }
    }

    async fn check(&self, job: &Job) -> Result<(), TaskError> {
        let account = job.events.account();
        if account.name().is_empty() || account.reaches_all() {
            return Ok(());
        }
        let mut paths = Vec::new();
        job.args.values().for_each(|arg| collect(arg, &mut paths));
        let attached = job.request.attachments.iter().filter_map(|file| match &file.source {
            Source::Public(path) => public_path(path),
            Source::Inline(_) | Source::Url(_) => None,
        });
        paths.extend(attached);
        if paths.is_empty() {
            return Ok(());
        }
        let (journal, media) = (Arc::clone(&self.journal), Arc::clone(&self.media));
        let foreign = blocking(move || {
            // Most texts are no files.
            paths.retain(|path| media.open_file(path).is_ok());
            let found = journal.first_foreign(account.name(), &paths);
            found.map_err(|error| TaskError::new(ErrorCode::Internal, format!("whose the files are: {error}")))
        });
        match foreign.await? {
            Some(path) => Err(TaskError::new(ErrorCode::NotFound, format!("there is no file `{path}`"))
                .hint("Name a file that you sent, or that a run of yours made")),
            None => Ok(()),
        }
    }
}

/// The files that an argument may name.
fn collect(arg: &Value, paths: &mut Vec<String>) {
    match arg {
        Value::String(text) => paths.extend(public_path(text)),
        Value::Array(values) => values.iter().for_each(|value| collect(value, paths)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[async_trait]
impl Worker for OwnFiles {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.check(job).await?;
        self.worker.perform(job).await
    }
}

#[cfg(test)]
mod tests {
    use jarvis_engine::{Account, Events, Meter};
    use jarvis_plan::{Candidate, Kind, Request, Resource, RunId, Task, TaskId};
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[tokio::test]
    async fn a_file_of_somebody_else_is_not_there_however_it_is_spelled() {
        let folder = tempfile::tempdir().unwrap();
        let media = Arc::new(Media::open(&folder.path().join("public")).unwrap());
        let journal = Arc::new(Journal::open(&folder.path().join("runs.db")).unwrap());
        let [own, foreign, old] =
            [b"own" as &[u8], b"foreign", b"old"].map(|bytes| media.create(Kind::Image, "png", bytes).unwrap());
        journal.own("ada", vec![foreign.clone()]).await.unwrap();
        journal.own("bob", vec![own.clone()]).await.unwrap();
        let worker: Arc<dyn Worker> = Arc::new(|_: Job| async { Ok(json!("done")) });
        let worker = OwnFiles::confine(worker, Some(&journal), &media);
        let job = |account: Account, args: Value, attached: &[&str]| {
            let events = Events::channel(RunId("r".into())).0;
            events.metered(&Meter { account: Arc::new(account), ..Meter::default() });
            let attachments = attached.iter().map(|path| Resource {
                kind: Kind::Image,
                source: Source::Public((*path).to_owned()),
                name: None,
            });
            Job {
                request: Arc::new(Request { attachments: attachments.collect(), ..Request::new("x") }),
                task: Arc::new(Task {
                    task: "t".into(),
                    id: TaskId(0),
                    dep: vec![],
                    args: Default::default(),
                    unfolded_from: None,
                    faults: vec![],
                }),
                args: serde_json::from_value(args).unwrap(),
                candidate: Candidate::tool("t"),
                events,
                cancel: CancellationToken::new(),
                part: 0,
            }
        };
        let bob = || Account::new("bob", Default::default());
        let bare = foreign.trim_start_matches('/');
        for (args, attached, may) in [
            (json!({"image": own}), &[][..], true),
            (json!({"image": foreign}), &[], false),
            (json!({"image": old}), &[], false),
            (json!({"image": bare}), &[], false),
            (json!({"image": format!("public{foreign}")}), &[], false),
            (json!({"image": format!("  {foreign} ")}), &[], false),
            (json!({"image": foreign.replace("images", "%69mages")}), &[], false),
            (json!({"image": format!("/./images//{}", foreign.rsplit('/').next().unwrap())}), &[], false),
            (json!({"images": [own, {"deep": foreign}]}), &[], false),
            (json!({"image": own}), &[own.as_str()], true),
            (json!({"image": own}), &[own.as_str(), foreign.as_str()], false),
            // What is no file, or no file of ours, is as it is.
            (json!({"text": format!("look at {foreign}.")}), &[], true),
            (json!({"image": "https://example.org/images/cat.png"}), &[], true),
            (json!({"image": "/images/none.png", "text": "I love it", "n": 1}), &[], true),
        ] {
            let done = worker.perform(&job(bob(), args.clone(), attached)).await;
            assert_eq!(done.is_ok(), may, "{args} {attached:?}: {done:?}");
        }
        for all in [Account::new("root", Default::default()).reaching_all(), Account::default()] {
            assert!(worker.perform(&job(all, json!({"image": foreign}), &[])).await.is_ok());
        }
    }
}
