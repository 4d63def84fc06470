//! The server on real sockets: its pipeline is real, and the far sides of the network are scripted.

mod answers;
mod decisions;
mod doors;
mod house;
mod load;
mod media;
mod openai;
mod runs;
