//! Instructions as people write them: `cases.tsv` has what each means.

use super::Op::Grayscale;
use super::*;
use crate::native::image::compose::{Gap, Layout};

#[test]
fn patterns_compile() {
    compile_all();
}

#[test]
fn instructions_become_operations() {
    let mut wrong = String::new();
    for row in jarvis_testing::lines(include_str!("cases.tsv")) {
        let (text, expected) = row.split_once('\t').unwrap();
        let found = format!("{:?}", read(text).ops);
        if found != expected {
            wrong += &format!("\n{text}\n  expected {expected}\n  found    {found}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn nothing_of_a_known_instruction_is_left_over() {
    let mut wrong = String::new();
    for row in jarvis_testing::lines(include_str!("cases.tsv")) {
        let (text, _) = row.split_once('\t').unwrap();
        let found = read(text);
        let is_refused = matches!(found.unclear, Some(Unclear::Frame | Unclear::Area));
        if !found.ops.is_empty() && (!found.rest.is_empty() || is_refused) {
            wrong += &format!("\n{text}\n  left: {:?}", found.rest);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_an_edit_does_not_read_is_said() {
    let check = |text: &str, ops: &str, rest: &[&str]| {
        let found = read(text);
        assert_eq!(
            (format!("{:?}", found.ops).as_str(), found.rest),
            (ops, rest.iter().map(ToString::to_string).collect()),
            "{text}"
        );
    };
    check("flip it horizontally, twice", "[FlipHorizontal]", &["twice"]);
    check("rotate it by 90 degrees twice", "[Rotate(90.0)]", &["rotate it by 90 degrees twice"]);
    check("black and white except the roof", "[Grayscale]", &["grayscale except the roof"]);
    check("grey without touching the roof", "[Grayscale]", &["grey without touching the roof"]);
    check("blur it, half transparent", "[Blur(4.0)]", &["half transparent"]);
    check("make it exactly 50 KB", "[]", &["make it exactly 50 kb"]);
    check("blur b.jpg but not the bird", "[Blur(4.0)]", &["not the bird"]);
    check("make it square, 640 px", "[Crop(Square(Place(0, 0))), Resize(Exact(640, 640))]", &[]);
    check("make it square, then 30 px of border", "[Crop(Square(Place(0, 0))), Border(Pixels(30), [0, 0, 0])]", &[]);
    check("turn it upside down", "[Rotate(180.0)]", &[]);
    check("переверни вверх ногами", "[Rotate(180.0)]", &[]);
    check("mirror it upside down", "[FlipVertical]", &[]);
    check("save it as out.jpg with 300 dpi", "[]", &["save it as .jpg with 300 dpi"]);
    check("convert to jpg at quality 55", "[]", &[]);
    assert_eq!(read("convert to jpg at quality 55").quality, Some(55));
    assert_eq!(read("качество 70, jpg").quality, Some(70));
    for (text, keeps) in [
        ("remove the gps but keep the date", true),
        ("удали метаданные, оставь дату съемки", true),
        ("删除位置信息，保留日期", true),
        ("remove all metadata", false),
        ("удали exif", false),
    ] {
        assert_eq!(keeps_metadata(text), keeps, "{text}");
    }
    let stands = |text: &str| layout(text, 2);
    assert_eq!(stands("side by side with the title \"Cats\" above"), Layout::Row);
    assert_eq!(stands("put one above the other"), Layout::Column);
    assert_eq!(stands("put b.jpg above c.jpg"), Layout::Column);
    let label = read("write \"Hi\" in 40 pt Arial");
    assert_eq!((label.ops.len(), label.rest), (1, vec!["write \"Hi\" in 40 pt arial".to_owned()]));
    assert_eq!(read("rotate it a little").unclear, Some(Unclear::Turn));
}

#[test]
fn what_is_not_asked_for_is_told_apart() {
    let mixed = read("grey and add a hat");
    assert_eq!((mixed.ops, mixed.rest), (vec![Grayscale], vec!["add a hat".to_owned()]));
    for text in ["grey, not segment", "don't blur, grey", "не размывай, сделай серой", "不要模糊,变成黑白"]
    {
        assert_eq!(read(text).rest, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn purposes_and_originals_ask_for_nothing() {
    for text in [
        "blur it, but leave the original file as it is",
        "blur it and don't touch the original",
        "blur it but keep the original",
        "blur it before i put it online",
        "blur it so that i can post it",
        "blur it for my website",
        "blur it, nothing else",
        "it is too big for the form, blur it",
        "размой, но не трогай оригинал",
        "模糊处理，原图不变",
    ] {
        let found = read(text);
        assert_eq!((found.ops, found.rest), (vec![Op::Blur(4.0)], Vec::new()), "{text}");
    }
    // A purpose may say what is to be done, and a size is no file.
    assert_eq!(read("make it smaller so that i have half of it").ops, [Op::Resize(Size::Factor(0.5))]);
    assert!(read("blur it, keep the original size").keeps_size);
    assert_eq!(read("sepia for the roof").rest, ["sepia for the roof"]);
}

#[test]
fn parts_and_frames_are_told_from_the_whole() {
    let check = |text: &str, unclear: Option<Unclear>| assert_eq!(read(text).unclear, unclear, "{text}");
    check("blur the area from 5,5 to 20,20", None);
    check("rotate the area from 5,5 to 20,20 by 90 degrees", Some(Unclear::Area));
    check("add a border from 5,5 to 20,20", Some(Unclear::Area));
    check("split it into frames", Some(Unclear::Frame));
    check("extract all frames", Some(Unclear::Frame));
    check("make every frame gray", Some(Unclear::Frame));
    for border in
        ["add a thin red frame", "add a red frame of 5px", "give each picture a red frame", "кадрируй по центру"]
    {
        check(border, None);
        assert_eq!(read(border).frame, None, "{border}");
    }
    assert_eq!(read("crop it to a square with a white border").ops, [Op::Crop(Crop::Square(Place(0, 0)))]);
    assert_eq!(hindrance("save it as jpg at 80, 300 px wide", ""), None);
    let frame = |text: &str| read(text).frame;
    assert_eq!(frame("take the 5th frame out as a png"), Some(Frame::Nth(5)));
    assert_eq!(frame("extract frame 12"), Some(Frame::Nth(12)));
    assert_eq!(frame("save the last frame as jpg"), Some(Frame::Last));
    assert_eq!(frame("the third frame, in gray"), Some(Frame::Nth(3)));
    assert_eq!(frame("сохрани 7-й кадр как png"), Some(Frame::Nth(7)));
    assert_eq!(frame("把第三帧保存为png"), Some(Frame::Nth(3)));
    assert_eq!(frame("a frame 5 px wide"), None);
    let refused = |text: &str| hindrance(text, text).is_some();
    assert!(refused("blur the area at 20,30") && refused("blur the region around the house"));
    assert!(!refused("blur the area from 5,5 to 20,20"));
    assert!(is_not_about_edges("with a 10px white gap between them") && is_not_about_edges("trim the empty edges"));
    assert!(!is_not_about_edges("find the edges") && !is_not_about_edges("canny for a.jpg"));
}

#[test]
fn a_collage_says_its_gaps() {
    let said = |text: &str| gap(text).map(|(gap, _)| (gap.pixels, gap.colour));
    assert_eq!(said("with white gaps of 10 px between them"), Some((10, [255; 3])));
    assert_eq!(said("side by side with a 20px black gap"), Some((20, [0; 3])));
    assert_eq!(said("side by side, no gaps"), Some((0, [255; 3])));
    assert_eq!(said("рядом, с зазором 8 пикс"), Some((8, [255; 3])));
    assert_eq!(said("side by side"), None);
    assert_eq!(said("with a huge gap"), None);
    assert_eq!(grid("a 3x2 collage").map(|(grid, _)| grid), Some((3, 2)));
    assert!(grid("a collage, 800x600").is_none() && Gap::default().pixels > 0);
}

#[test]
fn a_smaller_file_is_no_smaller_picture() {
    for text in
        ["even smaller, 40 KB", "make it smaller, under 40 KB", "it is too big for the form, it must be under 40 KB"]
    {
        let found = read(text);
        assert_eq!((found.ops, found.most_bytes, found.rest), (Vec::new(), Some(40_000), Vec::new()), "{text}");
    }
    assert_eq!(read("half the size, under 40 KB").ops, [Op::Resize(Size::Factor(0.5))]);
}

#[test]
fn courtesies_ask_for_nothing() {
    let cases = [
        "please make it grey, if it isn't too much trouble",
        "please, if it's not too much trouble, make it grey",
        "could you make it grey? thank you very much!",
        "Hello! Make it grey. Thanks in advance.",
        "прошу вас, будьте добры, сделайте серой",
        "здравствуйте, сделайте картинку серой, если не трудно, спасибо",
        "не могли бы вы сделать её серой? заранее благодарю",
        "您好,请把它变成黑白,非常感谢",
        "麻烦您变成黑白,谢谢",
        "take this photo and make it grey",
    ];
    for text in cases {
        let found = read(text);
        assert_eq!((found.ops, found.rest), (vec![Grayscale], Vec::new()), "{text}");
    }
}

#[test]
fn formats_are_read() {
    let cases = [
        ("convert to png", Some(ImageFormat::Png)),
        ("save photo.jpg as webp", Some(ImageFormat::WebP)),
        ("convert to a .jpg", Some(ImageFormat::Jpeg)),
        ("convert it to .jpeg", Some(ImageFormat::Jpeg)),
        ("save in PNG format", Some(ImageFormat::Png)),
        ("сохрани как png", Some(ImageFormat::Png)),
        ("переведи в формат webp", Some(ImageFormat::WebP)),
        ("转成png", Some(ImageFormat::Png)),
        ("保存为 jpg 格式", Some(ImageFormat::Jpeg)),
        ("make the png grey", None),
        ("don't convert to png", None),
    ];
    for (text, format) in cases {
        let found = read(text);
        assert_eq!((found.format, found.rest), (format, Vec::new()), "{text}");
    }
    let both = read("make it grey and save as webp");
    assert_eq!((both.ops, both.format), (vec![Grayscale], Some(ImageFormat::WebP)));
}

#[test]
fn what_is_unclear_is_told() {
    let cases = [
        ("crop", Some(Unclear::Crop)),
        ("crop photo", Some(Unclear::Crop)),
        ("обрежь фото", Some(Unclear::Crop)),
        ("resize to 0x0", Some(Unclear::Nothing)),
        ("resize to 0x100", Some(Unclear::Nothing)),
        ("resize to 0%", Some(Unclear::Nothing)),
        ("crop 0x0", Some(Unclear::Nothing)),
        ("add a hat", None),
        ("add a watermark", Some(Unclear::Label)),
        ("добавь надпись", Some(Unclear::Label)),
        ("加水印", Some(Unclear::Label)),
        ("resize to 100x200", None),
    ];
    for (text, unclear) in cases {
        assert_eq!(read(text).unclear, unclear, "{text}");
    }
}

#[test]
fn sizes_and_names_of_files_are_read() {
    let cases = [
        ("compress to under 50 KB", Some(50_000), true),
        ("make it smaller than 50KB", Some(50_000), false),
        ("it must be at most 1.5 MB", Some(1_500_000), false),
        ("file size ≤ 200 kb", Some(200_000), false),
        ("сожми до 50 КБ", Some(50_000), true),
        ("чтобы было не больше 1,5 мегабайта", Some(1_500_000), false),
        ("压缩到50KB以下", Some(50_000), true),
        ("compress it", None, true),
        ("make it 50% smaller", None, false),
    ];
    for (text, bytes, compress) in cases {
        let found = read(text);
        assert_eq!((found.most_bytes, found.compress), (bytes, compress), "{text}");
        assert_eq!(found.rest, Vec::<String>::new(), "{text}");
    }
    for (text, name, format) in [
        ("save it as holiday.png", Some("holiday.png"), Some(ImageFormat::Png)),
        ("make it grey and save it as my-cat.webp", Some("my-cat.webp"), Some(ImageFormat::WebP)),
        ("сохрани как кот.jpg", Some("кот.jpg"), Some(ImageFormat::Jpeg)),
        ("保存为 猫.png", Some("猫.png"), Some(ImageFormat::Png)),
        ("save as png", None, Some(ImageFormat::Png)),
        ("make holiday.png grey", None, None),
    ] {
        let found = read(text);
        assert_eq!((found.name.as_deref(), found.format), (name, format), "{text}");
    }
}

#[test]
fn what_the_whole_picture_is_not_is_refused() {
    for order in [
        "turn all of them black and white except the first",
        "blur everything except the house",
        "if it is wider than 1200 px, resize it to 1200 px",
        "resize it to 1200 px, otherwise leave it alone",
        "если она шире 1200, уменьши её",
        "如果太大就缩小",
        "make the left half black and white",
        "add a red border on the left side only",
        "сделай левую половину серой",
        "把左半边变成黑白",
        "colourise this old black and white photo",
        "upscale 4x with ai",
        "put the text \"Home\" in the centre, white, rotated 45 degrees",
    ] {
        assert!(hindrance(order, order).is_some(), "{order}");
    }
    for order in [
        "crop the left half",
        "rotate it to the left side",
        "write \"Hi\" in the top left corner",
        "make it grey if you can",
        "add a red border",
        "put \"except\" at the top",
        "обрежь левую половину",
        "flip it left to right",
    ] {
        assert_eq!(hindrance(order, order), None, "{order}");
    }
}

#[test]
fn one_wish_in_two_clauses_is_one_edit() {
    let check = |text: &str, ops: &str| {
        let found = read(text);
        assert_eq!((format!("{:?}", found.ops).as_str(), found.rest), (ops, Vec::new()), "{text}");
    };
    check("now smaller, half of that", "[Resize(Factor(0.5))]");
    check("sharpen it, but only slightly", "[SharpenSlightly]");
    check("make it brighter, just a little", "[Brightness(10.0)]");
    check("resize both to exactly 300x200, ignore the aspect ratio", "[Resize(Exact(300, 200))]");
    check("把图片缩小到原来的30%", "[Resize(Factor(0.3))]");
    check("put it on a white background", "[Ground([255, 255, 255])]");
    check("make the other one brighter", "[Brightness(25.0)]");
    check("on a scale of 1 to 10", "[]");
    let named = read("convert to jpg and call it brand.jpg");
    assert_eq!((named.name.as_deref(), named.rest), (Some("brand.jpg"), Vec::new()));
    let inside = read("make it grey and save it as out/bright.png");
    assert_eq!((inside.name.as_deref(), inside.rest), (Some("bright.png"), vec!["in the folder out".to_owned()]));
    assert!(read("compress it to less than 80 KB, same dimensions").keeps_size);
}
