//! What a parameter of an own tool takes: its type by the schema, and what its name and description say of its values.

use jarvis_plan::{Kind, Medium, Param};
use serde_json::Value;

use super::lex::Word;
use super::phrases::{BEGINS, ENDS};
use crate::words;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sort {
    Bool,
    /// The words that it may be, as the schema writes them.
    Enum(Vec<Value>),
    Number {
        whole: bool,
    },
    Date,
    Time,
    Email,
    Url,
    Path,
    Media(Kind),
    Currency,
    Unit,
    Language,
    Expression,
    /// What identifies one thing: a number or a mark such as LH12.
    Code,
    Place,
    Person,
    /// A name or a heading, given in quotes or after "called".
    Title,
    /// What is looked for.
    Query,
    /// Words to be passed on.
    Content,
    /// What is to be done.
    Deed,
    /// Why something is done.
    Reason,
    /// Any other short text.
    Name,
    List(Box<Sort>),
    /// Data that no words of a request make.
    Data,
}

/// A parameter as it is filled.
#[derive(Debug, Clone)]
pub(super) struct Field<'a> {
    pub(super) param: &'a Param,
    pub(super) sort: Sort,
    /// Stems of its name.
    pub(super) name: Vec<String>,
    /// Stems of its title and description.
    pub(super) meaning: Vec<String>,
}

