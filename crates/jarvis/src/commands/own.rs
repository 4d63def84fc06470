//! `jarvis self`: updates or removes a jarvis that `install.sh` installed. Any other belongs to the package manager that installed it.

mod receipt;
mod release;
mod replace;

use std::path::Path;
use std::process::ExitCode;

use semver::Version;
use serde::Serialize;

use crate::cli::{SelfCommand, UninstallArgs, UpdateArgs};
use crate::commands::completions;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::questions::confirm;
use crate::wiring;

use receipt::Receipt;
use release::Releases;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'a> {
    bin: &'a Path,
    installed: String,
    /// The latest release, or the version that was asked for.
    available: String,
    is_newer: bool,
    updated: bool,
}

pub(super) async fn run(command: SelfCommand, printer: Printer) -> Result<ExitCode, Failure> {
    match command {
        SelfCommand::Update(args) => update(&args, printer).await,
        SelfCommand::Uninstall(args) => uninstall(&args, printer),
    }
}

async fn update(args: &UpdateArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let receipt = Receipt::of_this_program()?;
    let installed = installed()?;
    let from = args.from.as_deref().filter(|from| !from.trim().is_empty()).unwrap_or(&receipt.base_url);
    let releases = Releases::at(from, args.version.as_ref())?;
    let available = releases.version().await?;
    if let Some(wanted) = &args.version
        && *wanted != available
    {
        let error = format!("{} has version {available}, not {wanted}", releases.address());
        return Err(Failure::work(error).hint("name a version that it has, or other releases with --from URL"));
    }
    let report = |updated| Report {
        bin: &receipt.bin,
        installed: installed.to_string(),
        available: available.to_string(),
        is_newer: available > installed,
        updated,
    };
    let is_wanted = !args.check && available != installed;
    if is_wanted && available < installed && args.version.is_none() {
        return Err(Failure::work(format!(
            "the latest release at {} is {available}, older than the {installed} that is installed",
            releases.address()
        ))
        .hint(format!("install it anyway with `jarvis self update --version {available}`")));
    }
    if !is_wanted {
        if args.json {
            return printer.json(&report(false));
        }
        printer.out(&match available.cmp(&installed) {
            std::cmp::Ordering::Greater => {
                format!("jarvis {available} is available; {installed} is installed. `jarvis self update` installs it")
            }
            std::cmp::Ordering::Equal => format!("jarvis {installed} is up to date"),
            std::cmp::Ordering::Less => format!("jarvis {installed} is newer than the release, {available}"),
        });
        return Ok(ExitCode::SUCCESS);
    }
    printer.progress(&format!("downloading jarvis {available} for {} from {}", receipt.target, releases.address()));
    let archive = releases.archive(&receipt.target, &receipt.bin).await?;
    replace::replace(archive, &receipt, &available).await?;
    receipt.updated_to(&available)?;
    if args.json {
        return printer.json(&report(true));
    }
    printer.out(&format!("jarvis {installed} is now {available}: {}", receipt.bin.display()));
    Ok(ExitCode::SUCCESS)
}

fn installed() -> Result<Version, Failure> {
    Version::parse(env!("CARGO_PKG_VERSION")).map_err(Failure::work)
}

fn uninstall(args: &UninstallArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let receipt = Receipt::of_this_program()?;
    confirm(&format!("Remove {} and what was installed with it?", receipt.bin.display()), args.yes)?;
    // The program last: what fails before can be tried again.
    for path in completions::uninstall()?.iter().chain(&receipt.remove_files()?) {
        printer.out(&format!("removed {}", path.display()));
    }
    for folder in [wiring::config_folder()?, wiring::default_data_folder()?] {
        printer.progress(&format!("kept {}", folder.display()));
    }
    Ok(ExitCode::SUCCESS)
}
