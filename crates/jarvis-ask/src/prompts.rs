//! Tables of prompts: each a Markdown file with the stage it belongs to and the slots of its context.

use std::marker::PhantomData;

use jarvis_chat::Message;
use jarvis_plan::Turn;
use jarvis_prompt::template::{Template, TemplateError};
use serde::Serialize;

/// One built-in prompt.
#[derive(Debug, Clone, Copy)]
pub struct PromptFile {
    /// File name without its extension; names the template in errors and overrides.
    pub name: &'static str,
    /// Label of the stage; several prompts may belong to one.
    pub stage: &'static str,
    /// The file's text.
    pub source: &'static str,
    /// Fields of the context.
    pub slots: &'static [&'static str],
}

/// The prompts of one pipeline, as [`prompts!`](crate::prompts) writes them.
pub trait PromptTable: Copy + 'static {
    /// Every prompt, in the order of the enum.
    const ALL: &'static [Self];

    /// The prompt's file.
    fn file(self) -> PromptFile;

    /// Place in [`PromptTable::ALL`].
    fn index(self) -> usize;
}

/// Declares an enum of prompts: per variant the file, the stage and the slots. The folder is relative to the source file.
///
/// Templates, slots and contexts are bound to each other by tests: one comes with the table and parses every template, which
/// fails on a variable that is no slot; and in debug builds rendering asserts that the fields of the context are the slots.
/// A slot may be there only for templates that users write.
///
/// ```ignore
/// jarvis_ask::prompts! {
///     /// The prompts of this pipeline.
///     pub enum Prompt in "../prompts/" {
///         /// Chooses a tool.
///         ChooseTool = "choose_tool", "choose_tool", [task, tools];
///     }
/// }
/// ```
#[macro_export]
macro_rules! prompts {
    (
        $(#[$meta:meta])*
        $vis:vis enum $table:ident in $folder:literal {
            $($(#[$doc:meta])* $name:ident = $file:literal, $stage:expr, [$($slot:ident),* $(,)?];)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        $vis enum $table {
            $($(#[$doc])* $name,)*
        }

        impl $crate::PromptTable for $table {
            const ALL: &'static [$table] = &[$($table::$name),*];

            fn file(self) -> $crate::PromptFile {
                match self {
                    $($table::$name => $crate::PromptFile {
                        name: $file,
                        stage: $stage,
                        source: include_str!(concat!($folder, $file, ".md")),
                        slots: &[$(stringify!($slot)),*],
                    },)*
                }
            }

            fn index(self) -> usize {
                self as usize
            }
        }

        #[test]
        fn every_template_uses_only_its_slots() {
            let parsed = $crate::Prompts::<$table>::builtin();
            assert!(parsed.is_ok(), "{}", parsed.err().map_or_else(String::new, |error| error.to_string()));
        }
    };
}

/// The prompts of a table, parsed.
#[derive(Debug, Clone)]
pub struct Prompts<P> {
    templates: Vec<Template>,
    table: PhantomData<P>,
}

impl<P: PromptTable> Prompts<P> {
    /// The built-in prompts.
    ///
    /// # Errors
    /// When a file is no template or uses a slot that the table does not list. The test that comes with the table rules
    /// this out.
    pub fn builtin() -> Result<Prompts<P>, TemplateError> {
        Prompts::with(|_, template| Ok(template))
    }

    /// The built-in prompts, each passed through `replace`, which puts a user's own texts in.
    ///
    /// # Errors
    /// As [`Prompts::builtin`], and those of `replace`.
    pub fn with(replace: impl Fn(P, Template) -> Result<Template, TemplateError>) -> Result<Prompts<P>, TemplateError> {
        let parse = |prompt: &P| {
            let PromptFile { name, source, slots, .. } = prompt.file();
            replace(*prompt, Template::parse(name, source, slots)?)
        };
        Ok(Prompts { templates: P::ALL.iter().map(parse).collect::<Result<_, _>>()?, table: PhantomData })
    }

    /// The template of a prompt.
    pub fn template(&self, prompt: P) -> &Template {
        self.templates.get(prompt.index()).expect("a table has a template for each of its prompts")
    }

    /// The turns of a prompt.
    ///
    /// # Errors
    /// When the context lacks a slot.
    pub fn turns(&self, prompt: P, context: &impl Serialize) -> Result<Vec<Turn>, TemplateError> {
        self.template(prompt).render(context)
    }

    /// The messages of a prompt.
    ///
    /// # Errors
    /// When the context lacks a slot.
    pub fn messages(&self, prompt: P, context: &impl Serialize) -> Result<Vec<Message>, TemplateError> {
        Ok(self.turns(prompt, context)?.into_iter().map(Message::from).collect())
    }
}
