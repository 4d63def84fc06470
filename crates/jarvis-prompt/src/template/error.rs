//! What can be wrong with a template, named by template, part and line.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("template `{template}` does not end with a `## user` section")]
    NoUser { template: String },
    #[error("template `{template}` line {line}: unknown section `{heading}`")]
    UnknownSection {
        template: String,
        /// The line, from 1.
        line: usize,
        heading: String,
    },
    #[error("template `{template}` line {line}: {message}")]
    Order {
        template: String,
        /// The line, from 1.
        line: usize,
        message: &'static str,
    },
    #[error("template `{template}` line {line} ({part}): {message}")]
    Syntax {
        template: String,
        part: String,
        /// The line: of the file, or of the text that replaces this part.
        line: usize,
        message: String,
    },
    #[error("template `{template}` ({part}): no value is called `{slot}`; there are {known}")]
    UnknownSlot { template: String, part: String, slot: String, known: String },
    #[error("demos of template `{template}` line {line}: {message}")]
    Demos { template: String, line: usize, message: String },
    #[error("template `{template}` ({part}) cannot be rendered: {message}")]
    Render { template: String, part: String, message: String },
}

impl TemplateError {
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
