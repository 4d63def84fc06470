//! Arguments and links where tasks only come after others: arguments are named, links are listed.

use std::collections::BTreeSet;

use super::{Node, Records};
use crate::data::SampleId;
use crate::json::{Json, Look, printed};

/// The records of each node: name and value as printed; `None` when the sample is dropped.
pub(super) fn records(nodes: &[Node<'_, '_>], gold: bool) -> Option<Records> {
    nodes
        .iter()
        .map(|node| match node.arguments {
            None => (!gold).then(Vec::new),
            Some(arguments) => match arguments.list() {
                Some(items) => items
                    .iter()
                    .map(|item| {
                        let (name, value) = (item.look("name")?, item.look("value")?);
                        Some((printed(name).into_owned(), printed(value).into_owned()))
                    })
                    .collect(),
                None => arguments.is_empty_container().then(Vec::new),
            },
        })
        .collect()
}

/// The links as written, their ends equal as ids are: by value, numbers apart from text. Then
/// how many could not be read; the whole list counts as one.
pub(super) fn links(value: &Json<'_>) -> (BTreeSet<(SampleId, SampleId)>, u32) {
    let Some(items) = value.list() else {
        return (BTreeSet::new(), u32::from(!value.is_empty_container()));
    };
    let mut bad = 0;
    let mut links = BTreeSet::new();
    for item in items {
        let end = |key: &str| item.look(key).and_then(SampleId::of);
        match (end("source"), end("target")) {
            (Some(source), Some(target)) => {
                links.insert((source, target));
            }
            (_, _) => bad += 1,
        }
    }
    (links, bad)
}
