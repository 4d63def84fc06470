//! Whether bytes are Chinese text in GB18030, by how often its usual characters occur.

/// Whether bytes are of that encoding and mostly ASCII and usual characters: those of GB 2312's first level, which nearly
/// all of a text is made of, and its punctuation. Other encodings fall into pairs of rare ones.
pub(super) fn is_plausible(bytes: &[u8]) -> bool {
    let (mut usual, mut rare) = (0_usize, 0_usize);
    let mut rest = bytes;
    loop {
        rest = match rest {
            [] => return usual > 0 && usual >= rare * 4,
            [0..=0x7f, rest @ ..] => rest,
            // Punctuation and full-width forms, then the first level.
            [0xa1..=0xa3, 0xa1..=0xfe, rest @ ..] | [0xb0..=0xd7, 0xa1..=0xfe, rest @ ..] => {
                usual += 1;
                rest
            }
            [0x81..=0xfe, 0x40..=0x7e | 0x80..=0xfe, rest @ ..]
            | [0x81..=0xfe, 0x30..=0x39, 0x81..=0xfe, 0x30..=0x39, rest @ ..] => {
                rare += 1;
                rest
            }
            _ => return false,
        };
    }
}

/// Whether a character is punctuation of Chinese, or a full-width form.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
}
