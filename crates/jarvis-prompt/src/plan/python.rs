//! Calls as Python code: `x = caption(image="photo.jpg")`, `[f(a=1), g(b=2)]`, calls within calls. Read, never run.

use serde_json::{Map, Number, Value};

use super::call::Call;

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 32;

/// The most calls that are read.
const MAX_CALLS: usize = 256;

/// The longest reference without quotes, in bytes.
const MAX_REFERENCE: usize = 40;

/// Functions around a call that are none of the plan.
const AROUND: [&str; 6] = ["print", "await", "return", "list", "str", "display"];

/// The calls in a text: statements at the starts of lines, or lists of calls. Lines that are no statement are passed over;
/// `knows` tells which names are tools'. Empty when no known tool is called.
pub(super) fn calls(text: &str, knows: &dyn Fn(&str) -> bool) -> Vec<Call> {
    let mut reader = Reader { text, at: 0, depth: 0, spent: 0, calls: Vec::new(), variables: Vec::new() };
    let budget = text.len() * 4 + 64 * 1024;
    while reader.at < text.len() && reader.calls.len() < MAX_CALLS && reader.spent < budget {
        let start = reader.at;
        let made = reader.calls.len();
        if reader.statement().is_none() {
            reader.spent += reader.at - start;
            reader.calls.truncate(made);
            reader.at = start;
            reader.skip_line();
        }
    }
    if reader.calls.iter().any(|call| knows(&call.name)) { reader.calls } else { Vec::new() }
}

/// What an expression stands for.
enum Read {
    Value(Value),
    /// The result of a call, by its place among the calls.
    Call(usize),
    Name(String),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// Bytes read in vain.
    spent: usize,
    calls: Vec<Call>,
    /// Names of results.
    variables: Vec<String>,
}

