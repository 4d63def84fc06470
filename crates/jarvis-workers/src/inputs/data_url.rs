//! Data URLs (RFC 2397): what follows `data:` to bytes, within a size.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use jarvis_plan::{ErrorCode, TaskError};

use super::too_large;

/// Base64 with or without padding, as people and services write it.
const TOLERANT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, TOLERANT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, TOLERANT);

/// Decodes the content of a data URL.
///
/// # Errors
/// `InvalidInput` when it is malformed, `TooLarge` when it would give more than `limit` bytes.
pub(super) fn decode(content: &str, limit: u64) -> Result<Vec<u8>, TaskError> {
    let Some((header, data)) = content.split_once(',') else {
        return Err(TaskError::new(ErrorCode::InvalidInput, "the data URL has no comma, so it holds no data"));
    };
    let is_base64 = header.rsplit_once(';').is_some_and(|(_, last)| last.trim().eq_ignore_ascii_case("base64"));
    // Three escaped characters a byte is the most that an encoding takes; anything longer need not be decoded.
    if data.len() as u64 / 3 > limit.saturating_mul(4) / 3 + 4 {
        return Err(too_large("the data URL", limit));
    }
    let bytes = unescape(data);
    let bytes = if is_base64 { base64(&bytes, limit)? } else { bytes };
    if bytes.len() as u64 > limit { Err(too_large("the data URL", limit)) } else { Ok(bytes) }
}

/// Decodes base64 of either alphabet, blanks ignored.
///
/// # Errors
/// `InvalidInput` when it is malformed, `TooLarge` when it would give more than `limit` bytes.
pub(crate) fn base64(text: &[u8], limit: u64) -> Result<Vec<u8>, TaskError> {
    let text: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if text.len() as u64 / 4 * 3 > limit.saturating_add(3) {
        return Err(too_large("the base64 data", limit));
    }
    let url_safe = text.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let engine = if url_safe { &URL_SAFE } else { &STANDARD };
    engine
        .decode(text)
        .map_err(|error| TaskError::new(ErrorCode::InvalidInput, format!("the base64 data is broken: {error}")))
}

/// Undoes percent-encoding; a `%` that starts no escape stands for itself.
fn unescape(text: &str) -> Vec<u8> {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let raw = text.as_bytes();
    let mut bytes = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(byte) = raw.get(at) {
        match (byte, hex(raw.get(at + 1)), hex(raw.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_are_decoded() {
        let cases: [(&str, Result<&[u8], ErrorCode>); 11] = [
            (",plain", Ok(b"plain")),
            ("text/plain,a%20b%2Gc%", Ok(b"a b%2Gc%")),
            ("image/png;base64,aGVsbG8=", Ok(b"hello")),
            ("image/png;base64,aGVsbG8", Ok(b"hello")),
            ("image/png;BASE64,aGVs\nbG8%3D", Ok(b"hello")),
            (";base64,-_-_", Ok(b"\xfb\xff\xbf")),
            ("text/plain;charset=utf-8,%D0%B9", Ok("й".as_bytes())),
            ("image/png;base64", Err(ErrorCode::InvalidInput)),
            ("image/png;base64,a$b", Err(ErrorCode::InvalidInput)),
            ("text/plain,01234567890123456", Err(ErrorCode::TooLarge)),
            (";base64,MDEyMzQ1Njc4OTAxMjM0NTY=", Err(ErrorCode::TooLarge)),
        ];
        for (content, expected) in cases {
            let found = decode(content, 16);
            assert_eq!(found.as_deref().map_err(|error| error.code), expected, "{content}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_encoded_comes_back(bytes: Vec<u8>) {
            let limit = bytes.len() as u64;
            for text in [STANDARD.encode(&bytes), URL_SAFE.encode(&bytes)] {
                assert_eq!(decode(&format!("image/png;base64,{text}"), limit).unwrap(), bytes);
                assert_eq!(decode(&format!(";base64,{text}"), limit.saturating_sub(1)).is_err(), limit > 0);
            }
            let escaped: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
            assert_eq!(decode(&format!(",{escaped}"), limit).unwrap(), bytes);
        }

        #[test]
        fn nothing_makes_it_panic(content: String) {
            let _ = decode(&content, 64);
        }
    }
}
