//! Reading: which languages, which lines, which words are none.

use super::*;

fn line(text: &str) -> ocr::Line {
    ocr::Line { text: text.to_owned(), sure: 95.0, begins: false }
}

#[test]
fn languages_follow_the_request_and_what_is_there() {
    let installed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    type Case = (&'static [&'static str], Language, &'static [&'static str], Option<&'static str>);
    let cases: [Case; 7] = [
        (&["eng", "osd", "rus"], Language::Russian, &["eng", "rus+eng"], None),
        (&["eng", "osd", "rus"], Language::English, &["eng", "rus+eng"], None),
        (&["eng", "osd"], Language::Russian, &["eng"], Some("tesseract-ocr-rus")),
        (&["eng", "osd"], Language::English, &["eng"], None),
        (&["chi_sim", "eng", "rus"], Language::Chinese, &["eng", "chi_sim+eng", "rus+eng"], None),
        (&["osd", "deu"], Language::English, &["deu"], Some("tesseract-ocr-eng")),
        (&["osd"], Language::English, &[], Some("tesseract-ocr-eng")),
    ];
    for (names, lang, used, missing) in cases {
        let (found, lacks) = ocr::languages(&installed(names), lang);
        assert_eq!((found.as_slice(), lacks), (installed(used).as_slice(), missing), "{names:?} {lang:?}");
    }
}

#[test]
fn the_table_becomes_lines_without_doubtful_ones() {
    let mut tsv =
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n".to_owned();
    let words = [
        (1, 1, 1, 96.0, "Total:"),
        (1, 1, 1, 90.0, "42.50"),
        (1, 1, 2, 20.0, "~~|ii"),
        (1, 1, 3, 95.0, "x"),
        (2, 1, 1, 91.0, "汉"),
        (2, 1, 1, 93.0, "字"),
    ];
    for (block, paragraph, line, sure, word) in words {
        tsv += &format!("5\t1\t{block}\t{paragraph}\t{line}\t1\t0\t0\t9\t9\t{sure}\t{word}\n");
    }
    tsv += "4\t1\t2\t1\t2\t0\t0\t0\t9\t9\t-1\t\nnonsense\n";
    let lines = ocr::lines(&tsv);
    assert_eq!(ocr::join(&lines), "Total: 42.50\n\n汉字");
    assert!(ocr::lines("").is_empty());
}

/// Tables as tesseract makes them of photographs without writing, and of signs among noise: one line a row.
#[test]
fn noise_is_no_writing() {
    for (words, read) in rows::<(String, String)>(CASES, "legible") {
        let mut tsv = String::new();
        for (nth, line) in words.split(" / ").enumerate() {
            for word in line.split(' ').filter(|word| !word.is_empty()) {
                let (text, sure) = word.rsplit_once('(').expect("each word has its confidence behind it");
                let sure = sure.trim_end_matches(')');
                tsv += &format!("5\t1\t1\t1\t{nth}\t1\t0\t0\t9\t9\t{sure}\t{text}\n");
            }
        }
        assert_eq!(ocr::join(&ocr::lines(&tsv)), read.replace(" / ", "\n"), "{words}");
    }
}

#[test]
fn questions_find_their_line() {
    let page: Vec<_> = rows::<String>(CASES, "page").iter().map(|text| line(text)).collect();
    for (question, answer) in rows::<(String, String)>(CASES, "asked") {
        let found = ocr::answers(&page, &question);
        assert_eq!(found.first().map(|(answer, _)| answer), Some(&answer), "{question}: {found:?}");
        assert!(found[0].1 > 0.0 && found[0].1 <= 1.0);
    }
    assert!(ocr::answers(&page, "what colour is the car?").is_empty());
    assert!(ocr::answers(&page, "").is_empty());
}

#[tokio::test]
async fn the_installed_tesseract_reads_a_card_back() {
    let programs = Programs::find();
    if programs.path(Program::Tesseract).is_err() {
        println!("skipped: tesseract is not installed");
        return;
    }
    let card = card::draw("The invoice total is 119 euros", card::Look::default()).unwrap();
    let picture = DynamicImage::from(card.picture);
    let english = ["eng".to_owned()];
    let lines = ocr::read(&programs, &ocr::prepare(&picture).unwrap(), &english).await.unwrap();
    let text = ocr::join(&lines).replace('\n', " ");
    assert!(text.contains("invoice total is 119"), "{text}");
    let empty = DynamicImage::from(RgbImage::from_pixel(300, 200, WHITE));
    let lines = ocr::read(&programs, &ocr::prepare(&empty).unwrap(), &english).await.unwrap();
    assert_eq!(lines, []);
    let error = ocr::read(&programs, b"no picture", &english).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Upstream);
}
