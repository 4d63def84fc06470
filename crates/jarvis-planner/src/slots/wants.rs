//! What a parameter asks for, read from its schema, its name, its description and the description of its tool.
//!
//! "The library to borrow the book from" wants what stands after "from"; "The book to borrow" wants what the order is
//! about; "eg. Google, Bing" gives examples by which a value is known.

use jarvis_plan::{Param, Tool};
use serde_json::Value;

use super::found::{Shape, is_cue};
use super::measures::Measure;
use crate::data;
use crate::words::{self, listed};

/// What sort of thing a parameter holds, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Person,
    Place,
    Name,
    Content,
    Topic,
    Deed,
    /// What something is done with or on.
    Means,
    Thing,
}

/// Sorts with stems of parameter names and the words that their values stand after.
const SORTS: &[(Sort, &str, &str)] = &[
    (
        Sort::Person,
        "person contact user friend guest doctor lawyer physician recipi sender author artist teacher member attende",
        "with to for by named called с со к ко у для от 给 跟 向 用",
    ),
    (
        Sort::Place,
        "locat citi place countri address destin origin departur arriv venu region area town state airport station target",
        "in at to for near of в во на из до к от in 在 去 到 从",
    ),
    (Sort::Name, "name titl label", "named called titled entitled as at prefer под в у 叫"),
    (Sort::Content, "content bodi messag text comment note caption remind", "saying about with с о об 关"),
    (
        Sort::Topic,
        "topic queri subject issu diseas problem reason keyword search about symptom matter purpos illness",
        "about regarding concerning discuss for on discussing поводу по о об про 关",
    ),
    (Sort::Deed, "instruct command oper action task", "to do"),
    (
        Sort::Means,
        "platform websit web app tool method servic languag engin network store shop site compani provid bank univers \
         librari school brand",
        "on via using from at in with by through into через в во на у из по 在 用 从",
    ),
    (Sort::Thing, "from sourc start", "from из от с со 从"),
    (Sort::Thing, "to end receiv", "to into в во на к до для 到 去 给 飞 至"),
    (Sort::Thing, "date day", "on for at на"),
    (Sort::Thing, "time", "at for в"),
];

/// One example of a value, as stems, and how many words it has.
pub(super) type Example = Vec<String>;

#[derive(Debug)]
pub(super) struct Want {
    pub(super) shape: Option<Shape>,
    pub(super) sort: Sort,
    pub(super) name: Vec<String>,
    /// Stems of its name and of the thing that its description names first.
    pub(super) nouns: Vec<String>,
    /// Stems of its description beyond these, without those of the tool's name.
    pub(super) meaning: Vec<String>,
    /// Words that stand before its values by what the descriptions say.
    pub(super) cues: Vec<String>,
    /// The same by its name alone.
    pub(super) usual: &'static str,
    /// The order is about it: "the item to sell".
    pub(super) object: bool,
    pub(super) examples: Vec<Example>,
    /// What its numbers measure.
    pub(super) measure: Option<Measure>,
}

impl Want {
    pub(super) fn of(tool: &Tool, param: &Param) -> Want {
        let name = words::stems(&words::spell_out(&param.name));
        let (lead, examples) = parts(&param.description);
        let tool_words = words::stems(&words::spell_out(&tool.name));
        let listed_in = |stems: &str| name.iter().any(|word| listed(stems, word));
        let (sort, usual) = SORTS
            .iter()
            .find(|(_, names, _)| listed_in(names))
            .map_or((Sort::Thing, ""), |(sort, _, cues)| (*sort, *cues));
        let mut nouns = name.clone();
        let head: Vec<&(String, String)> =
            lead.iter().take_while(|(lower, _)| !is_cue(lower) || lower == "of").collect();
        nouns.extend(head.iter().map(|(_, stem)| stem.clone()));
        nouns.retain(|stem| !data::PARAMETER_FILLER.has(stem));
        nouns.dedup();
        let mut cues = Vec::new();
        let mut object = false;
        // "The bank to do the operation at", "The item to sell".
        if let Some(to) = lead.iter().position(|(lower, _)| lower == "to")
            && let Some((last, _)) = lead.last()
        {
            if is_cue(last) {
                cues.push(last.clone());
            } else {
                object = lead.len() <= to + 3 && lead.get(to + 1).is_none_or(|(verb, _)| verb != "use");
            }
        }
        // "Sell a specific item at a specific store".
        let described = parts(&tool.description).0;
        let own = described.iter().position(|(_, stem)| name.last() == Some(stem)).or_else(|| {
            described.iter().position(|(_, stem)| stem != "name" && nouns.contains(stem) && !tool_words.contains(stem))
        });
        if let Some(own) = own {
            let mut before = described.iter().take(own).rev().take(4);
            if let Some((cue, _)) = before.by_ref().find(|(lower, _)| is_cue(lower)) {
                cues.push(cue.clone());
            } else if own <= 3 && name.last().is_none_or(|last| !listed("locat", last)) {
                object |= cues.is_empty();
            }
        }
        if object && sort == Sort::Topic && cues.is_empty() && usual.is_empty() {
            object = false;
        }
        let meaning = lead
            .iter()
            .map(|(_, stem)| stem.clone())
            .filter(|stem| stem.len() > 3 && !tool_words.contains(stem) && !nouns.contains(stem))
            .collect();
        let (shape, measure) = (wanted(param), Measure::of_param(param));
        Want { shape, sort, name, nouns, meaning, cues, usual, object, examples, measure }
    }

