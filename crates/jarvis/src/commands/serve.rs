//! `jarvis serve`: the pipeline behind HTTP, until a signal ends it.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use jarvis_engine::Meter;
use jarvis_events::SERVER;
use jarvis_net::Secret;
use jarvis_pipeline::approval::Approver;
use jarvis_server::{
    CallerPolicy, Desk, GrpcOptions, GrpcTls, LinkKey, Listeners, Options, Pace, Parts, Retention, ServeError, Setup,
    Tls, User,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::{Global, ServeArgs};
use crate::config::{Config, GrpcConfig, Resume, TokenConfig, env_vars, token_in};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::retention;
use crate::signals::{Signal, Signals};
use crate::wiring::{App, Flags, Folders, JournalUse, Reader, check_prices, checks, secret, unpriced, url, url_policy};
#[cfg(feature = "restate")]
use crate::wiring::{carried_out_by_restate, scale::CHECKUP, told_by_restate};

mod reload;

use reload::{Reloader, reload_signal};

const HTTP_PORT: u16 = 8004;

/// Where the original's model server listens.
const MODELS_PORT: u16 = 8005;

const GRPC_PORT: u16 = 50051;

pub(super) async fn run(args: ServeArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    // Before all else: what reads its configuration anew by a signal must not die of it while it starts.
    let reload_asked = reload_signal();
    let desk = Desk::default();
    let approver: Arc<dyn Approver> = Arc::new(desk.clone());
    let journal = if args.no_journal { JournalUse::Unused } else { JournalUse::Needed };
    let flags = Flags { journal, ..Flags::default() };
    let app = App::build_for(Reader::Wire, flags, Arc::clone(&approver), global, printer).await?;
    let link_key = link_key(&app.config, printer)?;
    let options = Options { models_only: args.models_only, link_key, ..checked_options(&app.config)? };
    let ready_grace_s = app.config.server.ready_grace_s;
    if !options.users.is_empty() && app.journal.is_none() {
        return Err(Failure::usage("several users need the journal, which knows whose each thing is")
            .hint("start it without --no-journal"));
    }
    // A thousand streams need more files than many systems allow by default.
    if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
    let stop = CancellationToken::new();
    let grace = Duration::from_secs(ready_grace_s);
    tokio::spawn(stop_on_signal(Signals::taken(), stop.clone(), options.leaving.clone(), grace, printer));
    let listeners = listen_on(&args, &app.config, &options, printer).await?;
    if let Some(endpoint) = app.endpoint.clone() {
        // So that the first request does not wait for the tokenizer.
        tokio::spawn(async move { endpoint.preload().await });
    }
    let work = match (args.models_only, app.pipeline.planner_name()) {
        (true, _) => "lending models, planning nothing".to_owned(),
        (false, "offline") => "planning with the offline planner".to_owned(),
        (false, _) => format!("planning with {}", app.pipeline.model_name()),
    };
    #[cfg(feature = "restate")]
    let hosted = host_runs(&args, &app, printer).await?;
    let token = match (options.token.is_some(), options.users.len()) {
        (_, users @ 1..) => format!("needed, and names one of {users} users"),
        (true, 0) => "needed".to_owned(),
        (false, 0) => "not needed".to_owned(),
    };
    printer.progress(&format!("{work}; a token is {token}; stop with Ctrl-C"));
    let staying = app.staying();
    let parts = parts(&app, desk)?;
    let setup = setup(app, global)?;
    #[cfg(feature = "restate")]
    let (parts, setup) = match (&hosted, &args.restate) {
        (Some((_, endpoint)), Some(ingress)) => {
            let client = jarvis_restate::Client::new(ingress.clone(), endpoint.admin.clone());
            let parts = Parts { elsewhere: Some(told_by_restate(&client)), ..parts };
            (parts, carried_out_by_restate(setup, client, &approver))
        }
        _ => (parts, setup),
    };
    #[cfg(feature = "restate")]
    // What hosts runs of Restate is made at the start.
    let takes_setup = hosted.is_none();
    #[cfg(not(feature = "restate"))]
    let takes_setup = true;
    let reloader = Reloader { staying, approver, takes_setup, global: global.clone(), printer };
    let parts = Parts { reload: Some(reloader.reload(reload_asked)), ..parts };
    #[cfg(feature = "restate")]
    if let Some((host, endpoint)) = hosted {
        let hosting = tokio::spawn(host.serve(endpoint, stop.clone()));
        jarvis_server::serve(listeners, parts, setup, options, stop).await.map_err(refused)?;
        hosting.await.map_err(Failure::work)?.map_err(super::worker::failed)?;
        printer.progress("stopped");
        return Ok(ExitCode::SUCCESS);
    }
    jarvis_server::serve(listeners, parts, setup, options, stop).await.map_err(refused)?;
    printer.progress("stopped");
    Ok(ExitCode::SUCCESS)
}

/// What hosts runs of Restate, where it is asked for, and the socket that Restate calls.
#[cfg(feature = "restate")]
async fn host_runs(
    args: &ServeArgs,
    app: &App,
    printer: Printer,
) -> Result<Option<(jarvis_restate::RunHost, jarvis_restate::Endpoint)>, Failure> {
    let (Some(ingress), Some(admin)) = (&args.restate, &args.restate_admin) else { return Ok(None) };
    if !app.config.server.tokens.is_empty() {
        return Err(Failure::usage("a server of several users hosts no runs of Restate")
            .hint("its workers do not know whose a file is: take `server.tokens` out, or serve without --restate"));
    }
    let host = app.run_host()?;
    let (listen, restate) = (args.restate_listen, args.restate_endpoint.clone());
    let endpoint = super::worker::endpoint(listen, admin.clone(), restate, printer).await?;
    let looked = jarvis_restate::checkup(&endpoint.admin, ingress.clone());
    match tokio::time::timeout(CHECKUP, looked).await {
        Ok(Ok(found)) => {
            for fault in found.admin.iter().chain(&found.ingress) {
                printer.warning(&format!("{fault}; runs begin when it answers"));
            }
            let served: Vec<&str> = found.capabilities.iter().map(String::as_str).collect();
            let served = if served.is_empty() { "nothing yet".to_owned() } else { served.join(", ") };
            printer.progress(&format!("jarvis hosts runs of Restate; workers perform {served}"));
        }
        Ok(Err(error)) => printer.warning(&error.to_string()),
        Err(_) => printer.warning("Restate does not answer; runs begin when it does"),
    }
    Ok(Some((host, endpoint)))
}

pub(super) fn parts(app: &App, desk: Desk) -> Result<Parts, Failure> {
    Ok(Parts {
        audit: app.audit()?,
        elsewhere: None,
        desk,
        kept: app.kept()?,
        prune_logs: app.prune_logs()?,
        reload: None,
        metrics_sink: crate::logs::metrics_sink(),
        media: Arc::clone(&app.media),
        journal: app.journal.clone(),
    })
}

/// What the configuration makes of models and tools.
pub(super) fn setup(app: App, global: &Global) -> Result<Setup, Failure> {
    let unpriced = unpriced(&app.config)?.map(str::to_owned);
    let decisions = app.decisions()?;
    let service = app.config.decisions.model_api_base_url.is_some();
    let contexts = app.contexts.clone();
    Ok(Setup {
        meter: Meter { door: SERVER, ..app.meter.clone() },
        pipelines: app.pipelines_for_callers(),
        check: app.check_call(),
        context: Arc::new(move |chat, events, cancel| contexts.of(chat, events, cancel)),
        checks: checks(&app, service.then(|| Arc::clone(&decisions.source))),
        decisions,
        models: Arc::new(app.served_models()),
        store: app.pulls(global.offline)?,
        local_decisions: app.local_decisions()?,
        format: app.config.decisions.format,
        for_caller: Arc::new(app.for_caller()),
        reach: app.reach(),
        chat_models: app.chat_models(),
        tools: app.offered_tools(),
        warnings: app.tool_warnings(),
        unpriced,
        agent: app.agent,
        pipeline: app.pipeline,
    })
}

/// Binds the requested addresses and prints them.
async fn listen_on(
    args: &ServeArgs,
    config: &Config,
    options: &Options,
    printer: Printer,
) -> Result<Listeners, Failure> {
    let mut listeners = Listeners::default();
    if !args.no_http {
        let address = address(args, config)?;
        listeners.http = Some(listen(address, options, "--http").await?);
    }
    let asked = args.grpc.as_deref().or(config.grpc.listen.as_deref()).or(args.no_http.then_some(""));
    if let Some(asked) = asked {
        let address = match asked.trim() {
            "" => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), GRPC_PORT),
            text => ip_address(split(text, GRPC_PORT)?)?,
        };
        listeners.grpc = Some((listen(address, options, "--grpc").await?, grpc_options(&config.grpc)?));
        if address.port() == 0 {
            let bound = listeners.grpc.as_ref().map(|(listener, _)| listener.local_addr()).transpose();
            if let Some(bound) = bound.map_err(Failure::work)? {
                printer.out(&bound.port().to_string());
            }
        }
    }
    if let Some(listener) = &listeners.http {
        let scheme = if options.tls.is_some() { "https" } else { "http" };
        printer.progress(&format!("jarvis serves {scheme}://{}/", listener.local_addr().map_err(Failure::work)?));
    }
    if let Some((listener, grpc)) = &listeners.grpc {
        let secure = if grpc.tls.is_some() { " with TLS" } else { "" };
        printer.progress(&format!("jarvis serves gRPC{secure} at {}", listener.local_addr().map_err(Failure::work)?));
    }
    Ok(listeners)
}

