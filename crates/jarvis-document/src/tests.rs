//! Encodings by the dozen, files that are none, and PDFs written by hand.

use super::*;

const RUSSIAN: &str = "Продажи компании за первый квартал выросли, а прибыль снизилась. Цена: 1 200 руб.\r\n";
const CHINESE: &str = "公司成立于一九八七年，总部在北京。今年的销售额是三百万元。\n";

fn encoded(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    let (bytes, used, lost) = encoding.encode(text);
    assert!(used == encoding && !lost);
    bytes.into_owned()
}

fn utf16(text: &str, little: bool) -> Vec<u8> {
    text.encode_utf16().flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

#[test]
fn texts_are_read() {
    let check = |bytes: &[u8], text: &str, format: Format| {
        let document = decode(bytes).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((&*document.text, document.format), (text, format));
        assert_eq!(document.warnings.is_empty(), format == Format::Utf8, "{:?}", document.warnings);
    };
    check(b"", "", Format::Utf8);
    check(b"apple,banana\r\n", "apple,banana\r\n", Format::Utf8);
    check(&joined(&[b"\xef\xbb\xbf", "яблоко".as_bytes()]), "яблоко", Format::Utf8);
    check(CHINESE.as_bytes(), CHINESE, Format::Utf8);
    for text in [RUSSIAN, CHINESE, "plain text", "😀 emoji"] {
        check(&joined(&[b"\xff\xfe", &utf16(text, true)]), text, Format::Utf16Le);
        check(&joined(&[b"\xfe\xff", &utf16(text, false)]), text, Format::Utf16Be);
    }
    for text in [RUSSIAN, "plain text", "name,цена\n苹果,12\n"] {
        check(&utf16(text, true), text, Format::Utf16Le);
        check(&utf16(text, false), text, Format::Utf16Be);
    }
    for text in [CHINESE, "apple,苹果\nbanana,香蕉\n", "价格：１２元"] {
        check(&encoded(GB18030, text), text, Format::Gb18030);
    }
    for text in [RUSSIAN, "Яблоко, груша, вишня", "Добрый день", "сентябрь 12\nоктябрь 15\n"]
    {
        check(&encoded(WINDOWS_1251, text), text, Format::Windows1251);
        check(&encoded(KOI8_R, text), text, Format::Koi8R);
        check(&encoded(IBM866, text), text, Format::Ibm866);
    }
}

#[test]
fn what_is_cut_within_a_character_is_told() {
    let bytes = "цена".as_bytes();
    let document = decode(&bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(&*document.text, "цен");
    assert!(document.warnings[0].contains("middle of a character"));
}

#[test]
fn what_is_no_text_is_refused() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
    let check = |bytes: &[u8], expected: &str| {
        let error = decode(bytes).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(png, "image/png");
    check(b"PK\x03\x04\x14\0\0\0\x08\0abc", "application/zip");
    check(b"a\0b", "no known type");
    check(&[0; 64], "no known type");
    check(b"abc \xff\xff\xff def", "no known type");
    check(b"caf\xe9 au lait", "no known type");
    check(b"truncated at \xe9", "no known type");
    check(&[1, 2, 3, 4, 5, 6, 7, 8], "no known type");
    check(b"\xff\xfea", "not text");
    check(&[0xff, 0xfe, 0x00, 0xd8], "not text");
    check(b"\xff\xfe\0\0a\0\0\0", "UTF-32");
    check(b"\0\0\xfe\xff\0\0\0a", "UTF-32");
    check(b"%PDF-1.4\n", "PDF");
    let noise: Vec<u8> = (0..4096_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    check(&noise, "not text");
}

#[test]
fn long_documents_are_read() {
    for (encoding, text) in [(GB18030, CHINESE), (WINDOWS_1251, RUSSIAN)] {
        let bytes = encoded(encoding, text);
        let times = (10 << 20) / bytes.len();
        assert!(*decode(&bytes.repeat(times)).unwrap().text == text.repeat(times));
    }
    assert!(*decode(RUSSIAN.repeat(80_000).as_bytes()).unwrap().text == RUSSIAN.repeat(80_000));
}

#[tokio::test]
async fn a_pdf_needs_a_reader() {
    let read_with = async |bytes: &'static [u8]| read(Bytes::from_static(bytes), &NoReader).await;
    assert_eq!(read_with(b"%PDF-1.7\n...").await, Err(DocumentError::NotBuilt("a PDF")));
    assert_eq!(&*read_with(b"a text of %PDF-1.7").await.unwrap().text, "a text of %PDF-1.7");
}

#[cfg(feature = "documents")]
mod pdfs {
    use super::*;

    /// Extracts on the thread of the test.
    struct Here;

    #[async_trait::async_trait]
    impl DocumentReader for Here {
        async fn text(&self, bytes: Bytes) -> Result<Extracted, DocumentError> {
            extract(&bytes)
        }
    }

    /// A PDF of one page; the font's own entries and further objects are given.
    fn pdf(content: &str, font: &str, more: &[String]) -> Vec<u8> {
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
                .to_owned(),
            format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
            format!("<< /Type /Font {font} >>"),
        ];
        objects.extend_from_slice(more);
        let mut file = "%PDF-1.4\n".to_owned();
        let mut places = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            places.push(file.len());
            file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
        }
        let table = file.len();
        file.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
        for place in places {
            file.push_str(&format!("{place:010} 00000 n \n"));
        }
        file.push_str(&format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1));
        file.into_bytes()
    }

    fn latin(content: &str) -> Vec<u8> {
        pdf(content, "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding", &[])
    }

    /// A PDF with a text in any script, whose letters are numbered and mapped to Unicode.
    fn unicode(text: &str) -> Vec<u8> {
        let mut map =
            "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /X def\n/CMapType 2 def\n\
                       1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"
                .to_owned();
        let mut codes = String::new();
        map.push_str(&format!("{} beginbfchar\n", text.chars().count()));
        for (at, c) in (1..).zip(text.chars()) {
            map.push_str(&format!("<{at:04X}> <{:04X}>\n", u32::from(c)));
            codes.push_str(&format!("{at:04X}"));
        }
        map.push_str("endbfchar\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend");
        let more = [
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) \
             /Supplement 0 >> /DW 1000 /FontDescriptor 8 0 R >>"
                .to_owned(),
            format!("<< /Length {} >>\nstream\n{map}\nendstream", map.len()),
            "<< /Type /FontDescriptor /FontName /X /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 \
             /Descent -200 /CapHeight 700 /StemV 80 >>"
                .to_owned(),
        ];
        let font = "/Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R";
        pdf(&format!("BT /F1 12 Tf 20 100 Td <{codes}> Tj ET"), font, &more)
    }

    #[tokio::test]
    async fn text_is_taken_out() {
        let check = async |bytes: Vec<u8>, expected: &str| {
            let document = read(Bytes::from(bytes), &Here).await.unwrap();
            assert_eq!((document.text.trim(), document.format), (expected, Format::Pdf));
            assert!(document.warnings[0].contains("PDF"));
        };
        check(latin("BT /F1 12 Tf 20 100 Td (Founded in 1987.) Tj ET"), "Founded in 1987.").await;
        check(unicode("Выручка 1200"), "Выручка 1200").await;
        check(unicode("公司成立"), "公司成立").await;
        let lines = latin("BT /F1 12 Tf 20 100 Td (January 5) Tj 0 -14 Td (February 7) Tj ET");
        let text = read(Bytes::from(lines), &Here).await.unwrap().text;
        assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["January", "5", "February", "7"]);
    }

    #[tokio::test]
    async fn bad_files_are_refused() {
        let whole = latin("BT /F1 12 Tf 20 100 Td (x) Tj ET");
        let empty = read(Bytes::from(latin("")), &Here).await.unwrap_err();
        assert!(empty.to_string().contains("pictures"), "{empty}");
        for bytes in [&b"%PDF-1.4"[..], b"%PDF-1.4\nstartxref\n99999999\n%%EOF", &whole[..60]] {
            let error = read(Bytes::copy_from_slice(bytes), &Here).await.unwrap_err();
            assert!(matches!(error, DocumentError::Unreadable(_) | DocumentError::Broken), "{error}");
        }
        let long = Bytes::from([&whole[..], &vec![b' '; MAX_FILE]].concat());
        assert!(matches!(read(long, &Here).await, Err(DocumentError::Size { .. })));
    }
}
