//! Native models: work done in this process, or by a program installed beside it.
