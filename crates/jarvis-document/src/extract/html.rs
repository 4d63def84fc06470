//! The text of web pages, as Markdown.

use std::rc::Rc;

use encoding_rs::Encoding;
use htmd::element_handler::{HandlerResult, Handlers};
use htmd::{Element, HtmlToMarkdown, Node};
use markup5ever_rcdom::NodeData;

use super::{push_table, unreadable};
use crate::{DocumentError, Format};

/// Elements whose content is not read by people.
const UNSEEN: [&str; 8] = ["head", "script", "style", "template", "noscript", "svg", "iframe", "object"];

/// The text of a page, in the encoding that it names or one that is recognised.
pub(super) fn text(bytes: &[u8]) -> Result<String, DocumentError> {
    let named =
        declared(bytes).and_then(|encoding| encoding.decode_without_bom_handling_and_without_replacement(bytes));
    let page = match named {
        Some(page) => page.into_owned(),
        None => crate::decode_text(bytes)?.text.to_string(),
    };
    let converter = HtmlToMarkdown::builder().skip_tags(UNSEEN.to_vec()).add_handler(vec!["table"], table).build();
    converter.convert(&page).map_err(|error| unreadable(Format::Html, &error))
}

/// The encoding that a page declares; one with a byte order mark needs none.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..1024).unwrap_or(bytes)).to_ascii_lowercase();
    if Encoding::for_bom(bytes).is_some() || head.contains('\0') {
        return None;
    }
    let (_, label) = head.split_once("charset=")?;
    let label = label.trim_start_matches(['"', '\'']);
    let end = label.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c)).unwrap_or(label.len());
    Encoding::for_label(label.get(..end)?.as_bytes())
}

/// A table as rows of cells. The converter's own way leaves out header cells that begin a row, and tables without a header.
fn table(handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
    let mut rows = Vec::new();
    collect(handlers, element.node, &mut rows);
    let mut text = "\n\n".to_owned();
    if rows.iter().all(|row: &Vec<String>| row.len() < 2) {
        // Layout, not data.
        text.push_str(&rows.concat().join("\n\n"));
        text.push_str("\n\n");
    } else {
        push_table(&mut text, &rows);
    }
    Some(text.into())
}

/// The rows of a table; tables within its cells are read as words of the cell.
fn collect(handlers: &dyn Handlers, node: &Rc<Node>, rows: &mut Vec<Vec<String>>) {
    for child in node.children.borrow().iter() {
        match name(child).as_deref() {
            Some("tr") => {
                let children = child.children.borrow();
                let cells = children.iter().filter(|cell| matches!(name(cell).as_deref(), Some("td" | "th")));
                let words = |cell: &Rc<Node>| handlers.walk_children(cell).content.replace("&#124;", "|");
                rows.push(cells.map(words).collect());
            }
            Some("thead" | "tbody" | "tfoot") => collect(handlers, child, rows),
            Some("caption") => rows.insert(0, vec![handlers.walk_children(child).content]),
            _ => {}
        }
    }
}

fn name(node: &Node) -> Option<String> {
    match &node.data {
        NodeData::Element { name, .. } => Some(name.local.to_string()),
        _ => None,
    }
}
