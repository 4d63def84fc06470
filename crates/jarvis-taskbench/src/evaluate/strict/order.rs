//! Orders of a plan's nodes and how far two of them are apart.

use crate::evaluate::sequence_ratio;

/// The places of the nodes, `0..count`, in an order in which every link goes forward. Of the nodes that could come next, the
/// first in list order does. Where only nodes in or behind cycles are left, the first of them in list order comes next, as if
/// the links into it were not there.
pub(crate) fn topological(count: usize, links: &[(usize, usize)]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits: Vec<usize> = vec![0; count];
    for (from, to) in links {
        if from != to
            && let (Some(list), Some(wait)) = (after.get_mut(*from), waits.get_mut(*to))
        {
            list.push(*to);
            *wait += 1;
        }
    }
    let mut done = vec![false; count];
    let mut order = Vec::with_capacity(count);
    while order.len() < count {
        let open = || done.iter().zip(&waits).enumerate().filter(|(_, (done, _))| !**done);
        let free = open().find(|(_, (_, wait))| **wait == 0).or_else(|| open().next());
        let Some((next, _)) = free else { break };
        order.push(next);
        if let Some(done) = done.get_mut(next) {
            *done = true;
        }
        for to in after.get(next).into_iter().flatten() {
            if let Some(wait) = waits.get_mut(*to) {
                *wait = wait.saturating_sub(1);
            }
        }
    }
    order
}

/// `1 − 2·LCS/(a + b)`: 0 for equal sequences, 1 for those with nothing in common, 0 for two empty ones.
pub(crate) fn distance<T: Eq + std::hash::Hash>(a: &[T], b: &[T]) -> f64 {
    1.0 - sequence_ratio(a, b)
}

#[cfg(test)]
mod tests {
    use super::{distance, topological};

    #[test]
    fn links_go_forward_and_ties_keep_the_list() {
        type Links = &'static [(usize, usize)];
        let cases: [(usize, Links, &[usize]); 8] = [
            (0, &[], &[]),
            (3, &[], &[0, 1, 2]),
            (3, &[(2, 1), (1, 0)], &[2, 1, 0]),
            (4, &[(3, 0), (1, 2)], &[1, 2, 3, 0]),
            // A cycle opens at its first node; what hangs behind it still comes after it.
            (3, &[(0, 1), (1, 0), (1, 2)], &[0, 1, 2]),
            (4, &[(1, 2), (2, 1), (2, 0)], &[3, 0, 1, 2]),
            (2, &[(0, 0), (1, 0), (1, 0)], &[1, 0]),
            (2, &[(7, 0), (0, 9)], &[0, 1]),
        ];
        for (count, links, expected) in cases {
            assert_eq!(topological(count, links), expected, "{links:?}");
        }
    }

    #[test]
    fn distances_by_hand() {
        let cases = [
            ("", "", 0.0),
            ("abc", "", 1.0),
            ("abc", "abc", 0.0),
            ("abc", "acb", 1.0 / 3.0),
            ("aab", "ab", 1.0 - 4.0 / 5.0),
            ("abc", "xyz", 1.0),
        ];
        for (a, b, expected) in cases {
            let (x, y): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            assert!((distance(&x, &y) - expected).abs() < 1e-12, "{a} {b}");
            assert_eq!(distance(&x, &y), distance(&y, &x));
        }
    }
}
