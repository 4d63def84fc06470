//! Office files and web pages, written by hand, whole and hostile.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn zipped(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, part) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).expect("memory takes it");
        zip.write_all(part.as_bytes()).expect("memory takes it");
    }
    zip.finish().expect("memory takes it").into_inner()
}

fn docx(body: &str) -> Vec<u8> {
    let document = format!("<w:document xmlns:w=\"w\" xmlns:mc=\"mc\"><w:body>{body}</w:body></w:document>");
    zipped(&[("word/document.xml", &document)])
}

fn slide(body: &str) -> String {
    format!("<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><p:spTree>{body}</p:spTree></p:sld>")
}

fn pptx(slides: [&str; 2]) -> Vec<u8> {
    zipped(&[
        (
            "ppt/presentation.xml",
            "<p:presentation xmlns:p=\"p\" xmlns:r=\"r\"><p:sldIdLst><p:sldId id=\"256\" r:id=\"rId2\"/>\
             <p:sldId id=\"257\" r:id=\"rId1\"/></p:sldIdLst></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            "<Relationships xmlns=\"x\"><Relationship Id=\"rId1\" Target=\"slides/slide1.xml\"/>\
             <Relationship Id=\"rId2\" Target=\"/ppt/slides/slide2.xml\"/></Relationships>",
        ),
        ("ppt/slides/slide1.xml", &slide(slides[0])),
        ("ppt/slides/slide2.xml", &slide(slides[1])),
    ])
}