    /// True where a text of any form will do, as it does not for a place or a person.
    pub(super) fn takes_any_text(&self) -> bool {
        matches!(self.sort, Sort::Name | Sort::Content | Sort::Topic | Sort::Thing)
    }

    pub(super) fn follows(&self, cue: &str) -> bool {
        !cue.is_empty() && (self.cues.iter().any(|own| own == cue) || self.usual_after(cue))
    }

    fn usual_after(&self, cue: &str) -> bool {
        if cue == "to do" {
            return self.sort == Sort::Deed;
        }
        listed(self.usual, cue)
    }

    /// True when the word is one for the thing itself, in any language.
    pub(super) fn names(&self, stem: &str) -> bool {
        self.nouns.iter().any(|noun| noun == stem || same(noun, stem))
    }
}

/// True when two words of different scripts have a sense in common.
pub(super) fn same(one: &str, two: &str) -> bool {
    one.is_ascii() != two.is_ascii() && {
        let senses = crate::thesaurus::of_stem(one);
        crate::thesaurus::of_stem(two).iter().any(|sense| senses.contains(sense))
    }
}

/// The words of a description as written and as stems, and the examples at its end.
fn parts(description: &str) -> (Vec<(String, String)>, Vec<Example>) {
    let marks = [", eg.", " eg.", ", e.g.", "(e.g.", " e.g.", ", for example", ", such as", " such as ", " like "];
    let lower = description.to_lowercase();
    let cut = marks.iter().filter_map(|mark| lower.find(mark).map(|at| (at, at + mark.len()))).min();
    let (lead, listed) = cut.map_or((lower.as_str(), ""), |(at, end)| {
        (lower.get(..at).expect("a match starts here"), lower.get(end..).expect("a match ends here"))
    });
    let sentence = lead.split(['.', '\n']).next().unwrap_or_default();
    let lead = words::tokens(sentence).into_iter().map(|token| (token.lower, token.stem)).collect();
    let examples = listed
        .split([',', '(', ')', ';', '\n'])
        .map(|example| words::stems(example.trim_start_matches(" or ").trim_start_matches("and ")))
        .map(|mut example| {
            example.retain(|word| word != "etc" && word != "or" && word != "the");
            example
        })
        .filter(|example| !example.is_empty() && example.len() <= 4)
        .collect();
    (lead, examples)
}

/// The shape a parameter asks for; `None` when any will do.
pub(crate) fn wanted(param: &Param) -> Option<Shape> {
    let schema = param.schema.as_ref();
    let text = |key: &str| {
        schema.and_then(|schema| schema.get(key)).and_then(Value::as_str).unwrap_or_default().to_lowercase()
    };
    let (kind, format) = (text("type"), text("format"));
    match (kind.as_str(), format.as_str()) {
        (_, "date" | "date-time") | ("date", _) => return Some(Shape::Date),
        (_, "time") | ("time", _) => return Some(Shape::Time),
        (_, "email" | "idn-email") | ("email", _) => return Some(Shape::Email),
        (_, "uri" | "url" | "iri") | ("url", _) => return Some(Shape::Url),
        (_, "phone") | ("phone", _) => return Some(Shape::Phone),
        ("integer" | "number" | "float" | "int", _) => return Some(Shape::Number),
        _ => {}
    }
    let words = words::stems(&words::spell_out(&param.name));
    let has = |list: &str| words.iter().any(|word| listed(list, word));
    if has("email mail") {
        Some(Shape::Email)
    } else if has("phone telephon mobil tel fax") {
        Some(Shape::Phone)
    } else if has("date day deadlin birthday checkin checkout")
        || has("check") && has("in out") && !has("time hour url id")
    {
        Some(Shape::Date)
    } else if has("time hour") {
        Some(Shape::Time)
    } else if has("url link uri") {
        Some(Shape::Url)
    } else if has("number amount count price quantiti year age limit durat") {
        Some(Shape::Number)
    } else {
        None
    }
}
