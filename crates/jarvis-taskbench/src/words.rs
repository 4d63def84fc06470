//! Enums whose variants have words in options, files and messages.

/// Declares an enum whose variants have words; the word of a variant without one is its name. Gives it `ALL`, `as_str` and
/// `Display`; with a noun behind `as` also `FromStr`, for which `-` and `_` are the same and whose error lists the words.
macro_rules! words {
    (@word $variant:ident) => {
        stringify!($variant)
    };
    (@word $variant:ident, $word:literal) => {
        $word
    };
    ($(#[$meta:meta])* $vis:vis enum $of:ident as $noun:literal { $($body:tt)+ }) => {
        $crate::words::words!($(#[$meta])* $vis enum $of { $($body)+ });

        impl std::str::FromStr for $of {
            type Err = String;

            fn from_str(word: &str) -> Result<$of, String> {
                let plain = |word: &str| word.replace('-', "_");
                let known = $of::ALL.into_iter().find(|known| plain(known.as_str()) == plain(word));
                known.ok_or_else(|| $crate::words::unknown($noun, word, &$of::ALL.map($of::as_str)))
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $of:ident { $($(#[$doc:meta])* $variant:ident $(= $word:literal)?),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $of {
            $($(#[$doc])* $variant),+
        }

        impl $of {
            pub const ALL: [$of; [$(stringify!($variant)),+].len()] = [$($of::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $($of::$variant => $crate::words::words!(@word $variant $(, $word)?)),+
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
