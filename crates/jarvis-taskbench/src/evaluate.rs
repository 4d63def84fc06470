//! Scoring plans against gold plans: the original's figures (`legacy`), ours without its flaws (`strict`), and those of
//! GNN4TaskPlan.

pub mod gnn4taskplan;
pub mod rouge;
pub mod strict;
