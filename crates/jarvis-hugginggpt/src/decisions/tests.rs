//! The pieces of decisions, each alone.
