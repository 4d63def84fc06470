//! Pictures for the two networks: resized, cut out along a line, normalised to −1 … 1 in the order blue, green, red.

use super::geometry::Line;
use crate::Picture;

/// A picture of 8-bit channels in any order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pixels {
    pub(super) width: usize,
    pub(super) height: usize,
    /// Three bytes a pixel.
    pub(super) bytes: Vec<u8>,
}

/// The colour of a pixel; outside the picture that of the nearest one.
fn pixel(bytes: &[u8], width: usize, height: usize, x: isize, y: isize) -> [f32; 3] {
    let x = x.clamp(0, width.max(1) as isize - 1) as usize;
    let y = y.clamp(0, height.max(1) as isize - 1) as usize;
    let at = (y * width + x) * 3;
    bytes.get(at..at + 3).map_or([0.0; 3], |pixel| [0, 1, 2].map(|nth| f32::from(pixel.get(nth).copied().unwrap_or(0))))
}

fn add(total: &mut [f32; 3], colour: [f32; 3], weight: f32) {
    total.iter_mut().zip(colour).for_each(|(total, value)| *total += value * weight);
}

/// Weights of the four neighbours in cubic interpolation (a = −0.75, as OpenCV has it).
fn cubic(at: f32) -> [f32; 4] {
    const A: f32 = -0.75;
    let far = |t: f32| ((A * t - 5.0 * A) * t + 8.0 * A) * t - 4.0 * A;
    let near = |t: f32| ((A + 2.0) * t - (A + 3.0)) * t * t + 1.0;
    [far(at + 1.0), near(at), near(1.0 - at), far(2.0 - at)]
}

impl Pixels {
    fn fill(width: usize, height: usize, colour: impl Fn(usize, usize) -> [f32; 3]) -> Pixels {
        let mut bytes = Vec::with_capacity(width * height * 3);
        for y in 0..height {
            for x in 0..width {
                bytes.extend(colour(x, y).map(|value| value.round().clamp(0.0, 255.0) as u8));
            }
        }
        Pixels { width, height, bytes }
    }

    /// Bilinear, without smoothing before shrinking: what the networks were trained with.
    pub(super) fn resized(bytes: &[u8], from: (usize, usize), to: (usize, usize)) -> Pixels {
        let (width, height) = from;
        let scale = (width as f32 / to.0.max(1) as f32, height as f32 / to.1.max(1) as f32);
        Pixels::fill(to.0, to.1, |x, y| {
            let (x, y) = ((x as f32 + 0.5) * scale.0 - 0.5, (y as f32 + 0.5) * scale.1 - 0.5);
            let (left, top) = (x.floor(), y.floor());
            let (right, down) = (x - left, y - top);
            let mut total = [0.0; 3];
            for (dy, weight_y) in [(0, 1.0 - down), (1, down)] {
                for (dx, weight_x) in [(0, 1.0 - right), (1, right)] {
                    let colour = pixel(bytes, width, height, left as isize + dx, top as isize + dy);
                    add(&mut total, colour, weight_x * weight_y);
                }
            }
            total
        })
    }

    /// A line turned level; a line that is much higher than wide is turned by a quarter as well.
    pub(super) fn cut(picture: &Picture, line: &Line) -> Pixels {
        let [start, right, _, down] = line.corners;
        let (width, height) = line.size();
        let (width, height) = (width.max(1), height.max(1));
        let (from_width, from_height) = (picture.width as usize, picture.height as usize);
        let cut = Pixels::fill(width, height, |x, y| {
            let (u, v) = (x as f32 / width as f32, y as f32 / height as f32);
            let x = start.0 + (right.0 - start.0) * u + (down.0 - start.0) * v;
            let y = start.1 + (right.1 - start.1) * u + (down.1 - start.1) * v;
            let (left, top) = (x.floor(), y.floor());
            let mut total = [0.0; 3];
            for (dy, weight_y) in cubic(y - top).into_iter().enumerate() {
                for (dx, weight_x) in cubic(x - left).into_iter().enumerate() {
                    let (x, y) = (left as isize + dx as isize - 1, top as isize + dy as isize - 1);
                    add(&mut total, pixel(&picture.pixels, from_width, from_height, x, y), weight_x * weight_y);
                }
            }
            total
        });
        if height as f32 / width as f32 >= 1.5 { cut.turned() } else { cut }
    }

    /// Turned by a quarter against the clock.
    fn turned(&self) -> Pixels {
        Pixels::fill(self.height, self.width, |x, y| {
            pixel(&self.bytes, self.width, self.height, self.width as isize - 1 - y as isize, x as isize)
        })
    }

    /// Writes the picture at the top left of a tensor of planes (blue, green, red) of `width` columns.
    pub(super) fn write(&self, planes: &mut [f32], width: usize) {
        let plane = planes.len() / 3;
        for (nth, pixel) in self.bytes.chunks_exact(3).enumerate() {
            let at = nth / self.width.max(1) * width + nth % self.width.max(1);
            for (channel, value) in pixel.iter().rev().enumerate() {
                if let Some(place) = planes.get_mut(channel * plane + at) {
                    *place = f32::from(*value) / 127.5 - 1.0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture whose red is the column and whose green is the row.
    fn picture(width: u32, height: u32) -> Picture {
        let pixels = (0..height).flat_map(|y| (0..width).flat_map(move |x| [x as u8, y as u8, 7])).collect();
        Picture { width, height, pixels }
    }

    #[test]
    fn lines_are_cut_out_level() {
        let picture = picture(40, 30);
        let upright = Line { corners: [(3.0, 5.0), (9.0, 5.0), (9.0, 9.0), (3.0, 9.0)] };
        let cut = Pixels::cut(&picture, &upright);
        assert_eq!((cut.width, cut.height), (6, 4));
        assert_eq!(&cut.bytes[..6], [3, 5, 7, 4, 5, 7]);
        // Three times as high as wide: the right edge becomes the top.
        let high = Line { corners: [(3.0, 5.0), (6.0, 5.0), (6.0, 14.0), (3.0, 14.0)] };
        let cut = Pixels::cut(&picture, &high);
        assert_eq!((cut.width, cut.height), (9, 3));
        assert_eq!(&cut.bytes[..6], [5, 5, 7, 5, 6, 7]);
        // A line that leaves the picture repeats its edge.
        let beyond = Line { corners: [(36.0, 26.0), (46.0, 26.0), (46.0, 36.0), (36.0, 36.0)] };
        let cut = Pixels::cut(&picture, &beyond);
        assert_eq!(&cut.bytes[cut.bytes.len() - 3..], [39, 29, 7]);
    }

    #[test]
    fn resized_and_written_as_planes() {
        let picture = picture(4, 2);
        let same = Pixels::resized(&picture.pixels, (4, 2), (4, 2));
        assert_eq!(same.bytes, picture.pixels);
        let half = Pixels::resized(&picture.pixels, (4, 2), (2, 1));
        assert_eq!(half.bytes, [1, 1, 7, 3, 1, 7]);
        let mut planes = vec![0.5; 3 * 2 * 5];
        same.write(&mut planes, 5);
        assert_eq!(planes[0], 7.0 / 127.5 - 1.0);
        assert_eq!(planes[10 + 5], 1.0 / 127.5 - 1.0);
        assert_eq!(planes[20 + 3], 3.0 / 127.5 - 1.0);
        assert_eq!(planes[4], 0.5);
    }
}
