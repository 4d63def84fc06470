//! What is left out of what is kept: secrets, `data:` addresses, what attached texts hold, and the rest of long texts.

use std::sync::LazyLock;

use jarvis_net::Secret;
use jarvis_plan::{Arg, Piece, Request, Source, TaskId, pattern};
use regex::Regex;
use serde_json::Value;

use jarvis_net::text::cut;

/// Stands in the place of a secret.
pub(super) const REDACTED: &str = "[redacted]";
/// Stands where the rest of a long text was.
pub(super) const CUT: &str = "… [cut]";
/// The longest request that is kept, in characters.
const REQUEST: usize = 4_000;
/// The longest text of an argument that is kept, in characters.
const ARGUMENT: usize = 2_000;
/// A shorter word of a request is in too many texts to be taken out of them.
const SHORTEST: usize = 4;
/// A text that is as long as this and stands in an attached one is taken from there.
const QUOTED: usize = 40;

/// Keys and tokens by how they begin, and long ones of letters and digits; what follows a word for a secret; the login of an address.
static SECRETS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        pattern(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.)*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"),
        pattern(
            r"(?x)\b(?:
                (?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,} | hf_[A-Za-z0-9]{8,} | gh[opsur]_[A-Za-z0-9]{8,} | github_pat_[A-Za-z0-9_]{8,}
                | glpat-[A-Za-z0-9_-]{8,} | xox[abeprs]-[A-Za-z0-9-]{8,} | (?:AKIA|ASIA)[A-Z0-9]{12,} | AIza[A-Za-z0-9_-]{20,}
                | ya29\.[A-Za-z0-9_-]{8,} | npm_[A-Za-z0-9]{16,} | pypi-[A-Za-z0-9_-]{16,} | SG\.[A-Za-z0-9_.-]{16,}
                | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?
            )",
        ),
        pattern(
            r#"(?i)(?P<before>(?:\b|_)(?:password|passwd|passphrase|pwd|secret|api[ _-]?key|access[ _-]?key|private[ _-]?key|token|credentials?|bearer|пароль|токен|密码|密钥)["']?(?:\s*(?:is|это|是)\s*|\s+)["']?)(?P<secret>[^\s"',;<>\[\]]*[0-9!@#$%^&*_][^\s"',;<>\[\]]*)"#,
        ),
        // What is written as the value of a name needs no digit to be one.
        pattern(
            r#"(?i)(?P<before>(?:\b|_)(?:password|passwd|passphrase|pwd|secret|api[ _-]?key|access[ _-]?key|private[ _-]?key|token|credentials?|bearer|пароль|токен|密码|密钥)["']?\s*[=:：]\s*["']?)(?P<secret>[^\s"',;<>\[\]]+)"#,
        ),
        pattern(r"(?P<before>\b[a-z][a-z0-9+.-]*://)(?P<secret>[^\s/@]+)@"),
    ]
});

/// Long runs of letters and digits that stand alone. Parts of paths and addresses are names.
static LONG: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?:^|[\s=:'\"(,])(?P<secret>[A-Za-z0-9_+=-]{32,})[.!?]*(?:$|[\s'\")&,;])"#));

/// Names of arguments that hold secrets.
static SECRET_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|token|credentials?|authorization|bearer|пароль|токен|密码|密钥)$",
    )
});

static DATA: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bdata:[a-z0-9.+-]*(?:/[a-z0-9.+-]*)?(?:;[a-z0-9=.+-]*)*,[^\s)>]*"));

/// Takes out of texts what is not kept.
#[derive(Debug, Default)]
pub(super) struct Cleaner<'a> {
    secrets: &'a [Secret],
    /// Attached texts with their names.
    texts: Vec<(&'a str, &'a str)>,
    /// What the request says is a secret: arguments hold it without the word beside it.
    told: Vec<Secret>,
}

