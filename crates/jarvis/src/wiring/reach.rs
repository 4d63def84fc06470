//! Where the parts of this configuration send what they are given, read off the parts themselves, and what is kept.

use std::path::Path;
use std::sync::Arc;
use std::{iter, net::IpAddr};

use jarvis_catalogue::Host;
use jarvis_net::Reach as Address;
use jarvis_server::{Audit, Kept, KeptItem, Reach};
use jarvis_tools::ToolAddress;
use url::{Host as UrlHost, Url};

use super::{App, Folders};
use crate::config::RetentionConfig;
use crate::failure::Failure;
use crate::retention::{self, Logs};

const HERE: &str = "this machine";
const NETWORK: &str = "your network";

/// The host of a URL as people know it: public ones by name.
fn host_of(url: &Url) -> String {
    let of_ip = |ip: IpAddr| match Address::of(ip) {
        _ if ip.to_canonical().is_loopback() || ip.is_unspecified() => HERE.to_owned(),
        Address::Private(_) | Address::Never(_) => NETWORK.to_owned(),
        Address::Public => ip.to_string(),
    };
    match url.host() {
        Some(UrlHost::Ipv4(ip)) => of_ip(ip.into()),
        Some(UrlHost::Ipv6(ip)) => of_ip(ip.into()),
        Some(UrlHost::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let last = name.rsplit('.').next().unwrap_or_default();
            match last {
                "localhost" => HERE.to_owned(),
                // Reserved for private use: RFC 6762, RFC 8375, and ICANN's resolution on `.internal`.
                "local" | "internal" | "lan" => NETWORK.to_owned(),
                _ if name.ends_with(".home.arpa") || !name.contains('.') => NETWORK.to_owned(),
                _ => name,
            }
        }
        None => HERE.to_owned(),
    }
}

pub(super) fn host_of_tool(address: ToolAddress) -> String {
    match address {
        ToolAddress::Process => HERE.to_owned(),
        ToolAddress::Program(name) => format!("program {name}"),
        // An address without a scheme is one of a gRPC service.
        ToolAddress::Url(url) => Url::parse(&url)
            .ok()
            .filter(Url::has_host)
            .or_else(|| Url::parse(&format!("http://{url}")).ok())
            .map_or(url, |url| host_of(&url)),
    }
}

fn reach(kind: &str, hosts: impl IntoIterator<Item = String>) -> Reach {
    let mut seen: Vec<String> = Vec::new();
    for host in hosts {
        if !seen.contains(&host) {
            seen.push(host);
        }
    }
    if seen.is_empty() {
        seen.push(HERE.to_owned());
    }
    Reach { kind: kind.to_owned(), hosts: seen }
}

