//! Measures of a picture: size, colours, light, sharpness. They recognise no objects, and the description says so.

use std::collections::{BTreeMap, HashMap};

use image::{DynamicImage, Rgb};
use imageproc::definitions::HasBlack;

use super::super::words::Colour;
use super::{edges, open};
use jarvis_plan::Language;

/// What a description begins with, in three languages.
const NOT_SEEN: [&str; 3] = [
    "What the picture shows is not recognised here; it was measured.",
    "Что изображено, здесь не распознаётся; картинка измерена.",
    "此处不识别画面内容,以下为测量结果。",
];

/// True for a description by measures, which is not what a picture shows.
pub(super) fn is_unseen(text: &str) -> bool {
    NOT_SEEN.iter().any(|before| text.contains(before))
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measures {
    /// Width and height in pixels, upright.
    pub(super) size: (u32, u32),
    /// Named colours and their shares of the picture, largest first, at least 5% each, or the one largest.
    pub(super) colours: Vec<(Colour, f64)>,
    /// All named colours that occur and their shares, largest first.
    pub(super) all: Vec<(Colour, f64)>,
    pub(super) mean: Rgb<u8>,
    /// The commonest colours, exactly, and their shares at 512 px a side, largest first.
    pub(super) exact: Vec<(Rgb<u8>, f64)>,
    /// Of the pixels at the upper left and right, and at the lower left and right.
    pub(super) corners: [Rgb<u8>; 4],
    /// Mean luminance, 0 black to 1 white.
    pub(super) brightness: f64,
    /// Standard deviation of luminance, 0 to 0.5.
    pub(super) contrast: f64,
    /// Variance of the Laplacian of grey levels 0 to 255 at 512 px a side: below about 60 looks blurred.
    pub(super) sharpness: f64,
    /// Share of edge points at 512 px a side.
    pub(super) edges: f64,
    /// Mean chroma of the pixels, 0 to 1: near 0 means shades of grey.
    pub(super) colourfulness: f64,
    /// Share of the picture that is see-through.
    pub(super) transparent: f64,
}

pub(super) fn measure(picture: &DynamicImage) -> Measures {
    let size = (picture.width(), picture.height());
    let detail = open::reduced(picture, 512);
    let exact = commonest(&detail);
    let small = open::reduced(&detail, 256);
    let transparent = if small.color().has_alpha() {
        let rgba = small.to_rgba8();
        rgba.pixels().filter(|pixel| pixel.0[3] < 128).count() as f64 / (rgba.width() * rgba.height()) as f64
    } else {
        0.0
    };
    let rgb = open::flatten(small);
    let count = f64::from(rgb.width() * rgb.height());
    let mut names: BTreeMap<&str, (Colour, f64)> = BTreeMap::new();
    let (mut sum, mut squares, mut chroma) = (0.0, 0.0, 0.0);
    let mut total = [0.0; 3];
    let mut last: Option<(Rgb<u8>, Colour)> = None;
    for pixel in rgb.pixels() {
        let colour = match last {
            Some((same, colour)) if same == *pixel => colour,
            _ => Colour::nearest(*pixel),
        };
        last = Some((*pixel, colour));
        names.entry(colour.name(Language::English)).or_insert((colour, 0.0)).1 += 1.0 / count;
        let [r, g, b] = pixel.0.map(|channel| f64::from(channel) / 255.0);
        total = [total[0] + r, total[1] + g, total[2] + b];
        let light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        sum += light;
        squares += light * light;
        chroma += r.max(g).max(b) - r.min(g).min(b);
    }
    let brightness = sum / count;
    let mut colours: Vec<(Colour, f64)> = names.into_values().collect();
    colours.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all = colours.clone();
    let mut kept = 0;
    colours.retain(|(_, share)| {
        kept += 1;
        kept == 1 || (*share >= 0.05 && kept <= 5)
    });
    let grey = detail.to_luma8();
    let lit = edges::canny(&detail).pixels().filter(|pixel| **pixel != image::Luma::black()).count();
    Measures {
        size,
        colours,
        all,
        exact,
        corners: corners(picture),
        mean: Rgb(total.map(|sum: f64| (sum / count * 255.0).round() as u8)),
        brightness,
        contrast: (squares / count - brightness * brightness).max(0.0).sqrt(),
        sharpness: laplacian_variance(&grey),
        edges: lit as f64 / f64::from(grey.width() * grey.height()),
        colourfulness: chroma / count,
        transparent,
    }
}

/// Fewer exact colours than these are listed.
const EXACT: usize = 4;

fn commonest(picture: &DynamicImage) -> Vec<(Rgb<u8>, f64)> {
    let rgb = open::flatten(picture.clone());
    let mut counts: HashMap<Rgb<u8>, u32> = HashMap::new();
    rgb.pixels().for_each(|pixel| *counts.entry(*pixel).or_default() += 1);
    let mut counts: Vec<(Rgb<u8>, u32)> = counts.into_iter().collect();
    counts.sort_by(|(one, count), (other, more)| more.cmp(count).then(one.0.cmp(&other.0)));
    let all = f64::from(rgb.width() * rgb.height()).max(1.0);
    counts.into_iter().take(EXACT).map(|(colour, count)| (colour, f64::from(count) / all)).collect()
}

fn corners(picture: &DynamicImage) -> [Rgb<u8>; 4] {
    let (right, bottom) = (picture.width().saturating_sub(1), picture.height().saturating_sub(1));
    [(0, 0), (right, 0), (0, bottom), (right, bottom)].map(|(x, y)| {
        let pixel = open::flatten(picture.crop_imm(x, y, 1, 1));
        pixel.pixels().next().copied().unwrap_or(Rgb([255; 3]))
    })
}

fn laplacian_variance(grey: &image::GrayImage) -> f64 {
    let (width, height) = grey.dimensions();
    if width < 3 || height < 3 {
        return 0.0;
    }
    let level = |x: u32, y: u32| f64::from(grey.get_pixel(x, y).0[0]);
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    for y in 1..height - 1 {
        for x in 1..width - 1 {
            let bend = level(x - 1, y) + level(x + 1, y) + level(x, y - 1) + level(x, y + 1) - 4.0 * level(x, y);
            sum += bend;
            squares += bend * bend;
            count += 1.0;
        }
    }
    let mean: f64 = sum / count;
    squares / count - mean * mean
}

impl Measures {
    pub(super) fn orientation(&self, lang: Language) -> &'static str {
        match self.size.0.cmp(&self.size.1) {
            std::cmp::Ordering::Greater => lang.pick("landscape", "горизонтальная", "横向"),
            std::cmp::Ordering::Less => lang.pick("portrait", "вертикальная", "纵向"),
            std::cmp::Ordering::Equal => lang.pick("square", "квадратная", "正方形"),
        }
    }

    /// Width to height in small whole numbers where they fit within 1%, otherwise as a decimal to one.
    pub(super) fn ratio(&self) -> String {
        let (width, height) = (f64::from(self.size.0), f64::from(self.size.1));
        let known = [(1, 1), (5, 4), (4, 3), (3, 2), (16, 10), (16, 9), (2, 1), (21, 9)];
        let turned = known.into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        let fits = |(a, b): &(u32, u32)| (width * f64::from(*b) / (height * f64::from(*a)) - 1.0).abs() < 0.01;
        match turned.into_iter().find(fits) {
            Some((a, b)) => format!("{a}:{b}"),
            None => format!("{:.2}:1", width / height),
        }
    }

    pub(super) fn light(&self, lang: Language) -> &'static str {
        match self.brightness {
            level if level < 0.2 => lang.pick("dark", "тёмная", "偏暗"),
            level if level < 0.4 => lang.pick("rather dark", "темноватая", "较暗"),
            level if level < 0.65 => lang.pick("of medium brightness", "средней яркости", "亮度适中"),
            level if level < 0.85 => lang.pick("bright", "светлая", "明亮"),
            _ => lang.pick("very bright", "очень светлая", "非常明亮"),
        }
    }

    fn contrast_word(&self, lang: Language) -> &'static str {
        match self.contrast {
            level if level < 0.08 => lang.pick("low contrast", "низкий контраст", "对比度低"),
            level if level < 0.25 => lang.pick("medium contrast", "средний контраст", "对比度中等"),
            _ => lang.pick("high contrast", "высокий контраст", "对比度高"),
        }
    }

    pub(super) fn focus(&self, lang: Language) -> &'static str {
        match self.sharpness {
            _ if self.contrast < 0.01 => lang.pick("without detail", "без деталей", "没有细节"),
            level if level < 60.0 => lang.pick("soft or blurred", "мягкая или размытая", "柔和或模糊"),
            level if level < 400.0 => lang.pick("moderately sharp", "умеренно резкая", "清晰度中等"),
            _ => lang.pick("sharp", "резкая", "清晰"),
        }
    }

    fn detail(&self, lang: Language) -> &'static str {
        match self.edges {
            share if share < 0.01 => lang.pick("almost no edges", "почти нет контуров", "几乎没有边缘"),
            share if share < 0.06 => lang.pick("few edges", "мало контуров", "边缘较少"),
            share if share < 0.14 => lang.pick("many edges", "много контуров", "边缘较多"),
            _ => lang.pick("very many edges", "очень много контуров", "边缘非常多"),
        }
    }

    pub(super) fn is_grey(&self) -> bool {
        self.colourfulness < 0.02 && self.colours.iter().all(|(colour, _)| colour.is_neutral())
    }

    pub(super) fn colour_list(&self, lang: Language) -> String {
        in_words(&self.colours, lang)
    }

    /// The commonest colours in words, so many of them if there are as many.
    pub(super) fn commonest(&self, count: usize, lang: Language) -> String {
        in_words(self.all.get(..count).unwrap_or(&self.all), lang)
    }

    /// The exact colours that cover a picture of few, else the mean colour.
    pub(super) fn hex(&self, lang: Language) -> String {
        let plain = self.exact.iter().filter(|(_, share)| *share >= 0.05);
        let plain: Vec<String> =
            plain.map(|(colour, share)| format!("{} ({:.0}%)", hex(*colour), share * 100.0)).collect();
        match plain.as_slice() {
            [] => self.mean_hex(lang),
            plain => plain.join(lang.pick(", ", ", ", "、")),
        }
    }

    pub(super) fn mean_hex(&self, lang: Language) -> String {
        format!("{} {}", hex(self.mean), lang.pick("on average", "в среднем", "（平均）"))
    }

    /// A description in one language: what was measured, and that objects were not looked for.
    pub(super) fn describe(&self, lang: Language) -> String {
        let (width, height) = self.size;
        let (shape, ratio, light) = (self.orientation(lang), self.ratio(), self.light(lang));
        let (contrast, focus, detail) = (self.contrast_word(lang), self.focus(lang), self.detail(lang));
        let colours = self.colour_list(lang);
        let kind = if self.is_grey() {
            lang.pick("shades of grey", "оттенки серого", "灰度")
        } else {
            lang.pick("colour", "цветная", "彩色")
        };
        let mut text = match lang {
            Language::English => format!(
                "A {shape} picture of {width} x {height} pixels ({ratio}), {kind}. Main colours: {colours}. \
                 It is {light}, with {contrast}, {focus}, {detail}."
            ),
            Language::Russian => format!(
                "Картинка {shape}, {width} x {height} пикселей ({ratio}), {kind}. Основные цвета: {colours}. \
                 Она {light}, {contrast}, {focus}, {detail}."
            ),
            Language::Chinese => format!(
                "一张{shape}图片,{width} x {height} 像素({ratio}),{kind}。主要颜色:{colours}。\
                 画面{light},{contrast},{focus},{detail}。"
            ),
        };
        if self.transparent >= 0.01 {
            let percent = (self.transparent * 100.0).round();
            text.push_str(&match lang {
                Language::English => format!(" {percent}% of it is transparent."),
                Language::Russian => format!(" Прозрачная часть: {percent}%."),
                Language::Chinese => format!("透明部分占 {percent}%。"),
            });
        }
        let [english, russian, chinese] = NOT_SEEN;
        format!("{}{text}", lang.pick(format!("{english} "), format!("{russian} "), chinese.to_owned()))
    }
}

/// A colour as `#rrggbb`.
pub(super) fn hex(Rgb([r, g, b]): Rgb<u8>) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn in_words(colours: &[(Colour, f64)], lang: Language) -> String {
    let named = |(colour, share): &(Colour, f64)| {
        let percent = (share * 100.0).round().max(1.0);
        lang.pick(
            format!("{} ({percent}%)", colour.name(lang)),
            format!("{} ({percent}%)", colour.name(lang)),
            format!("{}({percent}%)", colour.name(lang)),
        )
    };
    colours.iter().map(named).collect::<Vec<_>>().join(lang.pick(", ", ", ", "、"))
}