async fn listen(address: SocketAddr, options: &Options, flag: &str) -> Result<TcpListener, Failure> {
    jarvis_server::check(address, options).map_err(refused)?;
    jarvis_server::bind(address).await.map_err(|error| {
        Failure::work(format!("cannot listen on {address}: {error}"))
            .hint(format!("choose another with {flag} ADDR:PORT"))
    })
}

fn read_pem(key: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::usage(format!("cannot read the file of `{key}`, {}: {error}", path.display()))
            .hint("name a PEM file that jarvis may read")
    })
}

/// The certificates of HTTPS, where the configuration names them.
///
/// # Errors
/// When they cannot be read or used.
fn https(config: &Config) -> Result<Option<Tls>, Failure> {
    match (&config.server.tls_cert, &config.server.tls_key) {
        (None, None) => Ok(None),
        (Some(certificates), Some(key)) => {
            let (certificates, key) = (read_pem("server.tls_cert", certificates)?, read_pem("server.tls_key", key)?);
            Tls::of_pem(&certificates, &key).map(Some).map_err(refused)
        }
        _ => Err(Failure::usage("HTTPS needs both `server.tls_cert` and `server.tls_key`")
            .hint("name the certificate chain and its private key, both in PEM")),
    }
}

/// Limits and certificates of the gRPC service, from the configuration.
///
/// # Errors
/// When its certificate or key cannot be read or used.
pub(super) fn grpc_options(config: &GrpcConfig) -> Result<GrpcOptions, Failure> {
    let tls = match (&config.tls_cert, &config.tls_key) {
        (Some(certificate), Some(key)) => Some(GrpcTls {
            certificate: read_pem("grpc.tls_cert", certificate)?,
            key: read_pem("grpc.tls_key", key)?,
            client_ca: config.tls_client_ca.as_deref().map(|path| read_pem("grpc.tls_client_ca", path)).transpose()?,
        }),
        (None, None) if config.tls_client_ca.is_none() => None,
        _ => {
            return Err(Failure::usage("TLS needs both `grpc.tls_cert` and `grpc.tls_key`")
                .hint("name the certificate chain and its private key, both in PEM"));
        }
    };
    if let Some(tls) = &tls {
        tls.check().map_err(refused)?;
    }
    Ok(GrpcOptions { max_file: config.max_file_bytes, tls })
}

