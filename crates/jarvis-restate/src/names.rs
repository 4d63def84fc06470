//! Names of Restate services for capabilities.

/// Prefix of the services that perform tasks.
const PREFIX: &str = "Task.";

/// The handler of such a service.
pub(crate) const PERFORM: &str = "perform";

/// The Restate service that performs tasks of a capability. Restate allows letters, digits, `_`, `-` and `.` in a name: any other
/// byte, and the dot itself, is written as `.HEX.`, so that no two capabilities share a service.
pub fn service_of(capability: &str) -> String {
    let mut name = String::from(PREFIX);
    for byte in capability.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!(".{byte:02x}."));
        }
    }
    name
}

/// The capability of a service that [`service_of`] named.
pub fn capability_of(service: &str) -> Option<String> {
    let mut bytes = Vec::new();
    for (at, part) in service.strip_prefix(PREFIX)?.split('.').enumerate() {
        match at % 2 {
            0 => bytes.extend_from_slice(part.as_bytes()),
            _ => bytes.push(u8::from_str_radix(part, 16).ok()?),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_reversible() {
        let cases = [
            ("image-to-text", "Task.image-to-text"),
            ("everything/echo", "Task.everything.2f.echo"),
            ("a.b", "Task.a.2e.b"),
            ("später//", "Task.sp.c3..a4.ter.2f..2f."),
        ];
        for (capability, service) in cases {
            assert_eq!(service_of(capability), service);
            assert_eq!(capability_of(service).as_deref(), Some(capability));
        }
        assert_eq!(capability_of("Run.v1"), None);
    }
}
