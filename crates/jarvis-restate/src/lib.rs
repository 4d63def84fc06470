//! Runs on many machines by [Restate](https://restate.dev), an engine that journals every step.
//!
//! A [`RunHost`] hosts the workflow of runs: it plans with [`Stages`], schedules the plan, and answers. A [`TaskHost`] performs
//! tasks: one private service for each [`Capability`]. A [`Client`] starts runs, follows their events and decides about what waits
//! for a person. Whatever is killed, what has ended is not done again, and what has not goes on.
//!
//! ```text
//! Client --start--> Restate --run--> RunHost (Run.v1)     --call--> Restate --perform--> TaskHost (Task.<capability>)
//!        <--events--        journal          plan, look, answer             journal               Worker
//! ```
//!
//! Restate is a server of its own, which the user runs. Its ingress and admin APIs have no authentication: they belong on loopback,
//! in a private network, or behind a proxy.
#![warn(missing_docs)]

mod admin;
mod client;
mod clock;
mod contract;
mod course;
mod doctor;
mod endpoint;
mod error;
mod host;
mod log;
mod names;
mod shared;
mod stages;
mod step;
mod told;
mod worker;
mod workflow;

pub use admin::{Admin, Deployment, Registered};
pub use client::{Cancelled, Client, Started};
pub use contract::{Decision, Planned, PlannedTask, RunEnd, RunInput, RunLimits, RunStatus, Verdict};
pub use doctor::{Checkup, Stuck, checkup};
pub use endpoint::{Endpoint, Timeouts};
pub use error::Error;
pub use host::{RunHost, WORKFLOW};
pub use names::{capability_of, service_of};
pub use stages::{Begun, Concluded, Growth, Looked, Next, Progress, StageContext, Stages};
pub use told::take_plan;
pub use worker::{Capability, TaskHost};
