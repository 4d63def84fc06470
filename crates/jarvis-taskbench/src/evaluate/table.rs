//! Tables for the terminal and the log.
