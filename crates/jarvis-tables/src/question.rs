//! Questions about tables in words, made into SQL by patterns: sums, means, medians, counts, extremes, differences, groups,
//! filters, and cells of rows.
//!
//! What the patterns do not account for is a [`Doubt`], and no query: each word of a question is known, or a name in the table.
//! No language model is asked. The words are those of `words.tsv`, in English, Russian and Chinese.

mod doubts;
mod intent;
mod select;
mod shape;
mod sql;
mod statement;
mod text;
mod words;

pub use doubts::Doubt;
pub use intent::{Bound, Figure, Intent, Op};
pub use shape::Shape;
pub use statement::{Drawing, Form, Interpretation, Query};
pub use text::{Question, folded};

pub(crate) use shape::{is_missing, is_year};

use crate::Table;
use select::{Asking, MENTIONED};

/// Whether any of the tables has a column of amounts.
pub fn hold_amounts(tables: &[Table]) -> bool {
    tables.iter().any(|table| Shape::of(table).is_some())
}

/// What a question asks of tables: of several the one that it mentions most, the first of equals. `None` where it mentions
/// nothing of them, or where it asks for none of what can be asked of tables.
///
/// # Errors
/// When it speaks of a table, but a part of it cannot be accounted for.
pub fn query<'t>(
    question: &Question,
    intent: &Intent,
    tables: &'t [Table],
) -> Result<Option<Interpretation<'t>>, Doubt> {
    let mut shapes: Vec<Shape<'t>> = tables.iter().filter_map(Shape::of).collect();
    shapes.reverse();
    let best = shapes.iter().max_by(|a, b| a.relevance(question).total_cmp(&b.relevance(question)));
    let Some(shape) = best else { return Ok(None) };
    let asking = Asking { question, intent, shape, is_one_of_several: shapes.len() > 1 };
    let chosen = asking.select();
    match asking.doubt(&chosen) {
        None => {
            let made = asking.interpret(&chosen)?;
            // Several tables that fit as well, such as sheets of a year each, may all be meant.
            let relevance = shape.relevance(question);
            let alike = shapes.iter().filter(|other| other.relevance(question) == relevance);
            let names: Vec<String> = alike.map(|other| other.table.name.clone()).collect();
            match made {
                Some(_) if names.len() > 1 => Err(Doubt::WhichTable(names.into_iter().rev().collect())),
                made => Ok(made),
            }
        }
        Some(doubt) => {
            let headed = shape.names().any(|name| question.mentions(name) > MENTIONED);
            let is_understood = || asking.unknown_word(&chosen).is_none();
            let is_relevant = !chosen.by.is_empty() || chosen.is_column_named || headed || is_understood();
            if is_relevant { Err(doubt) } else { Ok(None) }
        }
    }
}
