//! Against comparing every row in double precision.

use proptest::prelude::*;

use super::*;

/// All rows by cosine, computed the plain way.
fn plain(rows: &[Vec<f32>], query: &[f32], k: usize) -> Vec<Hit> {
    let sum = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let cosine = |row: &Vec<f32>| {
        let norms = sum(row, row).sqrt() * sum(query, query).sqrt();
        if norms == 0.0 { 0.0 } else { sum(row, query) / norms }
    };
    let grain = |score: f64| (score * 1e12).round() / 1e12 + 0.0;
    let mut hits: Vec<Hit> =
        rows.iter().enumerate().map(|(row, vector)| Hit { row, score: grain(cosine(vector)) }).collect();
    hits.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap());
    hits.truncate(k);
    hits
}

fn check(rows: &[Vec<f32>], query: &[f32], k: usize) {
    let index = VectorIndex::build(rows).unwrap();
    let found = index.top_k(query, k).unwrap();
    let expected = plain(rows, query, k);
    let places = |hits: &[Hit]| hits.iter().map(|hit| hit.row).collect::<Vec<_>>();
    assert_eq!(places(&found), places(&expected), "{query:?} in {rows:?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found.score - expected.score).abs() < 2e-12, "{found:?} {expected:?}");
    }
}

#[test]
fn equal_scores_keep_the_order_of_rows() {
    let v = |x: f32, y: f32| vec![x, y];
    for (rows, query, k, expected) in [
        (vec![], v(1.0, 0.0), 5, vec![]),
        (vec![v(1.0, 0.0)], v(1.0, 0.0), 5, vec![(0, 1.0)]),
        (vec![v(1.0, 0.0)], v(1.0, 0.0), 0, vec![]),
        (vec![v(0.0, 1.0), v(2.0, 0.0), v(0.5, 0.0), v(8.0, 0.0)], v(3.0, 0.0), 2, vec![(1, 1.0), (2, 1.0)]),
        // Zeros are like nothing, and so less far than what points away.
        (vec![v(-1.0, 0.0), v(0.0, 0.0), v(0.0, 7.0)], v(1.0, 0.0), 3, vec![(1, 0.0), (2, 0.0), (0, -1.0)]),
        (vec![v(1.0, 0.0), v(0.0, 1.0)], v(0.0, 0.0), 2, vec![(0, 0.0), (1, 0.0)]),
        // Negative zero is zero.
        (vec![v(0.0, -1.0), v(0.0, 1.0)], v(1e-30, 0.0), 2, vec![(0, 0.0), (1, 0.0)]),
    ] {
        let hits = VectorIndex::build(&rows).unwrap().top_k(&query, k).unwrap();
        let hits: Vec<(usize, f64)> = hits.iter().map(|hit| (hit.row, hit.score)).collect();
        assert_eq!(hits, expected, "{query:?} in {rows:?}");
    }
}

#[test]
fn lengths_do_not_count_even_where_they_round() {
    let base = [0.59_f64, 0.885, 0.48, 0.845, -0.942, -0.069, 0.887, 0.298];
    let scaled = |by: f64| base.iter().map(|x| x * by).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (1..60).map(|by| scaled(f64::from(by) * 0.1)).collect();
    let query = [0.274_f64, 0.441, -0.945, -0.68, -0.118, 0.3, -0.562, 0.372];
    let hits = VectorIndex::build(&rows).unwrap().top_k(&query, 10).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.row).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
}

#[test]
fn says_what_is_wrong() {
    let build = |rows: &[&[f64]]| VectorIndex::build(rows).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(build(&[&[1.0, 2.0], &[1.0]]), Err("vector 1 has 1 components, and the first has 2".to_owned()));
    for value in [f64::NAN, f64::INFINITY, 1e300] {
        let said = "vector 1 holds a component that is not a finite 32-bit number";
        assert_eq!(build(&[&[1.0], &[value]]), Err(said.to_owned()));
        let index = VectorIndex::build([[1.0]]).unwrap();
        assert_eq!(index.top_k(&[value], 1), Err(VectorError::QueryNotFinite));
    }
    let long = vec![0.0; MAX_DIMENSION + 1];
    assert_eq!(VectorIndex::build([long]).err(), Some(VectorError::TooLong { found: MAX_DIMENSION + 1 }));
    let index = VectorIndex::build([[1.0_f32, 2.0]]).unwrap();
    assert_eq!(index.top_k(&[1.0_f32], 1), Err(VectorError::QueryDimension { found: 1, expected: 2 }));
}

#[test]
fn the_longest_vectors_of_the_largest_codes_do_not_overflow() {
    let rows: Vec<Vec<f32>> = vec![vec![-1.0; MAX_DIMENSION], vec![1.0; MAX_DIMENSION], vec![f32::MAX; MAX_DIMENSION]];
    let hits = VectorIndex::build(&rows).unwrap().top_k(&rows[2], 2).unwrap();
    assert_eq!(hits, [Hit { row: 1, score: 1.0 }, Hit { row: 2, score: 1.0 }]);
}

proptest! {
    #[test]
    fn finds_what_comparing_all_finds(
        (rows, query) in (1_usize..70).prop_flat_map(|dimension| {
            let row = || proptest::collection::vec(-1.0_f32..1.0, dimension);
            (proptest::collection::vec(row(), 0..60), row())
        }),
        k in 0_usize..12,
    ) {
        check(&rows, &query, k);
    }

    /// Few values, so that many rows are equal or nearly so; one component far larger than the others, so that the codes
    /// of the others say little.
    #[test]
    fn finds_it_among_rows_that_hardly_differ(
        rows in proptest::collection::vec(proptest::collection::vec(-2_i8..=2, 5), 1..60),
        query in proptest::collection::vec(-2_i8..=2, 5),
        large in prop_oneof![Just(0.0_f32), Just(1000.0)],
        k in 1_usize..8,
    ) {
        let vector = |row: &Vec<i8>| {
            let mut vector: Vec<f32> = row.iter().map(|value| f32::from(*value) * 0.25).collect();
            vector.push(large);
            vector
        };
        let rows: Vec<Vec<f32>> = rows.iter().map(vector).collect();
        check(&rows, &vector(&query), k);
    }
}
