//! Families of models by name: what is known of a model that nobody can be asked about.

use std::sync::LazyLock;

/// The context size of a model that is not known, in tokens.
pub(crate) const UNKNOWN_CONTEXT: usize = 8192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Family {
    start: &'static str,
    /// The name of its tokenizer.
    pub(crate) encoding: Option<&'static str>,
    /// The context size in tokens, where one is safe to assume.
    pub(crate) context: Option<usize>,
    /// Whether its models take pictures.
    pub(crate) sees: bool,
}

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let lines = include_str!("families.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| family(line).expect("each line is a family, which a test reads")).collect()
});

fn family(line: &'static str) -> Option<Family> {
    let known = |field: &'static str| (field != "-").then_some(field);
    let mut fields = line.split('\t');
    let (start, encoding, context, sees) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let context = known(context).map(str::parse).transpose().ok()?;
    Some(Family { start, encoding: known(encoding), context, sees: known(sees).is_some() })
}

impl Family {
    /// The family of a model by its name; an owner before it (`openai/gpt-4o`) and `ft:` are passed over.
    pub(crate) fn of(model: &str) -> Option<Family> {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let name = name.strip_prefix("ft:").unwrap_or(&name);
        // `gpt-4` is the family of `gpt-4-0613`, but neither of `gpt-4o` nor of `gpt-4all`.
        let fits = |family: &&Family| {
            let rest = name.strip_prefix(family.start);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        };
        FAMILIES.iter().filter(fits).max_by_key(|family| family.start.len()).copied()
    }
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    #[test]
    fn models_that_see_are_known_by_name() {
        for (sees, models) in rows::<(bool, Vec<String>)>(include_str!("cases.yaml"), "vision") {
            for model in models {
                assert_eq!(Family::of(&model).is_some_and(|family| family.sees), sees, "{model}");
            }
        }
    }
}
