//! The agent against a fake chat endpoint on a real socket.

mod contract;
mod faults;
mod formats;
mod house;