/// Until when something is kept, in words.
fn until(days: Option<u32>, mb: Option<u64>, after: &str) -> String {
    let days = days.map(|days| format!("{days} days {after}"));
    let mb = mb.map(|mb| format!("until all of them take more than {mb} MB"));
    match (days, mb) {
        (None, None) => "until you delete it".to_owned(),
        (Some(one), Some(other)) => format!("{one}, or {other}"),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

impl App {
    /// The hosts that each stage, task type and tool may send to.
    pub(crate) fn reach(&self) -> Vec<Reach> {
        let configured = || self.endpoint.iter().filter_map(|endpoint| Url::parse(&endpoint.address()).ok());
        let callers = &self.config.server.caller_endpoints;
        // Callers bring endpoints of their own only where there is a model's name to ask for.
        let brought = callers.hosts.iter().filter(|_| callers.allow && self.endpoint.is_some());
        let brought = || brought.clone().map(|host| host_of_tool(ToolAddress::Url(host.clone())));
        let chat = || configured().map(|url| host_of(&url)).chain(brought());
        let registry = &self.base.tools.registry;
        let tool = |name: &str| registry.address(name).map(host_of_tool);
        let mut all = vec![
            reach("planning", chat()),
            reach("choosing", chat().chain(self.addresses.probed.iter().map(host_of))),
            reach("answering", chat()),
            reach("inputs", ["hosts that the request names".to_owned()]),
        ];
        let service = self.config.decisions.model_api_base_url.as_deref().and_then(|url| Url::parse(url).ok());
        all.extend(service.map(|url| reach("decisions", [host_of(&url)])));
        let sources = &self.pipeline.sources;
        for offered in self.pipeline.offered().iter() {
            let Some(kind) = jarvis_catalogue::find(&offered.name) else { continue };
            let performers = sources.performers(kind, self.pipeline.chat.is_some());
            let hosts = performers.into_iter().flat_map(|(host, name)| -> Vec<String> {
                match host {
                    Host::Native => vec![HERE.to_owned()],
                    Host::Huggingface => self.addresses.huggingface.iter().map(host_of).collect(),
                    // A local model is named, what the model server has loaded is not.
                    Host::Local if name.is_some() => vec![HERE.to_owned()],
                    Host::Local => self.addresses.model_server.iter().map(host_of).collect(),
                    Host::Tool => name.as_deref().and_then(tool).into_iter().collect(),
                    Host::Api => Vec::new(),
                    Host::Llm => match &self.addresses.media {
                        Some((url, tasks)) if tasks.contains(&kind.name) => {
                            iter::once(host_of(url)).chain(brought()).collect()
                        }
                        Some(_) | None => chat().collect(),
                    },
                }
            });
            all.push(reach(kind.name, hosts));
        }
        for spec in registry.specs() {
            match registry.address(&spec.name) {
                Some(ToolAddress::Process) | None => {}
                Some(address) => all.push(reach(&spec.name, [host_of_tool(address)])),
            }
        }
        all
    }

    /// What this process keeps of requests.
    pub(crate) fn kept(&self) -> Result<Kept, Failure> {
        let folders = Folders::of(&self.config)?;
        let plans = if self.config.decisions.save_plan { self.config.decisions.plan_keep } else { 0 };
        let folder = folders.journal.parent().map(|folder| folder.display().to_string());
        let (journal, logs) = (self.journal.is_some(), self.base.logs.is_some());
        let items = self.kept_items(&folders, plans);
        Ok(Kept { journal, logs, files: true, chats: journal, plans, until: "deleted", folder, items })
    }

    /// Removes logs that have been kept for long enough, where the configuration says how long.
    pub(crate) fn prune_logs(&self) -> Result<Option<Arc<dyn Fn() + Send + Sync>>, Failure> {
        let RetentionConfig { keep_days, keep_mb } = self.config.kept_logs;
        if keep_days.is_none() && keep_mb.is_none() {
            return Ok(None);
        }
        let (prompts, trace) = (Folders::of(&self.config)?.prompts, self.config.react.trace_file.clone());
        let requests = self.base.logs.clone();
        Ok(Some(Arc::new(move || {
            let logs = Logs { requests: requests.as_deref(), prompts: prompts.clone(), trace: trace.clone() };
            if let Err(error) = logs.prune(keep_days.map(retention::days), keep_mb.map(retention::megabytes)) {
                tracing::error!(%error, "old logs could not be removed");
            }
        })))
    }

    fn kept_items(&self, folders: &Folders, plans: usize) -> Vec<KeptItem> {
        let runs = &self.config.runs;
        let mut items = Vec::new();
        let mut keep = |what, place: &str, until: String, at: &Path| {
            items.push(KeptItem { what, place: place.to_owned(), until, folder: Some(at.display().to_string()) });
        };
        if self.journal.is_some() {
            let until = until(runs.keep_days, runs.keep_mb, "after it ended");
            keep("runs", "run journal on this machine", until, &folders.journal);
            keep("chats", "run journal on this machine", "until you delete it".to_owned(), &folders.journal);
        }
        let media = &self.config.kept_media;
        let place =
            if self.config.media_store.is_some() { "store that machines share" } else { "folder on this machine" };
        let with_runs = match until(media.keep_days, media.keep_mb, "after nothing speaks of it") {
            until if media.keep_days.is_none() && media.keep_mb.is_none() => until,
            until => format!("with its run, and {until}"),
        };
        keep("media", place, with_runs, &folders.public);
        if plans > 0 {
            let until = format!("until there are {plans} later ones, or you delete it");
            keep("plans", "folder on this machine", until, &folders.plans);
        }
        let logs = until(self.config.kept_logs.keep_days, self.config.kept_logs.keep_mb, "after it was written");
        if self.base.logs.is_some() {
            keep("logs", "request logs on this machine", logs.clone(), &folders.logs);
        }
        if self.config.decisions.save_prompts {
            keep("prompts", "prompt logs on this machine", logs.clone(), &folders.prompts);
        }
        if let Some(trace) = &self.config.react.trace_file {
            keep("traces", "trace file on this machine", logs, trace);
        }
        keep("audit", "audit log on this machine", "as long as the server's folder".to_owned(), &folders.audit);
        keep("approvals", "file on this machine", "as long as the server's folder".to_owned(), &folders.approvals);
        items
    }

    /// Where it is written down who allowed what; a server of several users does not start without it.
    pub(crate) fn audit(&self) -> Result<Option<Audit>, Failure> {
        let path = Folders::of(&self.config)?.audit;
        match Audit::open(&path) {
            Ok(audit) => Ok(Some(audit)),
            Err(error) if self.config.server.tokens.is_empty() => {
                tracing::warn!(%error, path = %path.display(), "approvals are not written down");
                Ok(None)
            }
            Err(error) => Err(Failure::work(format!("the audit cannot be kept in {}: {error}", path.display()))
                .hint("with several users it must be written down who allowed what: choose another `data_dir`")),
        }
    }

    pub(crate) fn tool_warnings(&self) -> Vec<String> {
        self.base.tools.warnings().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use jarvis_tools::ToolAddress;

    use super::host_of_tool;

    #[test]
    fn hosts_are_named_as_people_know_them() {
        for (url, want) in [
            ("http://localhost:11434/v1", "this machine"),
            ("http://127.0.0.1:8000", "this machine"),
            ("http://[::1]:8000", "this machine"),
            ("http://[::ffff:127.0.0.1]/", "this machine"),
            ("127.0.0.1:50052", "this machine"),
            ("http://192.168.1.7/", "your network"),
            ("http://[fd00::1]/", "your network"),
            ("http://gpu-box:8000/v1", "your network"),
            ("http://gpu.local/", "your network"),
            ("http://gpu.home.arpa/", "your network"),
            ("https://API.openai.com/v1", "api.openai.com"),
            ("https://notlocal/", "your network"),
            ("https://mylocalhost.com/", "mylocalhost.com"),
            ("http://8.8.8.8/", "8.8.8.8"),
            ("api.example.com:443", "api.example.com"),
        ] {
            assert_eq!(host_of_tool(ToolAddress::Url(url.to_owned())), want, "{url}");
        }
        assert_eq!(host_of_tool(ToolAddress::Program("files".to_owned())), "program files");
        assert_eq!(host_of_tool(ToolAddress::Process), "this machine");
    }
}
