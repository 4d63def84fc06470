//! What people say, and what it means.

use super::Op::*;
use super::*;

fn check(cases: &[(&str, &[Op])]) {
    let mut wrong = String::new();
    for (text, expected) in cases {
        let found = read(text).ops;
        if found != *expected {
            wrong += &format!("\n{text}\n  expected {expected:?}\n  found    {found:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

const MIDDLE: Place = Place(0, 0);

#[test]
fn patterns_compile() {
    compile_all();
}

#[test]
fn sizes() {
    let half = &[Resize(Size::Factor(0.5))];
    let double = &[Resize(Size::Factor(2.0))];
    let exact = &[Resize(Size::Exact(640, 480))];
    let wide = &[Resize(Size::Width(640))];
    check(&[
        ("resize to half", half),
        ("make it half the size", half),
        ("half size", half),
        ("scale the image /images/a.png to 50%", half),
        ("reduce the size by half", half),
        ("make it 50% smaller", half),
        ("make the picture two times smaller", half),
        ("shrink it", half),
        ("уменьши в два раза", half),
        ("уменьши картинку вдвое", half),
        ("уменьши в 2 раза", half),
        ("сделай изображение вдвое меньше", half),
        ("缩小一半", half),
        ("把图片缩小到50%", half),
        ("缩小2倍", half),
        ("double the size", double),
        ("make it twice as big", double),
        ("upscale 2x", double),
        ("enlarge to 200%", double),
        ("увеличь вдвое", double),
        ("увеличь в два раза", double),
        ("放大两倍", double),
        ("放大到200%", double),
        ("resize to 640x480", exact),
        ("resize to 640 x 480 pixels", exact),
        ("resize to 640 by 480 pixels", exact),
        ("измени размер на 640×480", exact),
        ("调整为640×480", exact),
        ("把大小改成 640*480", exact),
        ("resize to 640 wide", wide),
        ("make it 640 px wide", wide),
        ("scale to a width of 640", wide),
        ("измени размер до 640 пикселей в ширину", wide),
        ("сделай ширину 640", wide),
        ("宽度改为640", wide),
        ("resize to a height of 300 px", &[Resize(Size::Height(300))]),
        ("высотой 300", &[Resize(Size::Height(300))]),
        ("resize to 512", &[Resize(Size::Longest(512))]),
        ("make a thumbnail", &[Resize(Size::Longest(256))]),
        ("reduce by 30%", &[Resize(Size::Factor(0.7))]),
        ("reduce to 30%", &[Resize(Size::Factor(0.3))]),
        ("уменьши на 30%", &[Resize(Size::Factor(0.7))]),
        ("уменьши до 30%", &[Resize(Size::Factor(0.3))]),
        ("увеличь на 20%", &[Resize(Size::Factor(1.2))]),
        ("enlarge by 20%", &[Resize(Size::Factor(1.2))]),
        ("缩小30%", &[Resize(Size::Factor(0.7))]),
    ]);
}

#[test]
fn crops() {
    let left_half = &[Crop(super::Crop::Share(0.5, 1.0, Place(-1, 0)))];
    let square = &[Crop(super::Crop::Square(MIDDLE))];
    let centre = &[Crop(super::Crop::Share(0.5, 0.5, MIDDLE))];
    check(&[
        ("crop the centre", centre),
        ("crop to the center of the image", centre),
        ("вырежи центр", centre),
        ("裁剪中间部分", centre),
        ("crop to a square", square),
        ("crop the center square", square),
        ("обрежь до квадрата", square),
        ("裁剪成正方形", square),
        ("crop the left half", left_half),
        ("обрежь левую половину", left_half),
        ("裁剪左半部分", left_half),
        ("crop the top right corner", &[Crop(super::Crop::Share(0.5, 0.5, Place(1, -1)))]),
        ("crop the bottom third", &[Crop(super::Crop::Share(1.0, 1.0 / 3.0, Place(0, 1)))]),
        ("crop 200x100", &[Crop(super::Crop::Exact(200, 100, MIDDLE))]),
        ("crop to 200 by 100 pixels", &[Crop(super::Crop::Exact(200, 100, MIDDLE))]),
        ("crop a 200x100 piece from the top left", &[Crop(super::Crop::Exact(200, 100, Place(-1, -1)))]),
        ("обрежь до 200 на 100", &[Crop(super::Crop::Exact(200, 100, MIDDLE))]),
        ("crop to 16:9", &[Crop(super::Crop::Ratio(16, 9, MIDDLE))]),
        ("crop 10% from each side", &[Crop(super::Crop::Margins(0.1))]),
        ("crop 20 pixels off the top", &[Crop(super::Crop::Trim(20, Place(0, -1)))]),
    ]);
}

#[test]
fn turns_and_mirrors() {
    check(&[
        ("rotate 90 degrees", &[Rotate(90.0)]),
        ("rotate by 90° clockwise", &[Rotate(90.0)]),
        ("rotate it left", &[Rotate(-90.0)]),
        ("rotate 45 degrees counterclockwise", &[Rotate(-45.0)]),
        ("rotate the image by -30 degrees", &[Rotate(-30.0)]),
        ("turn it upside down", &[FlipVertical]),
        ("turn the picture around 180 degrees", &[Rotate(180.0)]),
        ("поверни на 90 градусов", &[Rotate(90.0)]),
        ("поверни на 90 градусов против часовой стрелки", &[Rotate(-90.0)]),
        ("поверни налево", &[Rotate(-90.0)]),
        ("旋转90度", &[Rotate(90.0)]),
        ("逆时针旋转45度", &[Rotate(-45.0)]),
        ("向左旋转", &[Rotate(-90.0)]),
        ("flip it", &[FlipHorizontal]),
        ("mirror the image", &[FlipHorizontal]),
        ("flip vertically", &[FlipVertical]),
        ("flip horizontally and vertically", &[FlipHorizontal, FlipVertical]),
        ("отрази по горизонтали", &[FlipHorizontal]),
        ("отрази по вертикали", &[FlipVertical]),
        ("сделай зеркальное отражение", &[FlipHorizontal]),
        ("水平翻转", &[FlipHorizontal]),
        ("上下翻转", &[FlipVertical]),
        ("переверни картинку", &[Rotate(180.0)]),
    ]);
}

#[test]
fn tones() {
    check(&[
        ("make it grayscale", &[Grayscale]),
        ("turn into black and white", &[Grayscale]),
        ("convert to grey", &[Grayscale]),
        ("сделай чёрно-белой", &[Grayscale]),
        ("сделай картинку серой", &[Grayscale]),
        ("变成黑白", &[Grayscale]),
        ("转换为灰度图", &[Grayscale]),
        ("blur it", &[Blur(4.0)]),
        ("blur slightly", &[Blur(1.5)]),
        ("blur with a radius of 8 px", &[Blur(8.0)]),
        ("сильно размой", &[Blur(10.0)]),
        ("размыть изображение", &[Blur(4.0)]),
        ("模糊一点", &[Blur(1.5)]),
        ("sharpen the photo", &[Sharpen]),
        ("сделай резче", &[Sharpen]),
        ("锐化", &[Sharpen]),
        ("remove the blur", &[Sharpen]),
        ("invert colors", &[Invert]),
        ("сделай негатив", &[Invert]),
        ("инвертируй цвета", &[Invert]),
        ("反色", &[Invert]),
        ("make it brighter", &[Brightness(25.0)]),
        ("increase the brightness by 40%", &[Brightness(40.0)]),
        ("reduce brightness", &[Brightness(-25.0)]),
        ("darken a bit", &[Brightness(-10.0)]),
        ("увеличь яркость на 30%", &[Brightness(30.0)]),
        ("сделай темнее", &[Brightness(-25.0)]),
        ("提高亮度", &[Brightness(25.0)]),
        ("调暗一点", &[Brightness(-10.0)]),
        ("more contrast", &[Contrast(25.0)]),
        ("lower the contrast", &[Contrast(-25.0)]),
        ("повысь контраст", &[Contrast(25.0)]),
        ("увеличь контраст и яркость", &[Contrast(25.0), Brightness(25.0)]),
        ("降低对比度", &[Contrast(-25.0)]),
        ("more vivid", &[Saturation(25.0)]),
        ("увеличь насыщенность", &[Saturation(25.0)]),
        ("提高饱和度", &[Saturation(25.0)]),
        ("show edges only", &[Edges]),
        ("выдели контуры", &[Edges]),
        ("提取边缘", &[Edges]),
        ("make a pencil sketch", &[Sketch]),
        ("素描效果", &[Sketch]),
        ("apply sepia", &[Sepia]),
        ("сделай сепию", &[Sepia]),
        ("复古风格", &[Sepia]),
        ("make it warmer", &[Warm]),
        ("сделай теплее", &[Warm]),
        ("暖色调", &[Warm]),
        ("pixelate", &[Pixelate]),
        ("打马赛克", &[Pixelate]),
    ]);
}

#[test]
fn several_in_the_order_said() {
    let half = Resize(Size::Factor(0.5));
    check(&[
        ("grey and half size", &[Grayscale, half]),
        ("make it black and white and half the size", &[Grayscale, half]),
        ("half the size, then grey", &[half, Grayscale]),
        ("rotate 90 and resize 50%, then blur", &[Rotate(90.0), half, Blur(4.0)]),
        ("grayscale half size", &[Grayscale, half]),
        ("уменьши вдвое и сделай чёрно-белой", &[half, Grayscale]),
        ("поверни на 90 градусов, затем отрази по вертикали", &[Rotate(90.0), FlipVertical]),
        ("转为灰度并缩小一半", &[Grayscale, half]),
        ("先旋转90度,然后裁剪成正方形", &[Rotate(90.0), Crop(super::Crop::Square(MIDDLE))]),
        ("crop to square and resize to 100x100", &[Crop(super::Crop::Square(MIDDLE)), Resize(Size::Exact(100, 100))]),
        ("rotate the black and white photo by 90 degrees", &[Rotate(90.0)]),
        ("Please turn /images/left.png into grayscale.", &[Grayscale]),
    ]);
}

#[test]
fn what_no_editing_of_the_whole_can_do() {
    check(&[
        ("add a hat to the dog", &[]),
        ("remove the person on the left", &[]),
        ("blur the background", &[]),
        ("размой фон", &[]),
        ("模糊背景", &[]),
        ("make the sky darker", &[]),
        ("turn the cat into a tiger", &[]),
        ("make the car red", &[]),
        ("", &[]),
    ]);
    let mixed = read("grey and add a hat");
    assert_eq!((mixed.ops, mixed.rest), (vec![Grayscale], vec!["add a hat".to_owned()]));
}

#[test]
fn amounts_as_people_say_them() {
    let third = &[Resize(Size::Factor(1.0 / 3.0))];
    let half = &[Resize(Size::Factor(0.5))];
    let double = &[Resize(Size::Factor(2.0))];
    check(&[
        ("resize to 50%", half),
        ("resize photo.jpg to 50 percent", half),
        ("resize to 50 per cent", half),
        ("twice as big", double),
        ("twice as wide", double),
        ("half as wide", half),
        ("half as big", half),
        ("a third of the size", third),
        ("make it a third of its size", third),
        ("a quarter of the size", &[Resize(Size::Factor(0.25))]),
        ("brighter by 50%", &[Brightness(50.0)]),
        ("brighter by 50", &[Brightness(50.0)]),
        ("ярче на 50", &[Brightness(50.0)]),
        ("make it not too dark", &[]),
    ]);
}

#[test]
fn what_must_not_be_done_is_not_done() {
    check(&[
        ("don't blur, just make it grey", &[Grayscale]),
        ("don’t blur it but sharpen it", &[Sharpen]),
        ("make it grey without blurring", &[Grayscale]),
        ("sharpen instead of blur", &[Sharpen]),
        ("не размывай, а сделай серой", &[Grayscale]),
        ("не размывай", &[]),
        ("не могли бы вы размыть", &[Blur(4.0)]),
        ("не только размой, но и отрази", &[Blur(4.0), FlipHorizontal]),
        ("不要模糊", &[]),
        ("不要模糊,变成黑白", &[Grayscale]),
        ("why not make it grey", &[Grayscale]),
    ]);
    for text in ["grey, not segment", "don't blur, grey", "не размывай, сделай серой", "不要模糊,变成黑白"]
    {
        assert_eq!(read(text).rest, Vec::<String>::new(), "{text}");
    }
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
        ("resize to 100x200", None),
    ];
    for (text, unclear) in cases {
        assert_eq!(read(text).unclear, unclear, "{text}");
    }
}
