//! Reading plans back: what is forgiven, what is refused.
