//! The rules by which judgements become verdicts, and the seed that decides what they leave open.

use super::{AnswerStatus, TaskStatus};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vote {
    /// The answer solves the query, or the query cannot be solved.
    Passed,
    /// The query can be solved, and the answer does not.
    Failed,
    /// Neither can be told.
    Undecided,
}

/// The verdict of one judgement. The task's status counts only when the answer does not solve the query.
pub fn vote(answer: AnswerStatus, task: TaskStatus) -> Vote {
    match (answer, task) {
        (AnswerStatus::Solved, _) => Vote::Passed,
        (AnswerStatus::Unsolved | AnswerStatus::Unsure, TaskStatus::Unsolvable) => Vote::Passed,
        (AnswerStatus::Unsolved, TaskStatus::Solvable) => Vote::Failed,
        (AnswerStatus::Unsolved, TaskStatus::Unsure)
        | (AnswerStatus::Unsure, TaskStatus::Solvable | TaskStatus::Unsure) => Vote::Undecided,
    }
}

/// Decides what the rules leave open, deterministically: by seed and question, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seed(pub u64);

impl Seed {
    /// Decides one repeat of a question; `about` names the decision.
    pub fn decides(self, key: &str, about: &str, repeat: u32) -> bool {
        // FNV-1a over everything, then the finish of SplitMix64, so that near inputs fall apart.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ self.0;
        let bytes = key.bytes().chain([0]).chain(about.bytes()).chain([0]).chain(repeat.to_le_bytes());
        for byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (hash ^ (hash >> 31)) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_follow_the_rules() {
        use AnswerStatus as A;
        use TaskStatus as T;
        for (answer, task, expected) in [
            (A::Solved, T::Solvable, Vote::Passed),
            (A::Solved, T::Unsolvable, Vote::Passed),
            (A::Solved, T::Unsure, Vote::Passed),
            (A::Unsolved, T::Solvable, Vote::Failed),
            (A::Unsolved, T::Unsolvable, Vote::Passed),
            (A::Unsolved, T::Unsure, Vote::Undecided),
            (A::Unsure, T::Solvable, Vote::Undecided),
            (A::Unsure, T::Unsolvable, Vote::Passed),
            (A::Unsure, T::Unsure, Vote::Undecided),
        ] {
            assert_eq!(vote(answer, task), expected, "{answer:?} {task:?}");
        }
    }

    #[test]
    fn the_seed_decides_evenly_and_alike() {
        let heads = |seed: u64| (0..2000).filter(|at| Seed(seed).decides(&at.to_string(), "pass", at % 4)).count();
        for seed in [0, 1, 2, u64::MAX] {
            assert!((900..1100).contains(&heads(seed)), "{seed}: {}", heads(seed));
            assert_eq!(heads(seed), heads(seed));
        }
        let row = |seed: u64| (0..64).map(|at| Seed(seed).decides("61", "pass", at)).collect::<Vec<_>>();
        assert_ne!(row(0), row(1));
    }
}