impl<'a> Cleaner<'a> {
    pub(super) fn new(secrets: &'a [Secret], request: &'a Request) -> Cleaner<'a> {
        let texts = request.attachments.iter().filter_map(|file| match &file.source {
            Source::Inline(text) => Some((text.as_str(), file.name.as_deref().unwrap_or("attached text"))),
            Source::Public(_) | Source::Url(_) => None,
        });
        let told = SECRETS.iter().flat_map(|found| found.captures_iter(&request.text));
        let told = told.filter_map(|found| found.name("secret")).map(|found| found.as_str());
        let told = told.filter(|said| said.chars().count() >= SHORTEST).filter_map(Secret::new);
        Cleaner { secrets, texts: texts.collect(), told: told.collect() }
    }

    /// A request.
    pub(super) fn request(&self, text: &str) -> String {
        cut(&self.without_secrets(text), REQUEST, CUT)
    }

    /// A text of an argument, or a name.
    pub(super) fn text(&self, text: &str) -> String {
        let said = text.trim();
        let holds = |(content, _): &&(&str, &str)| {
            content.trim() == said || said.chars().count() >= QUOTED && content.contains(said)
        };
        match self.texts.iter().find(holds).filter(|_| !said.is_empty()) {
            Some((_, name)) => (*name).to_owned(),
            None => cut(&self.without_secrets(text), ARGUMENT, CUT),
        }
    }

    fn without_secrets(&self, text: &str) -> String {
        let known = self.secrets.iter().chain(&self.told).fold(text.to_owned(), |text, secret| secret.redact(&text));
        let mut text = DATA.replace_all(&known, format!("data:{CUT}")).into_owned();
        for found in &*SECRETS {
            text = found
                .replace_all(&text, |captures: &regex::Captures<'_>| match captures.name("before") {
                    Some(before) if captures.get(0).is_some_and(|all| all.as_str().ends_with('@')) => {
                        format!("{}{REDACTED}@", before.as_str())
                    }
                    Some(before) => format!("{}{REDACTED}", before.as_str()),
                    None => REDACTED.to_owned(),
                })
                .into_owned();
        }
        let mut clean = String::with_capacity(text.len());
        let mut from = 0;
        while let Some(found) = LONG.captures_at(&text, from).and_then(|captures| captures.name("secret")) {
            let is_mixed = |is: fn(&char) -> bool| found.as_str().chars().any(|c| is(&c));
            let secret = is_mixed(char::is_ascii_digit) && is_mixed(char::is_ascii_alphabetic);
            clean.push_str(text.get(from..found.start()).unwrap_or_default());
            clean.push_str(if secret { REDACTED } else { found.as_str() });
            from = found.end();
        }
        clean.push_str(text.get(from..).unwrap_or_default());
        clean
    }

    /// An argument of a task by its name: nothing is left of one that is called a secret.
    pub(super) fn named(&self, name: &str, arg: &Arg) -> Arg {
        if SECRET_NAME.is_match(name) && arg.references().next().is_none() {
            return Arg::Value(Value::String(REDACTED.to_owned()));
        }
        self.arg(arg)
    }

    /// An argument, in all its texts.
    pub(super) fn arg(&self, arg: &Arg) -> Arg {
        match arg {
            Arg::Value(value) => Arg::Value(self.value(value)),
            Arg::Text(pieces) => Arg::text(pieces.iter().map(|piece| match piece {
                Piece::Text(text) => Piece::<TaskId>::Text(self.piece(text)),
                Piece::Output(_) | Piece::Part(..) => piece.clone(),
            })),
            Arg::List(items) => Arg::list(items.iter().map(|item| self.arg(item)).collect()),
            Arg::Object(fields) => {
                Arg::object(fields.iter().map(|(name, field)| (name.clone(), self.named(name, field))).collect())
            }
        }
    }

    /// Text between outputs: blanks around it stay.
    fn piece(&self, text: &str) -> String {
        let said = self.text(text);
        if said.is_empty() || text.starts_with(char::is_whitespace) && !said.starts_with(char::is_whitespace) {
            return text.to_owned();
        }
        said
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                let field = |(name, field): (&String, &Value)| match SECRET_NAME.is_match(name) {
                    true => (name.clone(), Value::String(REDACTED.to_owned())),
                    false => (name.clone(), self.value(field)),
                };
                Value::Object(fields.iter().map(field).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}
