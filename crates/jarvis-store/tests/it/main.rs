//! Tests that need processes of their own.

mod killed_writer;
