//! Plans and reports in, steps out.
