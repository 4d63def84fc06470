//! Integration tests: the committed sample, probing and refreshing over real sockets.

mod sample;
