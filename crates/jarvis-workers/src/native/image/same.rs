//! Whether two pictures are the same, pixel by pixel.

use image::DynamicImage;
use jarvis_plan::Language;

/// A yes or no with what was found.
pub(super) fn tell(
    (name, one): (&str, &DynamicImage),
    (other_name, other): (&str, &DynamicImage),
    lang: Language,
) -> String {
    let (size, other_size) = ((one.width(), one.height()), (other.width(), other.height()));
    let (yes, no) = (lang.pick("yes", "да", "是"), lang.pick("no", "нет", "否"));
    if size != other_size {
        let (width, height) = size;
        let (other_width, other_height) = other_size;
        return format!("{no}: {name}: {width} x {height}; {other_name}: {other_width} x {other_height}");
    }
    let (one, other) = (one.to_rgba8(), other.to_rgba8());
    let (mut differing, mut most) = (0_u64, 0);
    for (pixel, twin) in one.pixels().zip(other.pixels()) {
        // What cannot be seen has no colour.
        let hidden = pixel.0[3] == 0 && twin.0[3] == 0;
        let off = pixel.0.iter().zip(twin.0).map(|(level, other)| level.abs_diff(other)).max().unwrap_or(0);
        differing += u64::from(off > 0 && !hidden);
        most = if hidden { most } else { off.max(most) };
    }
    if differing == 0 {
        let all = lang.pick("all pixels are the same", "все пиксели совпадают", "每个像素都相同");
        return format!("{yes}: {name}, {other_name}: {all}");
    }
    let all = u64::from(one.width()) * u64::from(one.height());
    let percent = 100.0 * differing as f64 / all as f64;
    lang.pick(
        format!("{no}: {differing} of {all} pixels differ ({percent:.2}%), by up to {most} of 255 levels"),
        format!("{no}: отличаются {differing} из {all} пикселей ({percent:.2}%), самое большее на {most} из 255"),
        format!("{no}：{all} 个像素中有 {differing} 个不同（{percent:.2}%），最大相差 {most}/255"),
    )
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    #[test]
    fn pixels_are_compared() {
        let plain = |width| RgbImage::from_pixel(width, 5, Rgb([9; 3]));
        let mut changed = plain(10);
        changed.put_pixel(3, 3, Rgb([9, 19, 9]));
        let told = |other: RgbImage| tell(("a.png", &plain(10).into()), ("b.png", &other.into()), Language::English);
        assert_eq!(told(plain(10)), "yes: a.png, b.png: all pixels are the same");
        assert_eq!(told(plain(8)), "no: a.png: 10 x 5; b.png: 8 x 5");
        assert_eq!(told(changed), "no: 1 of 50 pixels differ (2.00%), by up to 10 of 255 levels");
    }
}
