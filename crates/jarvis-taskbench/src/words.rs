//! Enums whose variants have words in options, files and messages.

/// Gives an enum `ALL`, `as_str` and `Display`; with a noun in front also `FromStr`, for which `-` and `_` are the same and
/// whose error lists the words.
macro_rules! words {
    ($noun:literal, $of:ident: $($variant:ident = $word:literal),+ $(,)?) => {
        $crate::words::words!($of: $($variant = $word),+);

        impl std::str::FromStr for $of {
            type Err = String;

            fn from_str(word: &str) -> Result<$of, String> {
                let plain = |word: &str| word.replace('-', "_");
                let known = $of::ALL.into_iter().find(|known| plain(known.as_str()) == plain(word));
                known.ok_or_else(|| $crate::words::unknown($noun, word, &$of::ALL.map($of::as_str)))
            }
        }
    };
    ($of:ident: $($variant:ident = $word:literal),+ $(,)?) => {
        impl $of {
            pub const ALL: [$of; [$($word),+].len()] = [$($of::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $($of::$variant => $word),+
                }
            }
        }

        impl std::fmt::Display for $of {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;

/// ``unknown method `x`; use `single`, `chain` or `dag` ``.
pub(crate) fn unknown(noun: &str, word: &str, known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    let (last, rest) = quoted.split_last().expect("an enum has a word");
    format!("unknown {noun} `{word}`; use {} or {last}", rest.join(", "))
}
