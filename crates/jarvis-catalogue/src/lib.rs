//! Task types, tools and models: load, filter, rank, probe.
