//! What this process takes, as the operating system tells.

use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

/// What this process takes.
#[derive(Debug, Clone, Copy)]
pub struct ProcessUse {
    /// Bytes that are in memory.
    pub memory_bytes: u64,
    /// Seconds of all processors since its start.
    pub cpu_seconds: f64,
    pub open_files: Option<u64>,
    /// Its start, in seconds since the Unix epoch.
    pub started_at: u64,
}

impl ProcessUse {
    /// What it takes now, where the system tells. Blocks for a moment.
    pub fn now() -> Option<ProcessUse> {
        let own = get_current_pid().ok()?;
        let mut system = System::new().ok()?;
        let wanted = ProcessRefreshKind::nothing().with_memory().with_cpu().without_tasks();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), false, wanted);
        let process = system.process(own)?;
        Some(ProcessUse {
            memory_bytes: process.memory(),
            cpu_seconds: process.accumulated_cpu_time() as f64 / 1000.0,
            open_files: process.open_files().map(|files| files as u64),
            started_at: process.start_time(),
        })
    }

    /// The same under the names that all programs use for Prometheus.
    pub(super) fn registry(self) -> Registry {
        let mut registry = Registry::with_prefix("process");
        let gauge = |value: u64| ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
        let memory = gauge(self.memory_bytes);
        registry.register_with_unit("resident_memory", "Memory in use", Unit::Bytes, memory);
        let cpu = ConstCounter::new(self.cpu_seconds);
        registry.register_with_unit("cpu", "Time of all processors", Unit::Seconds, cpu);
        if let Some(files) = self.open_files {
            registry.register("open_fds", "Open files and sockets", gauge(files));
        }
        registry.register_with_unit(
            "start_time",
            "When it started, since the Unix epoch",
            Unit::Seconds,
            gauge(self.started_at),
        );
        registry
    }
}
