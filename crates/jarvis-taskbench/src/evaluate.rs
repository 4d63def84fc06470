//! Scoring plans against gold plans: the original's figures (`legacy`), ours without its flaws (`strict`), and those of
//! GNN4TaskPlan.

pub mod rouge;
