//! The offline planner from outside: requests in three languages against tool lists, as tables.

mod chinese;
mod english;
mod everyday;
mod foreign;
mod properties;
mod russian;
mod support;
