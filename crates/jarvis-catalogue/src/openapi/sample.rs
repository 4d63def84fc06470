//! Values made up after a schema: the same value for the same schema and name, every time.

use serde_json::{Map, Value, json};

use super::{Schema, SchemaKind};

/// How many fields that need not be there a made-up object shows.
const MAX_FIELDS: usize = 40;

impl Schema {
    /// A value for a request: what the document shows (its example, its default, its first allowed value), else a plausible one
    /// after type, format and name. Objects have their required fields only, or their first when none is.
    pub fn sample(&self, name: &str) -> Value {
        self.shown().unwrap_or_else(|| self.made_up(name, false))
    }

    /// A value for a reply: as [`Schema::sample`], but objects have all their fields.
    pub fn full_sample(&self, name: &str) -> Value {
        self.shown().unwrap_or_else(|| self.made_up(name, true))
    }

    /// What the document itself shows.
    pub fn shown(&self) -> Option<Value> {
        let usable = |value: &&Value| !matches!(value, Value::Null) && value.as_str() != Some("");
        let example = self.example.as_ref().filter(usable);
        let default = || self.default.as_ref().filter(usable);
        let first = || self.enumeration.iter().find(usable);
        example.or_else(default).or_else(first).filter(|value| self.accept(value).is_ok()).cloned()
    }

    fn made_up(&self, name: &str, full: bool) -> Value {
        match self.kind {
            SchemaKind::Boolean => Value::Bool(true),
            SchemaKind::Integer => self.bounded(whole(name) as f64).map_or(json!(1), |number| json!(number as i64)),
            SchemaKind::Number => self.bounded(7.5).map_or(json!(1.5), |number| json!(number)),
            SchemaKind::List => match &self.items {
                Some(items) => json!([if full { items.full_sample(name) } else { items.sample(name) }]),
                None => json!([]),
            },
            SchemaKind::Object => {
                let mut fields = Map::new();
                // An object without anything in it shows nothing.
                let bare = !self.properties.iter().any(|(name, _)| self.required.contains(name));
                for (at, (name, schema)) in self.properties.iter().take(MAX_FIELDS).enumerate() {
                    if full || self.required.contains(name) || (bare && at == 0) {
                        let value = if full { schema.full_sample(name) } else { schema.sample(name) };
                        fields.insert(name.clone(), value);
                    }
                }
                Value::Object(fields)
            }
            SchemaKind::Text => text(name, &self.format).into(),
            SchemaKind::Any if full => Value::Object(Map::new()),
            SchemaKind::Any => text(name, &self.format).into(),
        }
    }

    /// The number, moved to where it is allowed.
    fn bounded(&self, number: f64) -> Option<f64> {
        let number = self.minimum.map_or(number, |least| number.max(least));
        let number = self.maximum.map_or(number, |most| number.min(most));
        number.is_finite().then_some(number)
    }
}

/// A whole number that fits a name.
fn whole(name: &str) -> i64 {
    let name = name.to_ascii_lowercase();
    match () {
        () if name == "id" || name.ends_with("id") || name.ends_with("ids") => 456,
        () if name.contains("year") => 2020,
        () if name.contains("season") => 2,
        () if name.contains("episode") => 3,
        () if name.contains("limit") || name.contains("size") || name.contains("count") => 10,
        () => 1,
    }
}

fn text(name: &str, format: &str) -> String {
    let name = name.to_ascii_lowercase();
    let has = |part: &str| name.contains(part);
    let plain = match format {
        "date" => "2020-01-31",
        "date-time" => "2020-01-31T12:00:00Z",
        "email" => "ann@example.org",
        "uri" | "url" | "uri-reference" => "https://example.org/",
        "uuid" => "0b7e1a3c-52d4-4f6e-9a18-2c3d4e5f6a7b",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "hostname" => "example.org",
        _ => match () {
            () if name == "id" || name.ends_with("_id") || name.ends_with("ids") => "456",
            () if has("date") || has("since") || has("until") => "2020-01-31",
            () if has("year") => "2020",
            () if has("email") => "ann@example.org",
            () if has("url") || has("link") || has("href") => "https://example.org/",
            () if has("language") || has("locale") || name == "lang" => "en-US",
            () if has("country") || has("region") || has("market") => "US",
            () if has("currency") => "EUR",
            () if has("city") || has("location") || has("place") => "Paris",
            () if has("media_type") => "movie",
            () if has("time_window") => "week",
            () if name == "q" || has("query") || has("search") || has("term") || has("keyword") => "moon",
            () if has("title") || has("name") => "Moonlight",
            () if has("time") => "12:00",
            () => "text",
        },
    };
    plain.to_owned()
}
