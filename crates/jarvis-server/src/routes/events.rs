//! One stream for the events of many runs: a browser has few connections for all of its pages.

use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::response::sse::Event;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, future};
use serde_json::json;

use crate::error::{ApiError, Failures};
use crate::routes::runs::{frames_of, whole};
use crate::runs::{Frame, Place};
use crate::sse;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::stream::RunsSseEvent;

/// The most runs of one stream.
const MOST: usize = 100;

/// The events of many runs together
///
/// Each event as in `/runs/{id}/events`, with `RUN_ID@PLACE` for its id. A run that is not there is told of by one event `gone`. The
/// stream ends when every run has ended.
#[utoipa::path(get, path = "/events", operation_id = "follow_runs", tag = "runs",
    params(("run" = Vec<String>, Query, description = "A run's id, or `ID@PLACE` with the place of the last event seen of it; 1 to 100")),
    responses((status = 200, description = "The events", body = RunsSseEvent, content_type = "text/event-stream"), Failures))]
pub(crate) async fn follow(
    State(server): State<Server>,
    caller: Caller,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let (mut live, mut past) = (Vec::new(), Vec::new());
    for (id, from) in asked(&query.unwrap_or_default())? {
        match whole(id.clone()) {
            Ok(whole) if server.runs.get(&whole).is_some() => live.push(events(&server, &caller, id, from).await?),
            _ => past.push((id, from)),
        }
    }
    // Past runs are read one after another, so that their events are not all in memory.
    let (reader, asker) = (server.clone(), caller.clone());
    let past = stream::iter(past).then(move |(id, from)| {
        let (server, caller) = (reader.clone(), asker.clone());
        async move { events(&server, &caller, id, from).await }
    });
    // What cannot be read now can be asked for again.
    let past = past.take_while(|read| future::ready(read.is_ok())).filter_map(async |read| read.ok()).flatten();
    live.push(past.boxed());
    Ok(sse::open(stream::select_all(live), (), &server))
}

/// The runs that are asked for, with the places that come after those seen.
fn asked(query: &str) -> Result<Vec<(String, Place)>, ApiError> {
    let wrong = |message: String| ApiError::invalid(message).param("run");
    let runs = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "run").map(|(_, run)| run);
    let runs: Vec<(String, Place)> = runs
        .map(|run| match run.split_once('@') {
            None => Ok((run.into_owned(), Place::default())),
            Some((id, seen)) => match seen.parse::<Place>() {
                Ok(seen) => Ok((id.to_owned(), seen.next())),
                Err(_) => Err(wrong(format!("`{seen}` is not the place of an event"))),
            },
        })
        .collect::<Result<_, _>>()?;
    match runs.len() {
        1..=MOST => Ok(runs),
        count => Err(wrong(format!("a stream is of 1 to {MOST} runs, and not of {count}"))),
    }
}

/// The events of one run; one that says so where there is no such run.
async fn events(
    server: &Server,
    caller: &Caller,
    id: String,
    from: Place,
) -> Result<BoxStream<'static, Event>, ApiError> {
    let found = match whole(id.clone()) {
        Ok(whole) => frames_of(server, caller, whole, from).await,
        Err(error) => Err(error),
    };
    match found {
        Ok(frames) => Ok(frames.map(move |frame| of_run(&id, &frame)).boxed()),
        Err(error) if error.fields.status == axum::http::StatusCode::NOT_FOUND => {
            let gone = Event::default().event("gone").data(json!({"run_id": id}).to_string());
            Ok(stream::once(future::ready(gone)).boxed())
        }
        Err(error) => Err(error),
    }
}

fn of_run(id: &str, frame: &Frame) -> Event {
    Event::default().event(&*frame.name).id(format!("{id}@{}", frame.at)).data(&*frame.data)
}

#[cfg(test)]
mod tests {
    use super::{MOST, asked};

    #[test]
    fn runs_and_places_are_read() {
        let many = |count: usize| vec!["run=a"; count].join("&");
        for (query, want) in [
            ("run=a".to_owned(), Some("a@0 ")),
            ("run=a%400".to_owned(), Some("a@0.1 ")),
            ("x=1&run=a@12.3&run=b".to_owned(), Some("a@12.4 b@0 ")),
            ("run=a@".to_owned(), None),
            ("run=a@x".to_owned(), None),
            ("runs=a".to_owned(), None),
            (String::new(), None),
            (many(MOST + 1), None),
        ] {
            let read = asked(&query).ok();
            let read = read.map(|runs| runs.iter().map(|(id, from)| format!("{id}@{from} ")).collect::<String>());
            assert_eq!(read.as_deref(), want, "{query}");
        }
        assert_eq!(asked(&many(MOST)).map(|runs| runs.len()).ok(), Some(MOST));
    }
}
