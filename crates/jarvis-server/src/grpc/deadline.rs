//! How long the caller waits, as calls say it: `grpc-timeout: 5S`.

use std::time::Duration;

use tonic::metadata::MetadataMap;

const HEADER: &str = "grpc-timeout";

pub(super) fn of(metadata: &MetadataMap) -> Option<Duration> {
    read(metadata.get(HEADER)?.to_str().ok()?)
}

/// At most eight digits and a unit, as the protocol has it.
fn read(text: &str) -> Option<Duration> {
    let at = text.len().checked_sub(1)?;
    let (digits, unit) = (text.get(..at)?, text.get(at..)?);
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(count * 3_600)),
        "M" => Some(Duration::from_secs(count * 60)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_the_protocol_writes_them() {
        for (text, want) in [
            ("5S", Some(Duration::from_secs(5))),
            ("99999999H", Some(Duration::from_secs(99_999_999 * 3_600))),
            ("250m", Some(Duration::from_millis(250))),
            ("7u", Some(Duration::from_micros(7))),
            ("7n", Some(Duration::from_nanos(7))),
            ("2M", Some(Duration::from_secs(120))),
            ("999999999S", None),
            ("S", None),
            ("", None),
            ("-1S", None),
            ("1秒", None),
            ("1x", None),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }
}
