//! By what a process is told to end. Not what it does then: that is each command's.

/// By what a process is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The signal by which services are stopped.
    Terminate,
}

/// The signals to end that came since [`Signals::taken`]. Taken before a process says that it can be reached: until then a signal
/// ends it at once, and whoever called it first is cut off.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    #[cfg(windows)]
    interrupt: Option<tokio::signal::windows::CtrlC>,
    #[cfg(windows)]
    terminate: Option<tokio::signal::windows::CtrlShutdown>,
}

impl Signals {
    /// From here on they are told by [`Signals::next`], and end nothing by themselves. Within a runtime. One that the system does not
    /// let us take goes on to end the process.
    pub(crate) fn taken() -> Signals {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Signals { interrupt: signal(SignalKind::interrupt()).ok(), terminate: signal(SignalKind::terminate()).ok() }
        }
        #[cfg(windows)]
        {
            use tokio::signal::windows::{ctrl_c, ctrl_shutdown};
            Signals { interrupt: ctrl_c().ok(), terminate: ctrl_shutdown().ok() }
        }
    }

    /// Waits for the next.
    pub(crate) async fn next(&mut self) -> Signal {
        macro_rules! came {
            ($signal:expr) => {
                async {
                    let told = match $signal {
                        Some(signal) => signal.recv().await,
                        None => None,
                    };
                    if told.is_none() {
                        std::future::pending::<()>().await;
                    }
                }
            };
        }
        tokio::select! {
            () = came!(&mut self.interrupt) => Signal::Interrupt,
            () = came!(&mut self.terminate) => Signal::Terminate,
        }
    }
}