/// A workbook of one sheet, `Sales`.
fn xlsx(rows: &str) -> Vec<u8> {
    let sheet = format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>{rows}</sheetData></worksheet>"
    );
    zipped(&[
        ("[Content_Types].xml", "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>"),
        (
            "_rels/.rels",
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" \
             Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
             Target=\"xl/workbook.xml\"/></Relationships>",
        ),
        (
            "xl/workbook.xml",
            "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" xmlns:r=\"http://schemas.\
             openxmlformats.org/officeDocument/2006/relationships\"><sheets><sheet name=\"Sales\" sheetId=\"1\" r:id=\"rId1\"/>\
             </sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" \
             Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" \
             Target=\"worksheets/sheet1.xml\"/></Relationships>",
        ),
        (
            "xl/styles.xml",
            "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><cellXfs><xf numFmtId=\"0\"/>\
             <xf numFmtId=\"14\"/><xf numFmtId=\"22\"/></cellXfs></styleSheet>",
        ),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

fn ods() -> Vec<u8> {
    let content = "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
        xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\">\
        <office:body><office:spreadsheet><table:table table:name=\"Stock\"><table:table-row><table:table-cell \
        office:value-type=\"string\"><text:p>item</text:p></table:table-cell><table:table-cell office:value-type=\"string\"><text:p>qty\
        </text:p></table:table-cell></table:table-row><table:table-row><table:table-cell office:value-type=\"string\"><text:p>bolt</text:p>\
        </table:table-cell><table:table-cell office:value-type=\"float\" office:value=\"7\"/></table:table-row></table:table>\
        </office:spreadsheet></office:body></office:document-content>";
    let manifest = "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>";
    zipped(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", manifest),
        ("content.xml", content),
    ])
}

const TEXT: &str = "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Report</w:t></w:r></w:p>\
    <w:p><w:r><w:t>Founded in </w:t></w:r><w:r><w:t>1998 &amp; on</w:t><w:br/><w:t>line</w:t></w:r><w:del><w:r><w:delText>not\
    </w:delText></w:r></w:del></w:p><mc:AlternateContent><mc:Choice><w:p><w:r><w:t>once</w:t></w:r></w:p></mc:Choice><mc:Fallback>\
    <w:p><w:r><w:t>twice</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent><w:tbl><w:tr><w:tc><w:p><w:r><w:t>Region</w:t></w:r></w:p>\
    </w:tc><w:tc><w:p><w:r><w:t>Units</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>South | East</w:t></w:r></w:p></w:tc>\
    <w:tc><w:p><w:r><w:t>12</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";

const ROWS: &str = "<row r=\"1\"><c r=\"A1\" t=\"str\"><v>Report of 2024</v></c></row>\
    <row r=\"2\"><c r=\"A2\" t=\"str\"><v>item</v></c><c r=\"C2\" t=\"str\"><v>price</v></c><c r=\"D2\" t=\"str\"><v>day</v></c></row>\
    <row r=\"3\"><c r=\"A3\" t=\"str\"><v>lamp</v></c><c r=\"C3\"><v>0.30000000000000004</v></c><c r=\"D3\" s=\"1\"><v>45292</v></c></row>\
    <row r=\"4\"><c r=\"A4\" t=\"b\"><v>1</v></c><c r=\"C4\"><v>1200</v></c><c r=\"D4\" s=\"2\"><v>45292.5</v></c></row>\
    <row r=\"6\"><c r=\"A6\" t=\"str\"><v>note</v></c></row>";

#[test]
fn text_and_tables_are_taken_out() {
    let check = |bytes: &[u8], format: Format, expected: &str| {
        let read = extract(bytes).unwrap();
        assert_eq!((read.format, read.text.trim_end()), (format, expected));
    };
    let table = "| Region | Units |\n| --- | --- |\n| South \\| East | 12 |";
    check(&docx(TEXT), Format::Docx, &format!("# Report\n\nFounded in 1998 & on\nline\n\nonce\n\n{table}"));
    let shape = "<p:sp><p:txBody><a:p><a:r><a:t>Second</a:t></a:r><a:fld><a:t>2</a:t></a:fld></a:p></p:txBody></p:sp>";
    let first = "<a:tbl><a:tr><a:tc><a:p><a:r><a:t>Q</a:t></a:r></a:p></a:tc><a:tc><a:p/></a:tc></a:tr></a:tbl>";
    check(&pptx([shape, first]), Format::Pptx, "## Slide 1\n\n| Q | |\n| --- | --- |\n\n## Slide 2\n\nSecond");
    let rows = "| item | price | day |\n| --- | --- | --- |\n| lamp | 0.3 | 2024-01-01 |\n| true | 1200 | 2024-01-01 12:00:00 |";
    check(&xlsx(ROWS), Format::Sheet, &format!("## Sales\n\nReport of 2024\n\n{rows}\n\n| note |\n| --- |"));
    check(&ods(), Format::Sheet, "## Stock\n\n| item | qty |\n| --- | --- |\n| bolt | 7 |");
    let page = "<!-- x --><!DOCTYPE html><title>t</title><style>p{}</style><h1>Sales</h1><p>Caf\u{e9} <b>1998</b><script>no()</script>\
        <table><tr><th>Region<th>Units<tr><th>South | East<td>12</table><table><tr><td>a<td>1<tr><td>b<td>2</table>";
    let text = "# Sales\n\nCafé **1998**\n\n| Region | Units |\n| --- | --- |\n| South \\| East | 12 |\n\n| a | 1 |\n| --- | --- |\n| b | 2 |";
    check(page.as_bytes(), Format::Html, text);
    let latin: Vec<u8> = "<html><meta charset=\"iso-8859-1\"><p>Caf\u{e9}".chars().map(|c| c as u8).collect();
    check(&latin, Format::Html, "Café");
    let wide: Vec<u8> = "<html><p>выручка".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(&wide, Format::Html, "выручка");
}

#[test]
fn hostile_files_are_refused() {
    let check = |bytes: &[u8], expected: &str| {
        let error = extract(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&zipped(&[("notes.txt", "x")]), "a ZIP archive without a document");
    check(&zipped(&[("mimetype", "application/vnd.oasis.opendocument.text")]), "save it as .docx");
    check(&docx(TEXT)[..80], "no text could be taken out of the ZIP container");
    check(&zipped(&[("word/document.xml", "<w:document")]), "the Word document: ");
    let bomb = format!("<!DOCTYPE x [<!ENTITY a \"{}\">]><x>&a;</x>", "a".repeat(100));
    check(&zipped(&[("word/document.xml", &bomb)]), "the Word document: ");
    check(&zipped(&[("word/document.xml", &" ".repeat(65 << 20))]), "more than 64 MiB");
    check(&docx(&"<w:p/>".repeat(4_000_000)), "the Word document: ");
    check(&zipped(&[("ppt/presentation.xml", "<p/>")]), "ppt/_rels/presentation.xml.rels");
    check(&zipped(&[("xl/workbook.xml", "<workbook/>")]), "no text could be taken out of the workbook");
    let far = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"90000\"><c r=\"CA90000\"><v>1</v></c></row>";
    check(&xlsx(far), "90000 rows and 79 columns, which are too many");
    check(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 nothing", ".doc and .ppt files are to be saved");
    check(b"plain", "plain text");
}
