//! The client of a model catalogue service.
