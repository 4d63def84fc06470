//! The documents that a call is about.

use std::sync::{Arc, OnceLock};

use jarvis_plan::{Request, Source};
use jarvis_tables::{Table, tables_of};

/// The texts of documents by name. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    named: Arc<[(String, Arc<str>)]>,
    text: Option<Arc<str>>,
    /// Read when they are first asked for.
    tables: Arc<OnceLock<Vec<Table>>>,
}

/// The texts that are attached to a request, by the names of their files.
pub fn attached_texts(request: &Request) -> impl Iterator<Item = (&str, &str)> {
    request.attachments.iter().filter_map(|file| match &file.source {
        Source::Inline(text) => Some((file.name.as_deref().unwrap_or("document"), text.as_str())),
        Source::Public(_) | Source::Url(_) => None,
    })
}

impl Documents {
    /// The texts that are attached to a request.
    pub fn attached(request: &Request) -> Documents {
        Documents::new(attached_texts(request).map(|(name, text)| (name.to_owned(), Arc::from(text))).collect())
    }

    /// One document whose name is not known.
    pub fn unnamed(text: impl Into<Arc<str>>) -> Documents {
        Documents::new(vec![("document".to_owned(), text.into())])
    }

    /// Several documents by the names of their files.
    pub fn new(named: Vec<(String, Arc<str>)>) -> Documents {
        let text = match named.as_slice() {
            [] => None,
            [(_, text)] => Some(Arc::clone(text)),
            several => {
                let headed = |(name, text): &(String, Arc<str>)| match name.is_empty() {
                    true => text.to_string(),
                    false => format!("{name}:\n{text}"),
                };
                Some(several.iter().map(headed).collect::<Vec<String>>().join("\n\n").into())
            }
        };
        Documents { named: named.into(), text, tables: Arc::default() }
    }

    /// The documents, by the names of their files.
    pub fn each(&self) -> impl Iterator<Item = (&str, &Arc<str>)> {
        self.named.iter().map(|(name, text)| (name.as_str(), text))
    }

    /// The text of the only document, or those of all after their names; `None` where there is no document.
    pub fn text(&self) -> Option<&Arc<str>> {
        self.text.as_ref()
    }

    /// The tables of all documents.
    pub fn tables(&self) -> &[Table] {
        self.tables.get_or_init(|| tables_of(self.named.iter().map(|(name, text)| (name.as_str(), &**text))))
    }
}
