//! The models known without any file, from `data/`: native ones, the model server's, and well-known ones of the Hub.
//!
//! Native descriptions say what the work really is: measuring is not seeing, drawing a card is not painting.

use indexmap::IndexMap;
use serde::Deserialize;

use crate::{Deployment, Host, Model, local_models};

/// Native models, in the order of preference within a task.
pub(crate) fn native() -> impl Iterator<Item = Model> {
    let rows: Vec<Native> = read(include_str!("../data/native_models.json"));
    rows.into_iter().map(|row| Model {
        tags: Some(row.tags),
        note: row.note,
        specialty: row.specialty,
        ..Model::new(row.id, row.task, Host::Native, row.description)
    })
}

/// What the model server of the original loads, all deployments.
pub(crate) fn local() -> impl Iterator<Item = Model> {
    local_models(Deployment::Full).map(|(id, task)| {
        let control = crate::find(task).filter(|known| known.control_model().is_some());
        let description = control.map_or("Loaded by the model server", |known| known.description);
        Model::new(id, task, Host::Local, description.trim_end_matches('.'))
    })
}

/// Well-known models of the Hub, the most used of a task first.
pub(crate) fn huggingface() -> impl Iterator<Item = Model> {
    let tasks: IndexMap<&str, IndexMap<&str, &str>> = read(include_str!("../data/hub_models.json"));
    tasks.into_iter().flat_map(|(task, models)| {
        models.into_iter().map(move |(id, description)| Model {
            pipeline_tag: crate::find(task).and_then(|known| known.hub_pipeline_tag).map(str::to_owned),
            ..Model::new(id, task, Host::Huggingface, description)
        })
    })
}

#[derive(Deserialize)]
struct Native {
    id: &'static str,
    task: &'static str,
    description: &'static str,
    /// Words of requests that it fits, in English, Russian and Chinese.
    tags: Vec<String>,
    note: Option<String>,
    #[serde(default)]
    specialty: bool,
}

fn read<T: Deserialize<'static>>(data: &'static str) -> T {
    serde_json::from_str(data).expect("the tests read the same bytes")
}
