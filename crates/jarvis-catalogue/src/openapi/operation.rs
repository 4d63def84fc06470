//! One thing that an API can do, and what it takes.

use super::Schema;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    Path,
    /// After the `?`.
    Query,
    Header,
    Cookie,
    /// Into the body: a field of it, or the whole.
    Body,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub location: Location,
    /// Whether it must be given. A field of a body that may be missing must be given only when the body is.
    pub required: bool,
    pub description: String,
    pub schema: Schema,
    /// A list is written as `a=1&a=2`, not as `a=1,2`.
    pub explode: bool,
}

impl Parameter {
    pub fn new(name: &str, location: Location, required: bool, schema: Schema) -> Parameter {
        let description = schema.description.clone();
        Parameter { name: name.to_owned(), location, required, description, schema, explode: true }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Its media type, such as `application/json`.
    pub media_type: String,
    pub required: bool,
    /// The body is not an object with known fields: the one body parameter is the whole of it.
    pub whole: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Operation {
    pub method: String,
    /// Its path, with placeholders: `/movie/{movie_id}`.
    pub path: String,
    /// The document's own name for it; empty where it has none.
    pub id: String,
    /// A few words; may be empty.
    pub summary: String,
    /// More words; may be empty, Markdown, and long.
    pub description: String,
    /// Everything it takes: path, query, headers and cookies in the document's order, then the fields of the body. Names are
    /// unique: of a parameter and a field of the body with one name, the parameter stands.
    pub parameters: Vec<Parameter>,
    pub body: Option<Body>,
    /// It needs no key, although the API has one.
    pub public: bool,
}

impl Operation {
    /// Method and path: `GET /movie/{movie_id}`.
    pub fn usage(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    pub fn placeholders(&self) -> Vec<&str> {
        placeholders(&self.path)
    }
}

/// The names in braces in a path, in order.
pub(super) fn placeholders(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            break;
        };
        names.push(name);
        rest = after;
    }
    names
}
