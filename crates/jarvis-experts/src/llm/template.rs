//! Conversations to prompts, by the chat template of the file or as ChatML.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind, context};
use serde::Serialize as _;

use crate::ChatTurn;

/// What models without a template were trained on most often.
const CHATML: &str = "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}\
    {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// Steps that a template may take; real ones need some hundreds for each turn.
const FUEL: u64 = 2_000_000;
/// The largest template; real ones reach some 20 kB.
const MAX_TEMPLATE: usize = 1 << 18;
/// The largest prompt, in bytes.
const MAX_PROMPT: usize = 16 << 20;

/// A template that is compiled.
#[derive(Debug)]
pub(super) struct ChatTemplate {
    environment: Environment<'static>,
    begin: String,
    end: String,
}

impl ChatTemplate {
    /// The template of a file, or ChatML. `begin` and `end` are the names of the tokens that frame a text.
    pub(super) fn new(template: Option<&str>, begin: String, end: String) -> Result<ChatTemplate, String> {
        let template = template.unwrap_or(CHATML);
        if template.len() > MAX_TEMPLATE {
            return Err(format!("its chat template has {} bytes", template.len()));
        }
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|error| error.to_string())?);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(64);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_function("strftime_now", today);
        environment.add_filter("tojson", to_json);
        environment
            .add_template_owned("chat", template.to_owned())
            .map_err(|error| format!("its chat template is invalid: {error:#}"))?;
        Ok(ChatTemplate { environment, begin, end })
    }

    /// The prompt after which the model writes the next turn.
    pub(super) fn render(&self, turns: &[ChatTurn]) -> Result<String, String> {
        let messages: Vec<_> =
            turns.iter().map(|turn| context! { role => &turn.role, content => &turn.text }).collect();
        let values = context! {
            messages,
            add_generation_prompt => true,
            bos_token => &self.begin,
            eos_token => &self.end,
            // Qwen3 would think in front of its answer, which no caller here expects.
            enable_thinking => false,
        };
        let template = self.environment.get_template("chat").map_err(|error| error.to_string())?;
        let mut prompt = Bounded(Vec::new());
        let rendered = template.render_captured_to(values, &mut prompt);
        rendered.map_err(|error| format!("its chat template fails: {error:#}"))?;
        String::from_utf8(prompt.0).map_err(|error| error.to_string())
    }
}

/// JSON as Python writes it, with a space after commas and colons and no letters escaped: models were trained on that.
fn to_json(value: &Value, options: Kwargs) -> Result<Value, Error> {
    let failed = |error: serde_json::Error| Error::new(ErrorKind::BadSerialization, error.to_string());
    let indent = options.get::<Option<usize>>("indent")?;
    let mut json = Vec::new();
    match indent {
        Some(indent) => {
            let spaces = vec![b' '; indent.min(16)];
            let formatter = serde_json::ser::PrettyFormatter::with_indent(&spaces);
            value.serialize(&mut serde_json::Serializer::with_formatter(&mut json, formatter)).map_err(failed)?;
        }
        None => value.serialize(&mut serde_json::Serializer::with_formatter(&mut json, Spaced)).map_err(failed)?,
    }
    Ok(Value::from_safe_string(String::from_utf8_lossy(&json).into_owned()))
}

/// Python's separators.
struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, first: bool) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}

/// A prompt that does not grow without end.
struct Bounded(Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_PROMPT {
            return Err(std::io::Error::other("the prompt has no end"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Today, as templates ask for it: `%d %b %Y`, `%Y-%m-%d` and the like. UTC.
fn today(format: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (year, month, day) = civil((seconds / 86_400) as i64);
    let name = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
    format
        .replace("%Y", &year.to_string())
        .replace("%m", &format!("{month:02}"))
        .replace("%d", &format!("{day:02}"))
        .replace("%B", name)
        .replace("%b", name.get(..3).unwrap_or(name))
        .replace("%H", &format!("{:02}", seconds / 3600 % 24))
        .replace("%M", &format!("{:02}", seconds / 60 % 60))
        .replace("%S", &format!("{:02}", seconds % 60))
}

/// Days since 1970-01-01 to year, month (from 1) and day (from 1), by counting years from March on, so that the leap day
/// is the last.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
