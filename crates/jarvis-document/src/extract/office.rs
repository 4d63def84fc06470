//! The text of .docx and .pptx files, read from their XML parts; workbooks are passed on.

use std::io::{Cursor, Read};

use roxmltree::{Document as Xml, Node, ParsingOptions};
use zip::ZipArchive;

use super::sheets::{self, Book};
use super::{push_table, unreadable};
use crate::{DocumentError, Format};

/// The largest part that is read, in bytes once it is unpacked.
const MAX_PART: u64 = 64 << 20;

/// The most elements of a part, which take far more memory than their text.
const MAX_NODES: u32 = 4_000_000;

/// The most slides of a presentation.
const MAX_SLIDES: usize = 2_000;

/// The text of an office file; what it is follows from the parts that it has.
pub(super) fn text(bytes: &[u8]) -> Result<(Format, String), DocumentError> {
    let mut parts = Parts(ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
        DocumentError::Unreadable(format!("the ZIP container: {}", jarvis_net::text::shorten(&error.to_string(), 200)))
    })?);
    if parts.has("word/document.xml") {
        return Ok((Format::Docx, parts.word()?));
    }
    if parts.has("ppt/presentation.xml") {
        return Ok((Format::Pptx, parts.slides()?));
    }
    let book = match () {
        () if parts.has("xl/workbook.xml") => Some(Book::Xlsx),
        () if parts.has("xl/workbook.bin") => Some(Book::Xlsb),
        () if parts.is_open_document("spreadsheet") => Some(Book::Ods),
        () => None,
    };
    if let Some(book) = book {
        return Ok((Format::Sheet, sheets::text(book, bytes)?));
    }
    Err(DocumentError::NotText(match parts.is_open_document("") {
        true => "an OpenDocument file other than a spreadsheet; save it as .docx, .pptx or PDF".to_owned(),
        false => "a ZIP archive without a document that is read (.docx, .pptx, .xlsx, .xlsb, .ods)".to_owned(),
    }))
}

/// The parts of an office file by name.
struct Parts<'b>(ZipArchive<Cursor<&'b [u8]>>);

impl Parts<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.index_for_name(name).is_some()
    }

    fn is_open_document(&mut self, of: &str) -> bool {
        let mime = self.part(Format::Sheet, "mimetype").unwrap_or_default();
        mime.starts_with("application/vnd.oasis.opendocument.") && mime.contains(of)
    }

    fn part(&mut self, format: Format, name: &str) -> Result<String, DocumentError> {
        let part = self.0.by_name(name).map_err(|error| unreadable(format, &format!("{name}: {error}")))?;
        let mut bytes = Vec::new();
        part.take(MAX_PART + 1).read_to_end(&mut bytes).map_err(|error| unreadable(format, &error))?;
        if bytes.len() as u64 > MAX_PART {
            return Err(unreadable(format, &format!("{name} has more than {} MiB", MAX_PART >> 20)));
        }
        // Parts are UTF-8 by the standard; a few writers use UTF-16.
        crate::decode_text(&bytes).map(|read| read.text.to_string()).map_err(|error| unreadable(format, &error))
    }

    fn word(&mut self) -> Result<String, DocumentError> {
        let mut text = String::new();
        for name in ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"] {
            if self.has(name) {
                let part = self.part(Format::Docx, name)?;
                push_blocks(&mut text, parse(Format::Docx, &part)?.root_element());
            }
        }
        Ok(text)
    }

    /// The slides in the order of the presentation.
    fn slides(&mut self) -> Result<String, DocumentError> {
        let presentation = self.part(Format::Pptx, "ppt/presentation.xml")?;
        let relations = self.part(Format::Pptx, "ppt/_rels/presentation.xml.rels")?;
        let relations = parse(Format::Pptx, &relations)?;
        let presentation = parse(Format::Pptx, &presentation)?;
        let slides = presentation.descendants().filter(|node| node.tag_name().name() == "sldId");
        let mut names = Vec::new();
        for slide in slides.take(MAX_SLIDES) {
            // The id of the relation is in a namespace of its own, beside the slide's plain id.
            let id = slide.attributes().find(|one| one.name() == "id" && one.namespace().is_some());
            let is_meant = |node: &Node<'_, '_>| id.is_some_and(|id| node.attribute("Id") == Some(id.value()));
            let target = relations.descendants().find(is_meant).and_then(|node| node.attribute("Target"));
            names.extend(target.map(|target| match target.strip_prefix('/') {
                Some(whole) => whole.to_owned(),
                None => format!("ppt/{target}"),
            }));
        }
        let mut text = String::new();
        for (number, name) in (1..).zip(names) {
            let part = self.part(Format::Pptx, &name)?;
            text.push_str(&format!("## Slide {number}\n\n"));
            push_blocks(&mut text, parse(Format::Pptx, &part)?.root_element());
        }
        Ok(text)
    }
}

