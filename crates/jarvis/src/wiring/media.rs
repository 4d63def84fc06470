//! The public root, and the store behind it where one is configured.

use jarvis_store::{Media, MediaError};

use super::{Folders, load_config};
use crate::cli::Global;
use crate::config::{Config, MediaStoreConfig};
use crate::failure::Failure;
use crate::printer::Printer;

/// Opens the media of a configuration.
pub(crate) fn media(config: &Config, folders: &Folders) -> Result<Media, Failure> {
    let media = Media::open(&folders.public).map_err(|error| {
        Failure::work(error).hint("choose another folder with --data-dir, or the configuration key `public_dir`")
    })?;
    match &config.media_store {
        Some(store) => behind(media, store),
        None => Ok(media),
    }
}

/// The same of the configuration that the flags name.
pub(crate) fn open_media(global: &Global, printer: Printer) -> Result<Media, Failure> {
    let config = load_config(global, printer)?.config;
    media(&config, &Folders::of(&config)?)
}

/// An error of media as a failure of the work, with what to try.
pub(crate) fn failure(error: MediaError) -> Failure {
    let hint = error.hint();
    Failure::work(error).maybe_hint(hint)
}

#[cfg(feature = "s3")]
fn behind(media: Media, store: &MediaStoreConfig) -> Result<Media, Failure> {
    use std::time::Duration;

    use jarvis_store::{StoreKeys, StoreSettings};

    use super::experts::secret;

    let MediaStoreConfig { bucket, prefix, region, cache_bytes, .. } = store.clone();
    let key = |name: &str, what: &str| {
        let missing = || Failure::usage(format!("the media store needs {what}, and `{name}` is not set"));
        secret(&[name]).ok_or_else(|| missing().hint("set it, or name another variable under `media_store`"))
    };
    let keys = StoreKeys {
        access: key(&store.access_key_env, "the id of an access key")?,
        secret: key(&store.secret_key_env, "the secret of its access key")?,
        session: secret(&[&store.session_token_env]),
    };
    let endpoint =
        store.endpoint.as_deref().map(|endpoint| super::url("media_store.endpoint", endpoint)).transpose()?;
    let (prefix, timeout) = (prefix.unwrap_or_default(), Duration::from_secs(store.timeout_s.max(1)));
    let settings = StoreSettings { bucket, prefix, endpoint, region, keys, cache_bytes, timeout };
    media.with_store(&settings).map_err(failure)
}

#[cfg(not(feature = "s3"))]
fn behind(_: Media, store: &MediaStoreConfig) -> Result<Media, Failure> {
    let error = format!("this jarvis was built without the feature `s3`, and cannot use the bucket `{}`", store.bucket);
    Err(Failure::usage(error).hint("build it with the feature, or remove `media_store` from the configuration"))
}