pub(super) fn refused(error: ServeError) -> Failure {
    let hint = error.hint();
    match &error {
        ServeError::Open { .. }
        | ServeError::WeakToken { .. }
        | ServeError::SameToken
        | ServeError::Users(_)
        | ServeError::Origin(_)
        | ServeError::Tls(_) => Failure::usage(error).hint(hint),
        ServeError::Socket(_) | ServeError::Grpc(_) | ServeError::Mcp(_) => Failure::work(error).hint(hint),
    }
}

/// Where to listen: flag over configuration over default.
fn address(args: &ServeArgs, config: &Config) -> Result<SocketAddr, Failure> {
    let usual = if args.models_only { MODELS_PORT } else { HTTP_PORT };
    let (host, port) = match (args.http.as_deref(), &config.http_listen) {
        (Some(flag), _) => split(flag, usual)?,
        (None, Some(listen)) if !args.models_only => (listen.host.clone(), listen.port),
        (None, Some(_) | None) => ("127.0.0.1".to_owned(), usual),
    };
    ip_address((host, port))
}

/// The address of a host and a port; names are not resolved, save `localhost`.
fn ip_address((host, port): (String, u16)) -> Result<SocketAddr, Failure> {
    let ip = match host.trim_start_matches('[').trim_end_matches(']') {
        "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
        host => host.parse().map_err(|_| {
            Failure::usage(format!("`{host}` is not an address to listen on"))
                .hint("give an IP address and a port, such as 127.0.0.1:8004 or [::1]:8004")
        })?,
    };
    Ok(SocketAddr::new(ip, port))
}

