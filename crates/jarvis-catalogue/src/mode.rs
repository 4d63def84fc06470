//! Where models may run: the inference mode, what the model server has loaded, and what follows from the two.

use serde::{Deserialize, Serialize};

/// A word that is not one of the few allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not one of {allowed}")]
pub struct UnknownWord {
    pub word: String,
    pub allowed: &'static str,
}

/// `as_str`, `Display` and `FromStr` of an enum whose values are words; the function says how a text is read as one.
macro_rules! words {
    ($name:ident, $read:path, $first:ident = $one:literal $(, $other:ident = $word:literal)+) => {
        impl $name {
            pub fn as_str(self) -> &'static str {
                match self {
                    $name::$first => $one,
                    $($name::$other => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<$name, $crate::UnknownWord> {
                match $read(text).as_str() {
                    $one => Ok($name::$first),
                    $($word => Ok($name::$other),)+
                    _ => Err($crate::UnknownWord { word: text.to_owned(), allowed: concat!($one $(, ", ", $word)+) }),
                }
            }
        }
    };
}
pub(crate) use words;

fn in_any_case(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// Where the models of the catalogue may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InferenceMode {
    /// On the model server only.
    Local,
    Huggingface,
    /// Wherever one is available, the model server first.
    #[default]
    Hybrid,
}

words!(InferenceMode, in_any_case, Local = "local", Huggingface = "huggingface", Hybrid = "hybrid");

/// What the model server has loaded; each includes the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deployment {
    /// Control detectors and ControlNet.
    Minimal,
    /// And the common models for pictures and speech.
    Standard,
    /// And everything else.
    #[default]
    Full,
}

words!(Deployment, in_any_case, Minimal = "minimal", Standard = "standard", Full = "full");

/// Where a model's availability is asked, and where control tasks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Probed {
    pub huggingface: bool,
    pub local: bool,
    /// Control detectors and ControlNet run on the model server, unasked; otherwise they have no host.
    pub control: bool,
}

pub fn where_probed(mode: InferenceMode, deployment: Deployment) -> Probed {
    let served = deployment >= Deployment::Standard;
    match mode {
        InferenceMode::Huggingface => Probed { huggingface: true, local: false, control: false },
        InferenceMode::Hybrid => Probed { huggingface: true, local: served, control: true },
        InferenceMode::Local => Probed { huggingface: false, local: served, control: true },
    }
}

/// The models that the model server of the original loads, as `(id, task)`, in the order it lists them.
pub fn local_models(deployment: Deployment) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = include_str!("../data/local_models.tsv").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(move |row| {
        let (since, (id, task)) =
            row.split_once('\t').and_then(|(since, rest)| Some((since, rest.split_once('\t')?)))?;
        (since.parse::<Deployment>().ok()? <= deployment).then_some((id, task))
    })
}

#[cfg(test)]
mod tests {
    use super::Deployment::{Full, Minimal, Standard};
    use super::*;

    #[test]
    fn the_table_of_modes() {
        let check = |mode: &str, deployment: &str, huggingface, local, control| {
            let found = where_probed(mode.parse().unwrap(), deployment.parse().unwrap());
            assert_eq!(found, Probed { huggingface, local, control }, "{mode} + {deployment}");
        };
        for deployment in ["minimal", "standard", "full"] {
            check("huggingface", deployment, true, false, false);
        }
        check("hybrid", "minimal", true, false, true);
        check("hybrid", "standard", true, true, true);
        check("hybrid", "full", true, true, true);
        check("local", "minimal", false, false, true);
        check("local", "standard", false, true, true);
        check("local", "full", false, true, true);
    }

    #[test]
    fn words_are_read_and_refused() {
        assert_eq!("Hybrid".parse(), Ok(InferenceMode::Hybrid));
        assert_eq!(" FULL ".parse(), Ok(Deployment::Full));
        let error = "cloud".parse::<InferenceMode>().unwrap_err();
        assert_eq!(error.to_string(), "`cloud` is not one of local, huggingface, hybrid");
        assert!("huge".parse::<Deployment>().is_err());
    }

    #[test]
    fn deployments_grow() {
        let count = |deployment| local_models(deployment).count();
        assert_eq!((count(Minimal), count(Standard), count(Full)), (13, 22, 31));
        for (id, task) in local_models(Full) {
            let task = crate::find(task).unwrap();
            assert!(task.control_model().is_none_or(|model| model == id), "{id}");
        }
    }
}
