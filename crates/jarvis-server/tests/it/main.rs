//! Integration tests of the server.