/// `HOST:PORT`, or one of the two alone.
fn split(text: &str, default: u16) -> Result<(String, u16), Failure> {
    let port = |text: &str| {
        text.parse::<u16>()
            .map_err(|_| Failure::usage(format!("`{text}` is not a port")).hint("a port is a number from 0 to 65535"))
    };
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(("127.0.0.1".to_owned(), port(text)?));
    }
    match text.rsplit_once(':') {
        Some((host, digits)) if !digits.contains(']') && (!host.contains(':') || host.starts_with('[')) => {
            Ok((if host.is_empty() { "127.0.0.1".to_owned() } else { host.to_owned() }, port(digits)?))
        }
        _ => Ok((text.to_owned(), default)),
    }
}

/// The users that the configuration names, with their tokens.
fn users(config: &Config) -> Result<Vec<User>, Failure> {
    let users = config.server.tokens.iter().map(TokenConfig::user).collect::<Result<Vec<_>, _>>()?;
    match users.iter().find(|user| user.a_day.max_cost.is_some()) {
        Some(user) => check_prices(config, &format!("a budget of cost, as `{}` has,", user.name)).map(|()| users),
        None => Ok(users),
    }
}

/// The options of a server of this configuration, looked at as where it listens on this machine.
///
/// # Errors
/// When it would not start.
pub(super) fn checked_options(config: &Config) -> Result<Options, Failure> {
    let server = &config.server;
    let token = token_of(server.token_file.as_deref(), server.token_env.as_deref().unwrap_or(env_vars::TOKEN))?;
    let admin_env = server.admin_token_env.as_deref().unwrap_or(env_vars::ADMIN_TOKEN);
    let admin_token = token_of(server.admin_token_file.as_deref(), admin_env)?;
    let public_url = config.server.public_url.as_deref().map(|text| url("server.public_url", text)).transpose()?;
    let public_url = public_url.map(|url| url.as_str().trim_end_matches('/').to_owned());
    let options =
        Options { token, admin_token, users: users(config)?, public_url, tls: https(config)?, ..options(config) };
    let here = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    jarvis_server::check(here, &options).map(|()| options).map_err(refused)
}

