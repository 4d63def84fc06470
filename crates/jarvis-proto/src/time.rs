//! A moment, as protocols carry it: in numbers over gRPC, and in JSON as `2026-11-26T20:15:00.123Z`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment: `google.protobuf.Timestamp`. Its JSON is in UTC and ends with `Z`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Message)]
pub struct Timestamp {
    /// Whole seconds since the Unix epoch.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// Nanoseconds behind them.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// The end of the year 9999, in seconds since the Unix epoch: what comes after it cannot be written.
const END: u64 = 253_402_300_800;

impl Timestamp {
    /// The moment so many milliseconds after the Unix epoch.
    pub fn of_ms(ms: u64) -> Timestamp {
        Timestamp { seconds: (ms / 1_000) as i64, nanos: (ms % 1_000) as i32 * 1_000_000 }
    }

    /// Milliseconds since the Unix epoch; 0 for what is before it.
    pub fn as_ms(self) -> u64 {
        let (seconds, nanos) = (u64::try_from(self.seconds), u64::try_from(self.nanos));
        seconds.unwrap_or(0).saturating_mul(1_000).saturating_add(nanos.unwrap_or(0) / 1_000_000)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let since = Duration::from_millis(self.as_ms());
        let time = UNIX_EPOCH.checked_add(since).filter(|_| since.as_secs() < END);
        let time = time.ok_or_else(|| serde::ser::Error::custom("the time is after the year 9999"))?;
        serializer.collect_str(&humantime::format_rfc3339_millis(time))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time: SystemTime = humantime::parse_rfc3339_weak(&text)
            .map_err(|error| D::Error::custom(format!("`{text}` is no time in UTC: {error}")))?;
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Timestamp { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() as i32 })
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn times_are_written_in_utc_and_read_back() {
        for (ms, text) in [(0, "1970-01-01T00:00:00.000Z"), (1_764_188_103_042, "2025-11-26T20:15:03.042Z")] {
            let time = Timestamp::of_ms(ms);
            assert_eq!(serde_json::to_value(time).expect("a time"), text);
            assert_eq!(serde_json::from_value::<Timestamp>(text.into()).expect("a time"), time);
            assert_eq!(time.as_ms(), ms);
        }
        let far = Timestamp { seconds: i64::MAX, nanos: 0 };
        assert!(serde_json::to_value(far).is_err());
        for wrong in ["", "yesterday", "2025-11-26T20:15:03+01:00"] {
            assert!(serde_json::from_value::<Timestamp>(wrong.into()).is_err(), "{wrong}");
        }
    }
}
