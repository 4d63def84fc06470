//! Names as ToolBench writes them: of tools, of API functions, of arguments.

/// A name in the letters that ToolBench allows: Chinese characters, ASCII letters, digits, `^` and `_`. Everything else
/// becomes `_`, runs of which are one; lower case; no `_` at the ends; a leading digit gets `get_` before it.
pub fn standardize(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\u{4e00}'..='\u{9fa5}' | '^');
    let plain = joined(name, kept).to_ascii_lowercase();
    let plain = plain.trim_matches('_');
    if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("get_{plain}") } else { plain.to_owned() }
}

/// The characters that are kept, each run of others as one `_`.
fn joined(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if is_kept(c) {
            plain.push(c);
        } else if !plain.ends_with('_') {
            plain.push('_');
        }
    }
    plain
}

/// A name that is no keyword: `from, class, return, false, true, id, and, ""` and `ID` become `is_` and their lower case.
pub fn change_name(name: &str) -> String {
    match name {
        "from" | "class" | "return" | "false" | "true" | "id" | "and" | "" | "ID" => {
            format!("is_{}", name.to_ascii_lowercase())
        }
        _ => name.to_owned(),
    }
}

/// The name of an API's function.
pub fn api_function_name(api: &str) -> String {
    change_name(&standardize(api))
}

/// A category as ToolBench writes it: blanks, commas and slashes become `_`, runs of which are one.
pub fn category_name(category: &str) -> String {
    joined(category, |c| !matches!(c, ' ' | ',' | '/' | '_'))
}

/// A text as the name of a registered tool: its letters, digits, `_`, `-`, `.` and `/`, at most 120 of them; runs of anything
/// else become one `_`.
pub fn tool_name(text: &str) -> String {
    let text: String = text.chars().take(120).collect();
    let name = joined(&text, |c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
    let name = name.trim_matches('_');
    if name.is_empty() { "tool".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    #[test]
    fn names_are_as_toolbench_writes_them() {
        for (name, standard, function) in rows::<(String, String, String)>(include_str!("names.json"), "names") {
            assert_eq!(standardize(&name), standard, "{name}");
            assert_eq!(api_function_name(&name), function, "{name}");
        }
        assert_eq!(change_name("Id"), "Id");
    }

    #[test]
    fn categories_are_as_toolbench_writes_them() {
        for (category, name) in
            [("Video, Images", "Video_Images"), ("News/Media", "News_Media"), ("Data", "Data"), ("a__b", "a_b")]
        {
            assert_eq!(category_name(category), name);
        }
    }
}
