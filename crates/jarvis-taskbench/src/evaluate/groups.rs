//! Groups of samples: by shape, by number of nodes, or both.

use std::fmt;
use std::str::FromStr;

use crate::words::words;

words! {
    pub enum Split as "split" {
        Overall = "overall",
        Single = "single",
        Chain = "chain",
        Dag = "dag",
    }
}

/// The number of nodes of gold plans in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Size {
    Overall,
    Nodes(usize),
}

impl Size {
    /// What `all` means: any, and 1 to 10.
    pub fn all() -> Vec<Size> {
        std::iter::once(Size::Overall).chain((1..=10).map(Size::Nodes)).collect()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Overall => f.write_str("overall"),
            Size::Nodes(n) => write!(f, "{n}"),
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(word: &str) -> Result<Size, String> {
        match word.parse() {
            Ok(n) => Ok(Size::Nodes(n)),
            Err(_) if word == "overall" => Ok(Size::Overall),
            Err(_) => Err(format!("unknown number of tools `{word}`; use a number, `overall` or `all`")),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Add,
    Mul,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    pub split: Split,
    pub size: Size,
}

impl Group {
    /// Everything: `overall_overall`.
    pub const OVERALL: Group = Group { split: Split::Overall, size: Size::Overall };

    /// True when a gold plan of this shape and size belongs to the group.
    pub fn holds(self, shape: Option<Split>, nodes: Option<usize>) -> bool {
        let split = self.split == Split::Overall || shape == Some(self.split);
        let size = match self.size {
            Size::Overall => true,
            Size::Nodes(n) => nodes == Some(n),
        };
        split && size
    }
}

impl fmt::Display for Group {
    /// The key in metrics files: `chain_overall`, `overall_3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.split, self.size)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    pub splits: Vec<Split>,
    pub sizes: Vec<Size>,
    pub mode: Mode,
}

impl Grouping {
    /// All splits and all sizes, as the published figures are made: fourteen groups.
    pub fn all() -> Grouping {
        Grouping { splits: Split::ALL.to_vec(), sizes: Size::all(), mode: Mode::Add }
    }

    /// What words of `--splits` and `--n-tools` mean; none means `overall`.
    pub fn from_words(splits: &[String], sizes: &[String], mode: Mode) -> Result<Grouping, String> {
        let mut grouping = Grouping { splits: Vec::new(), sizes: Vec::new(), mode };
        for word in splits {
            match word.as_str() {
                "all" => grouping.splits.extend(Split::ALL),
                word => grouping.splits.push(word.parse().map_err(|error| format!("{error}, or `all`"))?),
            }
        }
        for word in sizes {
            match word.as_str() {
                "all" => grouping.sizes.extend(Size::all()),
                word => grouping.sizes.push(word.parse()?),
            }
        }
        if grouping.splits.is_empty() {
            grouping.splits.push(Split::Overall);
        }
        if grouping.sizes.is_empty() {
            grouping.sizes.push(Size::Overall);
        }
        Ok(grouping)
    }

    /// The groups in the order of the original, each once.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut add = |split, size| {
            let group = Group { split, size };
            if !groups.contains(&group) {
                groups.push(group);
            }
        };
        match self.mode {
            Mode::Add => {
                self.splits.iter().for_each(|split| add(*split, Size::Overall));
                self.sizes.iter().for_each(|size| add(Split::Overall, *size));
            }
            Mode::Mul => {
                for split in &self.splits {
                    self.sizes.iter().for_each(|size| add(*split, *size));
                }
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::{Group, Grouping, Mode};

    #[test]
    fn groups_in_order_and_once() {
        let cases: [(&[&str], &[&str], Mode, &str); 5] = [
            (&[], &[], Mode::Add, "overall_overall"),
            (&["chain", "overall"], &["2", "2"], Mode::Add, "chain_overall overall_overall overall_2"),
            (&["single", "dag"], &["overall", "3"], Mode::Mul, "single_overall single_3 dag_overall dag_3"),
            (&["all"], &["1"], Mode::Add, "overall_overall single_overall chain_overall dag_overall overall_1"),
            (
                &["all", "chain"],
                &["all"],
                Mode::Add,
                "overall_overall single_overall chain_overall dag_overall overall_1 overall_2 overall_3 overall_4 overall_5 \
                 overall_6 overall_7 overall_8 overall_9 overall_10",
            ),
        ];
        for (splits, sizes, mode, expected) in cases {
            let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
            let grouping = Grouping::from_words(&words(splits), &words(sizes), mode).unwrap();
            let keys: Vec<String> = grouping.groups().iter().map(Group::to_string).collect();
            assert_eq!(keys.join(" "), expected);
        }
        assert!(Grouping::from_words(&["chains".into()], &[], Mode::Add).is_err());
        assert!(Grouping::from_words(&[], &["-1".into()], Mode::Add).is_err());
    }
}
