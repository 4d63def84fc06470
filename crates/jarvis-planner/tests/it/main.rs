//! The offline planner from outside: requests in three languages against tool lists, as tables.

mod properties;
mod support;
mod tables;
