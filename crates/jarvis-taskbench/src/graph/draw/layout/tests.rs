//! Layouts: nothing touches, and the same comes out twice.

use super::*;

fn sizes(n: usize) -> Vec<Point> {
    (0..n).map(|at| (60.0 + (at * 37 % 90) as f64, 26.0)).collect()
}

#[test]
fn labels_do_not_touch() {
    let ring = |n: usize| (0..n).map(|at| (at, (at + 1) % n)).collect::<Vec<_>>();
    let star = |n: usize| (1..n).map(|at| (0, at)).collect::<Vec<_>>();
    let cases = [
        ("nothing", 0, Vec::new()),
        ("one", 1, vec![]),
        ("alone", 30, vec![]),
        ("ring", 40, ring(40)),
        ("star", 60, star(60)),
        ("two rings", 20, ring(10).into_iter().chain(ring(10).into_iter().map(|(a, b)| (a + 10, b + 10))).collect()),
        ("repeated and to itself", 3, vec![(0, 1), (0, 1), (1, 1), (1, 2)]),
    ];
    for (name, n, links) in cases {
        let sizes = sizes(n);
        let Layout::Free(places) = layout(&sizes, &links) else { panic!("{name}: a circle") };
        assert_eq!(Layout::Free(places.clone()), layout(&sizes, &links), "{name}");
        for (at, (a, a_size)) in places.iter().zip(&sizes).enumerate() {
            for (b, b_size) in places.iter().zip(&sizes).skip(at + 1) {
                let apart =
                    (a.0 - b.0).abs() > (a_size.0 + b_size.0) / 2.0 || (a.1 - b.1).abs() > (a_size.1 + b_size.1) / 2.0;
                assert!(apart, "{name}: {a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn what_is_wholly_linked_is_a_circle() {
    let all: Vec<(usize, usize)> = (0..10).flat_map(|a| (0..10).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
    assert!(matches!(layout(&sizes(10), &all), Layout::Circle(_)));
}