/// The token of a file or, where none is named, of a variable.
fn token_of(file: Option<&Path>, variable: &str) -> Result<Option<Secret>, Failure> {
    match file {
        Some(file) => token_in(file).map(Some),
        None => Ok(secret(&[variable])),
    }
}

fn kept(days: Option<u32>, mb: Option<u64>) -> Retention {
    Retention { time: days.map(retention::days), bytes: mb.map(retention::megabytes) }
}

/// The options of the configuration, without its users and tokens.
pub(super) fn options(config: &Config) -> Options {
    let server = &config.server;
    Options {
        cors_origins: server.cors_origins.clone(),
        allowed_hosts: server.allowed_hosts.iter().cloned().collect(),
        caller: CallerPolicy {
            allow: server.caller_endpoints.allow,
            hosts: server.caller_endpoints.hosts.iter().cloned().collect::<BTreeSet<_>>(),
        },
        urls: url_policy(config),
        compat_errors: config.decisions.compat_errors,
        resume: config.runs.resume == Resume::Auto,
        keep: kept(config.runs.keep_days, config.runs.keep_mb),
        keep_media: kept(config.kept_media.keep_days, config.kept_media.keep_mb),
        max_running: server.max_running,
        max_running_per_caller: server.max_running_per_caller,
        max_waiting: server.max_waiting,
        max_waiting_per_caller: server.max_waiting_per_caller,
        max_connections: server.max_connections,
        max_connections_per_address: server.max_connections_per_address,
        pace: Pace { time: Duration::from_secs(server.body_time_s), bytes_per_second: server.body_bytes_per_s },
        link_time: Duration::from_secs(u64::from(server.link_hours) * 3600),
        max_messages: server.max_messages,
        max_body: server.max_body_bytes,
        max_upload: usize::try_from(config.limits.max_input_bytes).unwrap_or(usize::MAX / 4),
        drain: Duration::from_secs(server.drain_s),
        write_timeout: Duration::from_secs(server.write_timeout_s),
        ..Options::default()
    }
}

/// What links to files are signed with: of the environment, or of a file in the data folder.
fn link_key(config: &Config, printer: Printer) -> Result<LinkKey, Failure> {
    if let Some(name) = &config.server.link_key_env {
        let missing = || Failure::usage(format!("`server.link_key_env` names `{name}`, which is not set"));
        return Ok(LinkKey::of(&secret(&[name]).ok_or_else(missing)?));
    }
    let file = Folders::of(config)?.data.join("link.key");
    let made = std::fs::create_dir_all(file.parent().unwrap_or(&file)).and_then(|()| LinkKey::kept_in(&file));
    Ok(made.unwrap_or_else(|error| {
        let file = file.display();
        printer.warning(&format!("the key of links cannot be kept in {file}: {error}; they end with this process"));
        LinkKey::random()
    }))
}

/// The first signal stops in good order, the second at once. Whoever is told to end by a service manager says so for a while before,
/// since others may still send to it.
async fn stop_on_signal(
    mut signals: Signals,
    stop: CancellationToken,
    leaving: CancellationToken,
    grace: Duration,
    printer: Printer,
) {
    if signals.next().await == Signal::Terminate && !grace.is_zero() {
        printer.progress("stopping soon: /ready says so; once more stops now");
        leaving.cancel();
        let _ = tokio::time::timeout(grace, signals.next()).await;
    }
    printer.progress("stopping: runs in flight go on for a while; once more stops at once");
    stop.cancel();
    signals.next().await;
    crate::logs::exit(130);
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, want) in
            jarvis_testing::rows::<(String, Option<(String, u16)>)>(include_str!("../cases.yaml"), "addresses")
        {
            assert_eq!(split(&text, 8004).ok(), want, "{text}");
        }
    }
}
