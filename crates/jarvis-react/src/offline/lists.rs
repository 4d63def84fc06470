//! Questions about lists of items, and about how often something occurs.

use jarvis_tools::local::Counts;
use serde_json::{Value, json};

use super::data::Table;
use super::tables::Chosen;
use super::wish::{Op, in_all};
use super::{Move, Step};

/// What `count` told.
struct Counted {
    pairs: Vec<(String, usize)>,
    kinds: usize,
    total: usize,
}

impl Counted {
    /// Reads an observation of `count`: its second line holds the counts, the end of its first the totals.
    fn read(observation: &str) -> Option<Counted> {
        let (first, second) = observation.split_once('\n').unwrap_or((observation, ""));
        let mut totals =
            first.rsplit("; ").next()?.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        let (kinds, total) = (totals.next()?.parse().ok()?, totals.next()?.parse().ok()?);
        let told: Value = serde_json::from_str(second.lines().next().unwrap_or_default()).unwrap_or_default();
        let names = told.get("x").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let counts = told.get("y").and_then(Value::as_array).into_iter().flatten();
        let counts = counts.filter_map(|count| usize::try_from(count.as_u64()?).ok());
        let pairs = names.map(str::to_owned).zip(counts).collect();
        Some(Counted { pairs, kinds, total })
    }

    fn shown(&self) -> Vec<(String, String)> {
        self.pairs.iter().map(|(name, count)| (name.clone(), count.to_string())).collect()
    }
}

impl Step<'_> {
    /// How often something occurs in the document.
    pub(super) fn times(&self, document: &str) -> Option<Move> {
        let Op::Times(Some(of)) = &self.wish.op else { return None };
        let at = document.get(..2 << 20).unwrap_or(document).to_lowercase().find(of.as_str());
        // As the document writes it.
        let written = at.and_then(|at| document.get(at..at + of.len()));
        let of = written.filter(|written| written.to_lowercase() == *of).unwrap_or(of);
        let Some(observed) = self.observed("count") else {
            return Some(self.act("count", self.say.will_count(), json!({"of": of})));
        };
        // As a part of other items it occurs too.
        let first = observed.lines().next().unwrap_or_default();
        let told = first.strip_suffix(" in the text").and_then(|told| told.rsplit([' ', ';']).next());
        Some(self.answer(match told.map(str::to_owned).or_else(|| number_after(observed)) {
            Some(count) => self.say.times(of, &count),
            None => self.say.failed(observed),
        }))
    }

    /// A question about a list.
    pub(super) fn list(&self, list: &str, document: &str) -> Option<Move> {
        let asked = !matches!(self.wish.op, Op::Words | Op::Sum | Op::Mean | Op::Median | Op::Difference);
        if !asked && self.wish.chart.is_none() && !in_all(self.question) {
            return None;
        }
        let whole = list.len() == document.trim().len();
        let one = if matches!(self.wish.op, Op::Count) && self.wish.chart.is_none() && !in_all(self.question) {
            let counts = Counts::of_text(list, None);
            counts.kinds.into_iter().map(|kind| kind.0).find(|kind| self.question.mentions(kind) == 1.0)
        } else {
            None
        };
        if let Some(of) = &one
            && let Some(word) = self.unheard(&Table::default(), &Chosen::default())
        {
            let rows = Counts::of_text(list, None).kinds.into_iter().find(|kind| kind.0 == *of);
            let rows: Vec<(String, String)> = rows.into_iter().map(|kind| (kind.0, kind.1.to_string())).collect();
            let known = self.document.contains(&word);
            let told = if known { self.say.beyond(&self.say.pairs(&rows)) } else { self.say.unheard(&word) };
            return Some(self.nothing(told));
        }
        let Some(observed) = self.observed("count") else {
            let mut input = if whole { json!({}) } else { json!({"text": list}) };
            if let (Some(of), Some(fields)) = (&one, input.as_object_mut()) {
                fields.insert("of".into(), json!(of));
            }
            return Some(self.act("count", self.say.will_count(), input));
        };
        if let Some(of) = one {
            return Some(self.answer(match number_after(observed) {
                Some(count) => self.say.how_many(&of, &count),
                None => self.say.failed(observed),
            }));
        }
        let Some(counted) = Counted::read(observed) else { return Some(self.answer(self.say.failed(observed))) };
        let mut text = self.counts(observed);
        if matches!(self.wish.op, Op::Count | Op::Sum)
            && let Some(word) = self.unheard(&Table::default(), &Chosen::default())
        {
            text.push_str(&self.say.absent(&word));
        }
        if let Some(kind) = self.wish.chart {
            let Some(drawn) = self.observed("plot") else {
                return Some(self.act("plot", self.say.will_plot(), self.chart_of(&counted, kind)));
            };
            text = format!("{text} {}", self.about_chart(drawn));
        }
        Some(self.answer(text))
    }

    /// What `count` told, in words.
    pub(super) fn counts(&self, observed: &str) -> String {
        let Some(counted) = Counted::read(observed) else { return self.say.failed(observed) };
        match self.wish.op {
            Op::Frequent { most } | Op::Extreme { most } => self.most_frequent(&counted, most),
            Op::Kinds | Op::Times(_) | Op::Count | Op::Sum | Op::Mean | Op::Median | Op::Difference | Op::Words => {
                self.say.counts(counted.kinds, counted.total, &counted.shown())
            }
        }
    }

    fn most_frequent(&self, counted: &Counted, most: bool) -> String {
        let counts = counted.pairs.iter().map(|pair| pair.1);
        let Some(best) = (if most { counts.max() } else { counts.min() }) else { return self.say.not_found() };
        let names = counted.pairs.iter().filter(|pair| pair.1 == best).map(|pair| pair.0.as_str());
        self.say.frequent(most, &names.collect::<Vec<_>>(), &best.to_string())
    }

    fn chart_of(&self, counted: &Counted, kind: &str) -> Value {
        let (names, counts): (Vec<&str>, Vec<usize>) =
            counted.pairs.iter().map(|pair| (pair.0.as_str(), pair.1)).unzip();
        json!({"x": names, "y": counts, "title": self.say.title_of_counts(), "y_label": self.say.count_label(), "kind": kind})
    }

    /// What is said of a chart by what `plot` told.
    pub(super) fn about_chart(&self, observed: &str) -> String {
        if observed.trim() == jarvis_tools::local::plot::DONE { self.say.drawn() } else { self.say.not_drawn(observed) }
    }
}

/// The number behind the last colon of `apple: 6 of 10 items`.
fn number_after(observed: &str) -> Option<String> {
    let first = observed.lines().next()?.rsplit(": ").next()?;
    let digits: String = first.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}
