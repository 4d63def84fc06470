//! What a question asks for: a chart, a figure, a count, or the words of the document.

use std::ops::Range;

use super::text::Question;
use super::words;
use crate::values::leading_number;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    Sum,
    Mean,
    Median,
    Most,
    Least,
    Difference,
}

impl Figure {
    pub const ALL: [Figure; 6] =
        [Figure::Sum, Figure::Mean, Figure::Median, Figure::Most, Figure::Least, Figure::Difference];

    pub fn name(self) -> &'static str {
        match self {
            Figure::Sum => "sum",
            Figure::Mean => "mean",
            Figure::Median => "median",
            Figure::Most => "most",
            Figure::Least => "least",
            Figure::Difference => "difference",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Kinds,
    Times,
    Frequent {
        most: bool,
    },
    Count,
    Figure(Figure),
    /// None of these: words of the document.
    Lookup,
}

/// A limit for values, such as `at least 5`.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub number: f64,
    pub is_above: bool,
    /// Whether the number itself is within the limit.
    pub is_inclusive: bool,
    /// The sign of a currency or the like beside the number.
    pub sign: Option<char>,
    pub words: String,
}

impl Bound {
    pub fn holds(&self, size: f64) -> bool {
        (self.is_inclusive && size == self.number)
            || (if self.is_above { size > self.number } else { size < self.number })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    pub chart: Option<&'static str>,
    /// Whether the chart is to be round.
    pub is_pie: bool,
    pub op: Op,
    /// Whether the question says a word for a sum, whatever else it asks for.
    pub says_sum: bool,
    /// The word for the greatest or least of a quantity, such as `largest`, where it is not of how often something is there.
    pub degree: Option<Range<usize>>,
    pub bound: Option<Bound>,
    /// Whether the greatest is asked for, or the least.
    pub most: Option<bool>,
    /// The place in the order: 2 for the second highest.
    pub rank: Option<usize>,
    /// How many of the first in the order are asked for.
    pub top: Option<usize>,
    /// What figure of each group of rows is meant, and whether the question names it.
    pub of_group: (Figure, bool),
    /// Where words of conditional rows have been used, as ranges of the folded question.
    pub used: Vec<Range<usize>>,
}

impl Intent {
    pub fn read(question: &Question) -> Intent {
        let bound = bound(question);
        let outside = |range: &Range<usize>| match &bound {
            Some((_, bound)) => range.end <= bound.start || bound.end <= range.start,
            None => true,
        };
        let has = |row: &str| question.find(row).iter().any(outside);
        let kind = || match () {
            () if has("scatter") => "scatter",
            () if has("line") => "line",
            () => "bar",
        };
        let chart = (has("chart") && !has("no_chart")).then(kind);
        let most = if has("least") { Some(false) } else { has("most").then_some(true) };
        let op = match () {
            () if has("times") => Op::Times,
            () if has("kinds") => Op::Kinds,
            () if has("most_frequent") => Op::Frequent { most: true },
            () if has("least_frequent") => Op::Frequent { most: false },
            () if has("mean") => Op::Figure(Figure::Mean),
            () if has("median") => Op::Figure(Figure::Median),
            () if has("difference") => Op::Figure(Figure::Difference),
            () if most == Some(true) => Op::Figure(Figure::Most),
            () if most == Some(false) => Op::Figure(Figure::Least),
            () if has("sum") => Op::Figure(Figure::Sum),
            () if has("count") || (bound.is_some() && has("which")) => Op::Count,
            () => Op::Lookup,
        };
        let mut used: Vec<Range<usize>> = bound.iter().map(|(_, range)| range.clone()).collect();
        if op == Op::Figure(Figure::Difference) || bound.is_some() {
            used.extend(question.find("only_compared"));
        }
        let mut beside = |rows: &[(usize, &'static str)]| {
            if !matches!(op, Op::Figure(Figure::Most | Figure::Least)) {
                return None;
            }
            let (number, range) = rows.iter().find_map(|(number, row)| {
                Some((*number, question.find(row).into_iter().find(|range| is_beside_order(question, range))?))
            })?;
            used.push(range);
            Some(number)
        };
        let rank = beside(&[(2, "rank_2"), (3, "rank_3"), (4, "rank_4"), (5, "rank_5")]);
        let numbers = [(2, "number_2"), (3, "number_3"), (4, "number_4"), (5, "number_5"), (10, "number_10")];
        let top = beside(&numbers);
        let of_group = match () {
            () if has("mean") => (Figure::Mean, true),
            () if has("median") => (Figure::Median, true),
            () => (Figure::Sum, has("sum")),
        };
        let bound = bound.map(|(bound, _)| bound);
        let often = question.find("only_often");
        let degrees = ["most", "least"].iter().flat_map(|row| question.find(row));
        let mut intent = Intent {
            chart,
            is_pie: question.has("pie"),
            op,
            says_sum: question.has("sum"),
            degree: { degrees }.find(|range| !often.contains(range)),
            bound,
            most,
            rank,
            top,
            of_group,
            used,
        };
        intent.read_top(question);
        intent
    }

    /// Reads the number of `top 3` and `the 3 cheapest`.
    fn read_top(&mut self, question: &Question) {
        if self.top.is_some() || !matches!(self.op, Op::Figure(Figure::Most | Figure::Least)) {
            return;
        }
        let starts = question.folded.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at);
        for at in starts {
            let digits = question.folded.get(at..).expect("a digit starts there");
            let digits = digits.bytes().take_while(u8::is_ascii_digit).count();
            let range = at..at + digits;
            let top = question.folded.get(range.clone()).and_then(|digits| digits.parse().ok());
            if let Some(top) = top.filter(|top| (2..=99).contains(top) && is_beside_order(question, &range)) {
                self.top = Some(top);
                self.used.push(range);
                return;
            }
        }
    }
}

/// Whether a part of the question stands beside a word for the most or the least, or within one.
fn is_beside_order(question: &Question, range: &Range<usize>) -> bool {
    let is_blank = |from: usize, to: usize| {
        from >= to || question.folded.get(from..to).is_some_and(|gap| gap.chars().all(|c| " -".contains(c)))
    };
    let order = [question.find("most"), question.find("least")].concat();
    order.iter().any(|order| {
        let (first, last) = if order.start <= range.start { (order, range) } else { (range, order) };
        is_blank(first.end, last.start)
    })
}

/// The limit that a question sets, and where.
fn bound(question: &Question) -> Option<(Bound, Range<usize>)> {
    let rows = [
        ("bound_above", true, false),
        ("bound_least", true, true),
        ("bound_below", false, false),
        ("bound_most", false, true),
    ];
    let mut found: Vec<(Bound, Range<usize>)> = Vec::new();
    for (row, is_above, is_inclusive) in rows {
        for words in question.find(row) {
            let behind = question.folded.get(words.end..).expect("words lie within the question");
            let start = behind.find(|c: char| c.is_ascii_digit());
            let gap = start.and_then(|start| behind.get(..start)).unwrap_or("?");
            let gap = gap.trim_matches(|c: char| c.is_whitespace() || "$€£¥₽-".contains(c));
            let number = if gap.is_empty() || ["than", "чем", "of"].contains(&gap) {
                let is_negative = start.is_some_and(|start| behind.get(..start).is_some_and(|gap| gap.ends_with('-')));
                let (number, length) = leading_number(behind.get(start?..)?)?;
                Some((if is_negative { -number } else { number }, words.start..words.end + start? + length))
            } else {
                before(question, words.start).map(|(number, start)| (number, start..words.end))
            };
            let text = question.folded.get(words).expect("words lie within the question").to_owned();
            found.extend(number.map(|(number, range)| {
                let sign = sign_beside(question, &range);
                (Bound { number, is_above, is_inclusive, sign, words: text }, range)
            }));
        }
    }
    // `не менее 5` holds `менее 5`.
    found.into_iter().max_by_key(|(_, range)| range.len())
}

/// The sign of a currency or the like within a part of the question, or right behind it.
fn sign_beside(question: &Question, range: &Range<usize>) -> Option<char> {
    let is_sign = |c: &char| "$€£¥₽%".contains(*c);
    let within = question.folded.get(range.clone()).unwrap_or_default().chars().find(is_sign);
    within.or_else(|| question.folded.get(range.end..)?.trim_start().chars().next().filter(is_sign))
}

/// The number right before a byte of the question, as in `60以上` and `60分以下`, and where it begins.
fn before(question: &Question, end: usize) -> Option<(f64, usize)> {
    let text = question.folded.get(..end)?;
    let unit = text.chars().next_back().filter(|c| jarvis_plan::is_han(*c)).map_or(0, char::len_utf8);
    let text = text.get(..end - unit)?;
    let length = text.bytes().rev().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    Some((text.get(end - unit - length..)?.parse().ok()?, end - unit - length))
}

/// The kinds of quantities that a text speaks of, with where it does.
pub(super) fn kinds(text: &Question) -> impl Iterator<Item = (&'static str, Range<usize>)> + '_ {
    words::kinds().flat_map(|(name, row)| text.find_all(row).into_iter().map(move |range| (name, range)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_charts_are_recognised() {
        use Figure::{Difference, Least, Mean, Most, Sum};
        for (question, op, chart) in [
            ("文件中一共有几种水果？请用柱状图展示每种水果的数量", Op::Kinds, Some("bar")),
            ("Show the trend of sales", Op::Lookup, Some("line")),
            ("How many kinds? Don't draw a chart", Op::Kinds, None),
            ("不要画图，一共多少钱？", Op::Figure(Sum), None),
            ("Нарисуй линейный график продаж", Op::Lookup, Some("line")),
            ("用散点图表示", Op::Lookup, Some("scatter")),
            ("Сколько раз встречается слово кот?", Op::Times, None),
            ("which fruit is most frequent? draw it", Op::Frequent { most: true }, Some("bar")),
            ("средняя цена", Op::Figure(Mean), None),
            ("Какая разница между A и B?", Op::Figure(Difference), None),
            ("самый дешёвый товар", Op::Figure(Least), None),
            ("最贵的是哪个", Op::Figure(Most), None),
            ("Who is the author?", Op::Lookup, None),
            ("Which cost at least 5?", Op::Count, None),
        ] {
            let intent = Intent::read(&Question::new(question));
            assert_eq!((intent.op, intent.chart), (op, chart), "{question}");
        }
    }

    #[test]
    fn limits_and_places_are_read() {
        for (question, number, is_above, is_inclusive) in [
            ("Which are above 80?", 80.0, true, false),
            ("at least 5", 5.0, true, true),
            ("哪些超过85分", 85.0, true, false),
            ("60分以下的有几个", 60.0, false, true),
            ("у кого больше 60 000", 60_000.0, true, false),
            ("не менее 5", 5.0, true, true),
            ("cheaper items, less than $2.50", 2.5, false, false),
            ("below -3", -3.0, false, false),
        ] {
            let bound = Intent::read(&Question::new(question)).bound.unwrap();
            assert_eq!(
                (bound.number, bound.is_above, bound.is_inclusive),
                (number, is_above, is_inclusive),
                "{question}"
            );
        }
        for (question, rank, top) in [
            ("who has the second highest salary", Some(2), None),
            ("вторая по величине зарплата", Some(2), None),
            ("谁的工资第三高", Some(3), None),
            ("top 3 by price", None, Some(3)),
            ("the two most expensive", None, Some(2)),
            ("три самых дорогих", None, Some(3)),
            ("销售额前三名", None, Some(3)),
            ("the highest of the second quarter", None, None),
        ] {
            let intent = Intent::read(&Question::new(question));
            assert_eq!((intent.rank, intent.top), (rank, top), "{question}");
        }
    }
}
