//! Functions and methods that delegate to another type's of the same name.

#![allow(unused_macros, reason = "not every test that includes this file needs both")]

/// Functions of a platform that delegate to `$To`.
macro_rules! delegated {
    ($To:ident: $(fn $name:ident($($arg:ident: $Type:ty),*) $(-> $Result:ty)?;)*) => {$(
        fn $name($($arg: $Type),*) $(-> $Result)? {
            $To::$name($($arg),*)
        }
    )*};
}

/// Methods of an atomic that delegate to the result of `$get`.
macro_rules! forwarded {
    ($get:expr => $(fn $name:ident($($arg:ident: $Type:ty),*) $(-> $Result:ty)?;)*) => {$(
        #[track_caller]
        fn $name(&self, $($arg: $Type),*) $(-> $Result)? {
            $get(self).$name($($arg),*)
        }
    )*};
}