fn parse(format: Format, part: &str) -> Result<Xml<'_>, DocumentError> {
    // A document type is what entities are expanded from, without end; office files have none.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Xml::parse_with_options(part, options).map_err(|error| unreadable(format, &error))
}

/// Whether an element holds what is not part of the text: deleted text, codes of fields, and older copies of a drawing.
fn is_hidden(node: Node<'_, '_>) -> bool {
    matches!(node.tag_name().name(), "del" | "moveFrom" | "delText" | "instrText" | "Fallback" | "fld" | "pPr" | "rPr")
}

/// Appends paragraphs and tables. Both formats name them alike.
fn push_blocks(text: &mut String, node: Node<'_, '_>) {
    for child in node.children().filter(|child| child.is_element() && !is_hidden(*child)) {
        match child.tag_name().name() {
            "p" => {
                let words = paragraph(child);
                if !words.trim().is_empty() {
                    text.push_str(&mark(child));
                    text.push_str(words.trim_end());
                    text.push_str("\n\n");
                }
            }
            "tbl" => {
                let rows =
                    child.descendants().filter(|row| row.tag_name().name() == "tr" && table_of(*row) == Some(child));
                let cells = |row: Node<'_, '_>| {
                    let cells = row
                        .descendants()
                        .filter(|cell| cell.tag_name().name() == "tc" && table_of(*cell) == Some(child));
                    cells.map(cell).collect()
                };
                push_table(text, &rows.map(cells).collect::<Vec<_>>());
            }
            _ => push_blocks(text, child),
        }
    }
}

/// The table in which an element stands; the inner one of two.
fn table_of<'a, 'input>(node: Node<'a, 'input>) -> Option<Node<'a, 'input>> {
    node.ancestors().skip(1).find(|one| one.tag_name().name() == "tbl")
}

fn cell(cell: Node<'_, '_>) -> String {
    let paragraphs = cell.descendants().filter(|node| node.tag_name().name() == "p");
    paragraphs.map(paragraph).collect::<Vec<_>>().join(" ")
}

/// The words of a paragraph, text boxes within it included.
fn paragraph(node: Node<'_, '_>) -> String {
    let mut words = String::new();
    push_runs(&mut words, node);
    words
}

fn push_runs(words: &mut String, node: Node<'_, '_>) {
    for child in node.children().filter(|child| child.is_element() && !is_hidden(*child)) {
        match child.tag_name().name() {
            "t" => words.push_str(child.text().unwrap_or_default()),
            "tab" => words.push('\t'),
            "br" | "cr" => words.push('\n'),
            "noBreakHyphen" => words.push('-'),
            _ => push_runs(words, child),
        }
    }
}

/// What stands before a paragraph in Markdown: signs of a heading or of an item.
fn mark(paragraph: Node<'_, '_>) -> String {
    let own = paragraph.children().find(|child| child.tag_name().name() == "pPr");
    let find = |name: &str| own.and_then(|own| own.children().find(|child| child.tag_name().name() == name));
    let style = find("pStyle").and_then(|style| style.attributes().find(|one| one.name() == "val"));
    let style = style.map(|style| style.value().to_ascii_lowercase()).unwrap_or_default();
    let level = style.strip_prefix("heading").and_then(|level| level.trim().parse::<usize>().ok());
    match level {
        Some(level) => format!("{} ", "#".repeat(level.clamp(1, 6))),
        None if style == "title" => "# ".to_owned(),
        None if find("numPr").is_some() => "- ".to_owned(),
        None => String::new(),
    }
}
