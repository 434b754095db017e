//! Enumerations that a user writes as words.

/// Reads and writes the variants of an enumeration by their words, blanks around a word aside;
/// `refused` is the error of any other word.
#[macro_export]
macro_rules! worded {
    ($Type:ident: $refused:literal; $($Variant:ident = $word:literal),*) => {
        impl $Type {
            /// Its word in commands and reports.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word),*
                }
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $Type {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                match word.trim() {
                    $($word => Ok(Self::$Variant),)*
                    _ => Err($refused.to_owned()),
                }
            }
        }
    };
}
