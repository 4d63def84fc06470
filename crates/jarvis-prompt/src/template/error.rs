//! What can be wrong with a template, named by template, part and line.

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The text has no user message to end with.
    #[error("template `{template}` does not end with a `## user` section")]
    NoUser {
        /// The template.
        template: String,
    },
    /// A heading names no kind of message.
    #[error("template `{template}` line {line}: `{heading}` is no section")]
    UnknownSection {
        /// The template.
        template: String,
        /// The line, from 1.
        line: usize,
        /// The heading.
        heading: String,
    },
    /// A section stands where it cannot.
    #[error("template `{template}` line {line}: {message}")]
    Order {
        /// The template.
        template: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with the place.
        message: &'static str,
    },
    /// An expression cannot be parsed.
    #[error("template `{template}` line {line} ({part}): {message}")]
    Syntax {
        /// The template.
        template: String,
        /// The message it is in.
        part: String,
        /// The line: of the file, or of the text that replaces this part.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A slot that nothing fills.
    #[error("template `{template}` ({part}): no value is called `{slot}`; there are {known}")]
    UnknownSlot {
        /// The template.
        template: String,
        /// The message it is in.
        part: String,
        /// The slot.
        slot: String,
        /// The slots there are.
        known: String,
    },
    /// The demos are not a JSON array of messages.
    #[error("demos of template `{template}` line {line}: {message}")]
    Demos {
        /// The template.
        template: String,
        /// The line of the JSON text, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The context does not fit.
    #[error("template `{template}` ({part}) cannot be rendered: {message}")]
    Render {
        /// The template.
        template: String,
        /// The message it is in.
        part: String,
        /// What is wrong.
        message: String,
    },
}

impl TemplateError {
    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            TemplateError::NoUser { .. } | TemplateError::Order { .. } => {
                "order the sections: `## system`, `## demo: user` and `## demo: assistant` in pairs, `## user`"
            }
            TemplateError::UnknownSection { .. } => {
                "use `## system`, `## user`, `## assistant`, `## demo: user` or `## demo: assistant`, and `###` inside messages"
            }
            TemplateError::Syntax { .. } => "write a literal `{{` as `{{ '{{' }}`",
            TemplateError::UnknownSlot { .. } | TemplateError::Render { .. } => "use only the slots of this stage",
            TemplateError::Demos { .. } => {
                r#"write [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]"#
            }
        }
    }
}

/// The engine's message without the name of its internal template.
pub(super) fn message(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}
