//! The Restate server of runs on many machines.

use jarvis_restate::{Admin, Checkup, checkup};

use super::Finding;
use crate::cli::DoctorArgs;

/// Where everything about it is told.
const DOCS: &str = "see docs/scale.md";

pub(super) async fn look(args: &DoctorArgs, findings: &mut Vec<Finding>) {
    let (Some(ingress), Some(admin)) = (&args.restate, &args.restate_admin) else { return };
    match checkup(&Admin::new(admin.clone()), ingress.clone()).await {
        Ok(found) => told(found, findings),
        Err(error) => findings.push(Finding::bad("Restate", true, error.to_string(), DOCS)),
    }
}

fn told(found: Checkup, findings: &mut Vec<Finding>) {
    let Checkup { admin, ingress, capabilities, workflows, stale, stuck } = found;
    for (what, fault) in [("Restate, admin API", &admin), ("Restate, ingress", &ingress)] {
        findings.push(match fault {
            None => Finding::good(what, "answers"),
            Some(fault) => Finding::bad(what, true, fault.clone(), "start Restate, or give its address"),
        });
    }
    if admin.is_some() {
        return;
    }
    let list = |names: std::collections::BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
    findings.push(match workflows.is_empty() {
        false => Finding::good("Restate, runs are hosted", list(workflows)),
        true => Finding::bad("Restate, runs are hosted", true, "by nobody", "start `jarvis serve --restate`"),
    });
    findings.push(match capabilities.is_empty() {
        false => Finding::good("Restate, workers perform", list(capabilities)),
        true => Finding::bad("Restate, workers perform", true, "nothing", "start `jarvis worker`"),
    });
    for deployment in stale {
        let fix = format!("when its calls have ended, forget it; {DOCS}");
        findings.push(Finding::bad("Restate, deployment without new calls", false, deployment, fix));
    }
    for stuck in stuck {
        let failure = stuck.failure.unwrap_or_default();
        let found =
            format!("{} {} {} after {} attempts: {failure}", stuck.id, stuck.target, stuck.status, stuck.attempts);
        let paused = stuck.status == "paused";
        let fix = if paused {
            "mend the cause, then resume or kill it"
        } else {
            "it goes on by itself when the cause is mended"
        };
        findings.push(Finding::bad("Restate, invocation", paused, found, fix));
    }
}
