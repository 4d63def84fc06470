//! Stand-ins for the services that tools are: servers on real sockets that keep to the services' contracts.

pub mod api;