impl<'a> Field<'a> {
    /// `files` says that the tool works on files: then what it is moved from and to are their paths.
    pub(super) fn of(param: &'a Param, files: bool) -> Field<'a> {
        let name = words::stems(&words::spell_out(&param.name));
        let title = param.schema.as_ref().and_then(|schema| schema.get("title")).and_then(Value::as_str);
        let meaning = words::stems(&format!("{} {}", title.unwrap_or_default(), param.description));
        let sort = match &param.schema {
            Some(schema) => sort(param, schema, &name, &meaning),
            None => Sort::Content,
        };
        let mut field = Field { param, sort, name, meaning };
        if files
            && field.side().is_some()
            && matches!(field.sort, Sort::Place | Sort::Name | Sort::Title | Sort::Content)
        {
            field.sort = Sort::Path;
        }
        field
    }

    pub(super) fn is(&self, list: &str) -> bool {
        self.name.iter().any(|word| words::listed(list, word))
    }

    /// A whole number that names a thing rather than counts some.
    pub(super) fn identifies(&self) -> bool {
        self.sort == Sort::Code
            || matches!(self.sort, Sort::Number { whole: true }) && self.is("id number no nr code key")
    }

    pub(super) fn is_count(&self) -> bool {
        let many = self.meaning.windows(2).any(|two| matches!(two, [a, b] if a == "how" && b == "mani"))
            || self.meaning.windows(2).any(|two| matches!(two, [a, b] if a == "number" && b == "of"));
        !self.identifies()
            && (many
                || self
                    .is("quantiti qty count amount seat passeng guest peopl person adult parti ticket copi piec unit \
                           travel limit max top"))
    }

    pub(super) fn is_money(&self) -> bool {
        matches!(self.sort, Sort::Number { .. }) && self.is("amount sum total price valu money budget cost fee")
    }

    /// Whether its description says that it counts in that currency.
    pub(super) fn is_in(&self, code: Option<&str>) -> bool {
        code.is_some() && self.meaning.iter().any(|stem| super::fill::currency(stem) == code)
    }

    /// `Some(true)` for where something begins, `Some(false)` for where it ends.
    pub(super) fn side(&self) -> Option<bool> {
        let begins =
            "from origin sourc src start begin since after depart departur old sender min earliest checkin pickup";
        let ends =
            "to destin target dest dst end until till before befor arriv arriv new max latest checkout dropoff into";
        let two = |a: &str, b: &str| self.name.windows(2).any(|pair| matches!(pair, [x, y] if x == a && y == b));
        match () {
            () if two("check", "in") || two("pick", "up") => Some(true),
            () if two("check", "out") || two("drop", "off") => Some(false),
            () if self.is(begins) => Some(true),
            () if self.is(ends) => Some(false),
            () if self.meaning.first().is_some_and(|word| words::listed(begins, word)) => Some(true),
            () if self.meaning.first().is_some_and(|word| words::listed(ends, word)) => Some(false),
            () => None,
        }
    }

    /// A value as the schema has it, where it says how: "7:30 pm" as 19:30 where only that fits.
    pub(super) fn written(&self, value: Value) -> Value {
        let (Some(schema), Some(text), Sort::Time) = (&self.param.schema, value.as_str(), &self.sort) else {
            return value;
        };
        if jarvis_plan::schema::takes(schema, &value) {
            return value;
        }
        match of_day(text).map(Value::from) {
            Some(read) if jarvis_plan::schema::takes(schema, &read) => read,
            _ => value,
        }
    }

    /// Whether a call says nothing without it: a text of one's own words, with no default.
    pub(super) fn is_needed(&self) -> bool {
        let has = |word: &str| self.param.schema.as_ref().is_some_and(|schema| schema.get(word).is_some());
        let text =
            self.is_text() && !matches!(self.sort, Sort::Reason) || matches!(self.sort, Sort::Email | Sort::Code);
        text && !has("default") && !self.meaning.iter().any(|word| word == "option")
    }

    pub(super) fn is_text(&self) -> bool {
        matches!(
            self.sort,
            Sort::Title
                | Sort::Query
                | Sort::Content
                | Sort::Deed
                | Sort::Name
                | Sort::Place
                | Sort::Person
                | Sort::Reason
        )
    }
}

fn sort(param: &Param, schema: &Value, name: &[String], meaning: &[String]) -> Sort {
    if let Some(words) = enumerated(schema) {
        return Sort::Enum(words);
    }
    let types = types(schema);
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let wants = |name: &str| types.iter().any(|one| one == name);
    if types.is_empty() && schema.get("properties").is_some() || wants("object") {
        return Sort::Data;
    }
    if wants("array") {
        let items = schema.get("items").cloned().unwrap_or(Value::Null);
        let one = Param { schema: Some(items.clone()), ..param.clone() };
        return match sort(&one, &items, name, meaning) {
            Sort::Data | Sort::List(_) => Sort::Data,
            Sort::Content | Sort::Deed | Sort::Query | Sort::Title => Sort::List(Box::new(Sort::Name)),
            sort => Sort::List(Box::new(sort)),
        };
    }
    if wants("boolean") {
        return Sort::Bool;
    }
    if (wants("integer") || wants("number")) && !wants("string") {
        return Sort::Number { whole: wants("integer") };
    }
    match jarvis_plan::medium(&param.name, schema) {
        Medium::Kind(kind) => return Sort::Media(kind),
        Medium::Path => return Sort::Path,
        Medium::Document | Medium::None => {}
    }
    match format {
        "date" | "date-time" => return Sort::Date,
        "time" => return Sort::Time,
        "email" | "idn-email" => return Sort::Email,
        "uri" | "url" | "iri" | "uri-reference" => return Sort::Url,
        "uuid" => return Sort::Code,
        _ => {}
    }
    textual(name, meaning, schema)
}

fn textual(name: &[String], meaning: &[String], schema: &Value) -> Sort {
    let is = |list: &str| name.iter().any(|word| words::listed(list, word));
    let last = |list: &str| name.last().is_some_and(|word| words::listed(list, word));
    let means = |list: &str| meaning.iter().any(|word| words::listed(list, word));
    let plain = schema.get("pattern").is_none();
    match () {
        () if is("currenc") || means("4217 currenc") && !is("text note messag body") => Sort::Currency,
        () if is("unit") => Sort::Unit,
        () if is("languag lang local") || means("languag 639") && !is("text queri") => Sort::Language,
        () if is("email mail") || means("email") && is("to recipi address contact") => Sort::Email,
        () if is("url uri link websit") => Sort::Url,
        () if is("express formula expr equat") => Sort::Expression,
        () if is("queri q search keyword keyphras phrase topic question") && plain => Sort::Query,
        () if is("reason why") => Sort::Reason,
        () if last("id ids number no nr code sku ref key iban pnr isbn uuid identifi serial barcod") => Sort::Code,
        () if is("date day deadlin birthday due") => Sort::Date,
        () if is("time hour") && !is("zone") => Sort::Time,
        () if is("task todo deed action chore") => Sort::Deed,
        () if is("text messag bodi content comment note summari detail descript prompt instruct memo caption") => {
            Sort::Content
        }
        () if is("titl subject headlin label summari") || last("name") && name.len() == 1 && !means("person") => {
            Sort::Title
        }
        () if is(
            "person recipi assigne user contact attende customer owner author member guest payee friend sender",
        ) =>
        {
            Sort::Person
        }
        () if is(
            "citi town place locat countri origin destin room address airport station area region from to venu \
                  street zone",
        ) =>
        {
            Sort::Place
        }
        () if meaning.iter().any(|one| words::listed("number code id sku identifi", one)) => Sort::Code,
        () if means("person") => Sort::Person,
        () if means("citi town airport") => Sort::Place,
        () if means("keyword") || means("search") && means("for") => Sort::Query,
        () => Sort::Name,
    }
}

/// "7:30 pm" on a clock of 24 hours.
fn of_day(text: &str) -> Option<String> {
    let lower = text.to_lowercase().replace(['.', ' '], "");
    let (clock, later) = match lower.strip_suffix("pm") {
        Some(clock) => (clock, 12),
        None => (lower.strip_suffix("am")?, 0),
    };
    let (hour, minute) = clock.split_once(':').unwrap_or((clock, "00"));
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    ((1..=12).contains(&hour) && minute < 60).then(|| format!("{:02}:{minute:02}", hour % 12 + later))
}

fn types(schema: &Value) -> Vec<String> {
    let own = match schema.get("type") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let choices = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    own.into_iter().chain(choices.flat_map(types)).filter(|name| name != "null").collect()
}

fn enumerated(schema: &Value) -> Option<Vec<Value>> {
    let own = schema.get("enum").and_then(Value::as_array);
    let choices = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let words = own.or_else(|| choices.filter_map(|choice| choice.get("enum")?.as_array()).next())?;
    Some(words.iter().filter(|word| !word.is_null()).cloned().collect())
}

/// "To Bob" is nowhere that something begins, and "from Rome" nowhere that it ends.
pub(super) fn is_other_side(side: Option<bool>, word: &Word) -> bool {
    // These lead other things as well.
    let both = word.is("in on since between во на у с со между");
    match side {
        Some(true) => word.is(ENDS) && !both,
        Some(false) => word.is(BEGINS) && !both,
        None => false,
    }
}
