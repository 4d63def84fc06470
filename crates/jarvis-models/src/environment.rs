//! What the environment says about the Hub and its cache, by the names that the Hub's own programs read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jarvis_net::Secret;
use url::Url;

use crate::ModelError;
use crate::ids::InvalidName;

/// The Hub unless `HF_ENDPOINT` names another.
const HUB: &str = "https://huggingface.co";
/// How long nothing may come unless `HF_HUB_DOWNLOAD_TIMEOUT` says otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest file that is taken for a token.
const MAX_TOKEN: u64 = 4096;

#[derive(Debug, Clone)]
pub struct Environment {
    /// Folder of the cache: `HF_HUB_CACHE`, else `hub` in `HF_HOME`, in `XDG_CACHE_HOME/huggingface` or in
    /// `~/.cache/huggingface`.
    pub cache: PathBuf,
    /// `HF_ENDPOINT`.
    pub endpoint: Url,
    /// `HF_TOKEN`, else what the file `HF_TOKEN_PATH` holds, else the file `token` in `HF_HOME`, where a login leaves it.
    pub token: Option<Secret>,
    /// `HF_HUB_OFFLINE`.
    pub is_offline: bool,
    /// How long a download may stall: `HF_HUB_DOWNLOAD_TIMEOUT` in seconds, 30 s by default.
    pub timeout: Duration,
}

impl Environment {
    /// Reads variables with `var`; `home` is the person's folder.
    ///
    /// # Errors
    /// When `HF_ENDPOINT` is not an address.
    pub fn read(var: impl Fn(&str) -> Option<String>, home: Option<&Path>) -> Result<Environment, ModelError> {
        let var = |name: &str| var(name).filter(|text| !text.trim().is_empty());
        let folder = |name: &str| var(name).map(|text| expanded(&text, home));
        let hf_home = folder("HF_HOME").unwrap_or_else(|| {
            let caches = folder("XDG_CACHE_HOME").or_else(|| Some(home?.join(".cache")));
            caches.unwrap_or_else(std::env::temp_dir).join("huggingface")
        });
        let cache = folder("HF_HUB_CACHE").or_else(|| folder("HUGGINGFACE_HUB_CACHE"));
        let endpoint = var("HF_ENDPOINT").unwrap_or_else(|| HUB.to_owned());
        let endpoint = Url::parse(endpoint.trim().trim_end_matches('/'))
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.username().is_empty());
        let endpoint = endpoint
            .ok_or_else(|| InvalidName("HF_ENDPOINT is not an address such as https://huggingface.co".into()))?;
        let token = var("HF_TOKEN").and_then(|token| Secret::new(&token));
        let token_file = folder("HF_TOKEN_PATH").unwrap_or_else(|| hf_home.join("token"));
        let seconds = var("HF_HUB_DOWNLOAD_TIMEOUT").and_then(|text| text.trim().parse::<f64>().ok());
        let timeout =
            seconds.filter(|seconds| *seconds > 0.0).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Ok(Environment {
            cache: cache.unwrap_or_else(|| hf_home.join("hub")),
            endpoint,
            token: token.or_else(|| token_of(&token_file)),
            is_offline: var("HF_HUB_OFFLINE").is_some_and(|text| is_true(&text)),
            timeout: timeout.unwrap_or(TIMEOUT),
        })
    }
}

/// What the Hub's programs take for yes.
fn is_true(text: &str) -> bool {
    matches!(text.trim().to_ascii_uppercase().as_str(), "1" | "ON" | "YES" | "TRUE")
}

fn expanded(text: &str, home: Option<&Path>) -> PathBuf {
    let text = text.trim();
    match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    }
}

fn token_of(file: &Path) -> Option<Secret> {
    let size = std::fs::metadata(file).ok()?.len();
    let text = (size <= MAX_TOKEN).then(|| std::fs::read_to_string(file).ok())??;
    Secret::new(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> Environment {
        let var = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Environment::read(var, Some(Path::new("/home/ada"))).unwrap()
    }

    #[test]
    fn the_cache_is_where_the_hubs_programs_have_it() {
        for (vars, cache) in [
            (&[][..], "/home/ada/.cache/huggingface/hub"),
            (&[("XDG_CACHE_HOME", "/x")], "/x/huggingface/hub"),
            (&[("HF_HOME", "~/hf"), ("XDG_CACHE_HOME", "/x")], "/home/ada/hf/hub"),
            (&[("HUGGINGFACE_HUB_CACHE", "/old"), ("HF_HOME", "/hf")], "/old"),
            (&[("HF_HUB_CACHE", "/here"), ("HUGGINGFACE_HUB_CACHE", "/old"), ("HF_HOME", "/hf")], "/here"),
            (&[("HF_HUB_CACHE", " ")], "/home/ada/.cache/huggingface/hub"),
        ] {
            assert_eq!(read(vars).cache, Path::new(cache), "{vars:?}");
        }
    }

    #[test]
    fn tokens_addresses_and_switches_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(folder.path().join("token"), "hf_login\n").unwrap();
        std::fs::write(folder.path().join("other"), "hf_other\n").unwrap();
        let token = |vars: &[(&str, &str)]| read(vars).token.map(|token| token.expose().to_owned());
        let home = folder.path().display().to_string();
        assert_eq!(token(&[]), None);
        assert_eq!(token(&[("HF_HOME", &home)]).as_deref(), Some("hf_login"));
        assert_eq!(token(&[("HF_HOME", &home), ("HF_TOKEN_PATH", &at("other"))]).as_deref(), Some("hf_other"));
        assert_eq!(token(&[("HF_HOME", &home), ("HF_TOKEN", " hf_env ")]).as_deref(), Some("hf_env"));
        for (text, offline) in [("1", true), ("true", true), ("Yes", true), ("0", false), ("no", false), ("", false)] {
            assert_eq!(read(&[("HF_HUB_OFFLINE", text)]).is_offline, offline, "{text}");
        }
        for (text, seconds) in [("5", 5), ("", 30), ("x", 30), ("-1", 30), ("0", 30)] {
            assert_eq!(read(&[("HF_HUB_DOWNLOAD_TIMEOUT", text)]).timeout.as_secs(), seconds, "{text}");
        }
        assert_eq!(read(&[("HF_ENDPOINT", "http://127.0.0.1:9/")]).endpoint.as_str(), "http://127.0.0.1:9/");
        let bad = |name: &str| (name == "HF_ENDPOINT").then(|| "nowhere".to_owned());
        assert!(Environment::read(bad, None).is_err());
    }
}
