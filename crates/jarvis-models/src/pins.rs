//! For maintainers: the catalogue with revisions, sizes, hashes and licences as the Hub has them now.

use std::collections::BTreeMap;

use crate::ModelError;
use crate::catalogue::{Catalogue, Pin};
use crate::choose;
use crate::hub::Hub;
use crate::ids::{BlobId, Revision};

/// The catalogue pinned to what `main` is now, and what could not be pinned. Such an entry stays as it was.
///
/// # Errors
/// When nothing may be asked: offline.
pub async fn pin(
    hub: &Hub,
    catalogue: &Catalogue,
    report: &(dyn Fn(&str) + Sync),
) -> Result<(Catalogue, Vec<String>), ModelError> {
    let mut pinned = catalogue.clone();
    let mut failures = Vec::new();
    for entry in pinned.entries_mut() {
        report(&entry.name);
        let look = async {
            let info = hub.revision(&entry.repo, &Revision::main()).await?;
            let files = hub.files(&info.repo, &info.commit).await?;
            Ok((choose::of_entry(entry, &files, None)?, info))
        };
        match look.await {
            Ok((chosen, info)) => {
                let pin = |blob: &BlobId| match blob {
                    BlobId::Sha256(hash) => Some(hash.clone()),
                    BlobId::Git(_) => None,
                };
                let pins =
                    chosen.files.into_iter().map(|file| (file.path, Pin { size: file.size, sha256: pin(&file.blob) }));
                entry.pins = pins.collect::<BTreeMap<_, _>>();
                entry.weights = chosen.weights;
                entry.license = info.license;
                entry.revision = Some(Revision::new(info.commit.as_str())?);
                entry.repo = info.repo;
            }
            Err(error @ ModelError::Offline { .. }) => return Err(error),
            Err(error) => failures.push(format!("{}: {error}", entry.name)),
        }
    }
    Ok((pinned, failures))
}
