//! Markdown to sections: headings of the second level are messages, all else is their text.

use jarvis_plan::Role;

use super::TemplateError;

#[derive(Debug)]
pub(super) struct Section {
    pub(super) role: Role,
    pub(super) demo: bool,
    pub(super) text: String,
    pub(super) title: String,
    /// The line of the file at which the text starts, from 1.
    pub(super) line: usize,
}

pub(super) fn split(template: &str, text: &str) -> Result<Vec<Section>, TemplateError> {
    let mut sections: Vec<Section> = Vec::new();
    let order = |line, message| TemplateError::Order { template: template.to_owned(), line, message };
    for (at, line) in text.lines().enumerate() {
        let Some(heading) = line.strip_prefix("## ") else {
            if let Some(section) = sections.last_mut() {
                section.text.push_str(line);
                section.text.push('\n');
            }
            continue;
        };
        let (role, demo) = match heading.trim() {
            "system" => (Role::System, false),
            "user" => (Role::User, false),
            "assistant" => (Role::Assistant, false),
            "demo: user" => (Role::User, true),
            "demo: assistant" => (Role::Assistant, true),
            _ => {
                return Err(TemplateError::UnknownSection {
                    template: template.to_owned(),
                    line: at + 1,
                    heading: line.to_owned(),
                });
            }
        };
        let demos = sections.iter().filter(|section| section.demo).count();
        if role == Role::System && !sections.is_empty() {
            return Err(order(at + 1, "the system section comes first, and only once"));
        }
        if (demo && (role == Role::User) != demos.is_multiple_of(2)) || (!demo && !demos.is_multiple_of(2)) {
            return Err(order(at + 1, "demos are pairs of a user and an assistant section"));
        }
        sections.push(Section { role, demo, text: String::new(), title: heading.trim().to_owned(), line: at + 2 });
    }
    match sections.last() {
        Some(last) if last.role == Role::User && !last.demo => Ok(sections),
        Some(_) | None => Err(TemplateError::NoUser { template: template.to_owned() }),
    }
}
