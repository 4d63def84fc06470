//! The four stages: plan, choose, execute, answer.
