//! The embedded font, WenQuanYi Micro Hei, and what it can write.

use std::io::Read;
use std::sync::LazyLock;

use ab_glyph::{Font, FontRef};
use jarvis_net::text::is_hidden;

/// The font's file, a TrueType collection; its first face is used. Compressed, it takes less than half of its 5 MB; it is unpacked
/// when something is first drawn, in 20 ms.
static PACKED: &[u8] = include_bytes!("../assets/fonts/wqy-microhei.ttc.gz");
static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut file = Vec::new();
    // A broken file is found by the font's own reader.
    let _ = flate2::read::GzDecoder::new(PACKED).read_to_end(&mut file);
    file
});
static FONT: LazyLock<Option<FontRef<'static>>> = LazyLock::new(|| FontRef::try_from_slice_and_index(&FILE, 0).ok());

/// The embedded font: Latin, Greek, Cyrillic, Han, kana, Hangul. `None` only if the embedded file were broken.
pub fn font() -> Option<&'static FontRef<'static>> {
    FONT.as_ref()
}

/// Whether a character can be drawn as it should be written: it is visible, the embedded font has it, and its script is
/// written from left to right without joining letters. Arabic, Hebrew and the scripts of India and Southeast Asia are not.
pub fn has_glyph(ch: char) -> bool {
    let unseen = is_hidden(ch) || matches!(ch, '\u{2028}' | '\u{2029}');
    let joined = matches!(ch, '\u{0590}'..='\u{109f}' | '\u{1780}'..='\u{1aff}' | '\u{fb1d}'..='\u{feff}');
    ch.is_whitespace()
        || (!joined && !unseen && !ch.is_control() && font().is_some_and(|font| font.glyph_id(ch).0 != 0))
}
