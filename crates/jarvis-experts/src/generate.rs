//! Texts written token by token by an encoder and a decoder.