/// The label of the call at a place, for references that the code makes without a name.
fn label(at: usize) -> String {
    format!("call#{at}")
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        if self.rest().starts_with('#') {
            self.skip_line();
            self.blanks();
        }
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
    }

    fn eat(&mut self, mark: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(mark);
        if found {
            self.at += mark.len();
        }
        found
    }

    /// A name with dots, hyphens and slashes in it, as tools have.
    fn name(&mut self) -> Option<String> {
        self.blanks();
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_-./".contains(c))).unwrap_or(rest.len());
        let name = rest.get(..end)?.to_owned();
        self.at += end;
        Some(name)
    }

    /// `x = call(…)`, `call(…)`, `[call(…), …]`, with list marks and numbers before it.
    fn statement(&mut self) -> Option<()> {
        self.blanks();
        let rest = self.rest();
        // "caption(…) → speak(…)", "1. caption(…), then speak(…)": what stands between two steps.
        let is_mark = |c: char| c.is_ascii_digit() || "-*.)>=|,;→⇒➜` \t".contains(c);
        let after = rest.trim_start_matches(is_mark);
        let after = ["and then ", "then ", "and "].iter().find_map(|word| after.strip_prefix(word)).unwrap_or(after);
        self.at += rest.len() - after.len();
        let start = self.at;
        if let Some(variable) = self.name()
            && self.eat("=")
            && !self.rest().starts_with('=')
        {
            let made = self.expression()?;
            let Read::Call(at) = made else { return None };
            self.calls.get_mut(at)?.labels.push(variable.clone());
            self.variables.push(variable);
            return Some(());
        }
        self.at = start;
        let before = self.calls.len();
        let read = self.expression()?;
        let made = self.calls.len() > before;
        self.eat(";");
        (made && matches!(read, Read::Call(_) | Read::Value(_))).then_some(())
    }

    fn expression(&mut self) -> Option<Read> {
        self.blanks();
        self.depth += 1;
        let read = if self.depth > MAX_DEPTH { None } else { self.atom() };
        self.depth -= 1;
        read
    }

    fn atom(&mut self) -> Option<Read> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        match first {
            '"' | '\'' => self.string(false).map(|text| Read::Value(text.into())),
            '[' | '(' => self.list(if first == '[' { "]" } else { ")" }),
            '{' => self.dict(),
            '-' | '0'..='9' => self.number(),
            '<' => self.bare_reference(),
            _ => {
                let prefix = ["f", "r", "b", "F"]
                    .into_iter()
                    .find(|prefix| rest.strip_prefix(prefix).is_some_and(|after| after.starts_with(['"', '\''])));
                if let Some(prefix) = prefix {
                    self.at += prefix.len();
                    return self.string(prefix.eq_ignore_ascii_case("f")).map(|text| Read::Value(text.into()));
                }
                let name = self.name()?;
                match name.as_str() {
                    "await" | "return" => return self.expression(),
                    "True" | "true" => return Some(Read::Value(true.into())),
                    "False" | "false" => return Some(Read::Value(false.into())),
                    "None" | "null" => return Some(Read::Value(Value::Null)),
                    _ => {}
                }
                if self.rest().starts_with('(') { self.call(name) } else { Some(Read::Name(self.path(name))) }
            }
        }
    }

    /// A reference without quotes: `<GENERATED>-0`, `<node-0>`.
    fn bare_reference(&mut self) -> Option<Read> {
        let rest = self.rest();
        let close = rest.find('>').filter(|end| *end <= MAX_REFERENCE)? + 1;
        let behind = rest.get(close..)?;
        let id = behind.strip_prefix('-').map_or(0, |id| 1 + id.chars().take_while(char::is_ascii_digit).count());
        let text = rest.get(..close + id).filter(|text| !text.contains('\n'))?.to_owned();
        self.at += text.len();
        Some(Read::Value(text.into()))
    }

    /// A name with the indices behind it: `flights[0]["number"]` as `flights[0].number`.
    fn path(&mut self, mut name: String) -> String {
        while self.rest().starts_with('[') {
            let Some(end) = self.rest().find(']') else { return name };
            let index = self.rest().get(1..end).unwrap_or_default().trim().to_owned();
            let key = index.trim_matches(['"', '\'']);
            if key.len() < index.len() {
                name.push_str(&format!(".{key}"))
            } else {
                name.push_str(&format!("[{key}]"))
            }
            self.at += end + 1;
            if let Some(more) = self.rest().strip_prefix('.') {
                let end = more.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(more.len());
                name.push_str(&format!(".{}", more.get(..end).unwrap_or_default()));
                self.at += end + 1;
            }
        }
        name
    }

    fn call(&mut self, name: String) -> Option<Read> {
        self.at += 1;
        let mut call = Call { name, ..Call::default() };
        let mut last = None;
        while !self.eat(")") {
            let start = self.at;
            let key = self.name().filter(|_| self.eat("=") && !self.rest().starts_with('='));
            if key.is_none() {
                self.at = start;
            }
            let read = self.expression()?;
            last = if let Read::Call(at) = read { Some(at) } else { None };
            let value = self.value(read);
            match key {
                Some(key) => {
                    call.named.insert(key, value);
                }
                None => call.listed.push(value),
            }
            if !self.eat(",") {
                self.eat(")").then_some(())?;
                break;
            }
        }
        if AROUND.contains(&call.name.as_str()) && call.named.is_empty() && call.listed.len() == 1 {
            return match last {
                Some(at) => Some(Read::Call(at)),
                None => Some(Read::Value(call.listed.pop()?)),
            };
        }
        self.calls.push(call);
        Some(Read::Call(self.calls.len() - 1))
    }

    /// A value as an argument: results of calls and variables become references.
    fn value(&mut self, read: Read) -> Value {
        match read {
            Read::Value(value) => value,
            Read::Call(at) => {
                let label = label(at);
                if let Some(call) = self.calls.get_mut(at)
                    && !call.labels.contains(&label)
                {
                    call.labels.push(label.clone());
                }
                format!("{{{{{label}}}}}").into()
            }
            Read::Name(name) => {
                let head = name.split(['.', '[']).next().unwrap_or_default();
                if self.variables.iter().any(|variable| variable == head) {
                    format!("{{{{{name}}}}}").into()
                } else {
                    name.into()
                }
            }
        }
    }

    fn list(&mut self, close: &str) -> Option<Read> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.eat(close) {
            let read = self.expression()?;
            items.push(self.value(read));
            if !self.eat(",") {
                self.eat(close).then_some(())?;
                break;
            }
        }
        // Brackets around one value are no list in Python.
        if close == ")" && items.len() == 1 {
            return items.pop().map(Read::Value);
        }
        Some(Read::Value(items.into()))
    }

    fn dict(&mut self) -> Option<Read> {
        self.at += 1;
        let mut fields = Map::new();
        while !self.eat("}") {
            let key = match self.expression()? {
                Read::Value(Value::String(key)) | Read::Name(key) => key,
                Read::Value(_) | Read::Call(_) => return None,
            };
            self.eat(":").then_some(())?;
            let read = self.expression()?;
            let value = self.value(read);
            fields.insert(key, value);
            if !self.eat(",") {
                self.eat("}").then_some(())?;
                break;
            }
        }
        Some(Read::Value(fields.into()))
    }

    fn number(&mut self) -> Option<Read> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || "-+.eE_".contains(c))).unwrap_or(rest.len());
        let digits = rest.get(..end)?.replace('_', "");
        self.at += end;
        let number = match digits.parse::<i64>() {
            Ok(whole) => whole.into(),
            Err(_) => Number::from_f64(digits.parse().ok()?)?,
        };
        Some(Read::Value(Value::Number(number)))
    }

    /// A quoted text; with `format`, `{name}` in it is a reference to a variable.
    fn string(&mut self, format: bool) -> Option<String> {
        let rest = self.rest();
        let quote = rest.chars().next()?;
        let triple = quote.to_string().repeat(3);
        let mark = if rest.starts_with(&triple) { triple } else { quote.to_string() };
        let body = rest.get(mark.len()..)?;
        let mut text = String::new();
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            if body.get(at..)?.starts_with(&mark) {
                self.at += mark.len() + at + mark.len();
                return Some(if format { self.formatted(&text) } else { text });
            }
            match c {
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    other => text.push(other),
                },
                '\n' if mark.len() == 1 => return None,
                c => text.push(c),
            }
        }
        self.spent += text.len();
        None
    }

    fn formatted(&self, text: &str) -> String {
        self.variables
            .iter()
            .fold(text.to_owned(), |text, name| text.replace(&format!("{{{name}}}"), &format!("{{{{{name}}}}}")))
    }
}
