//! Tests of mistakes that a tool must notice.

/// Defines a test for each mistake: the body panics with this message.
macro_rules! noticed {
    ($($(#[$about:meta])* fn $test:ident, $message:literal => $body:expr;)*) => {$(
        $(#[$about])*
        #[test]
        #[should_panic(expected = $message)]
        fn $test() {
            $body;
        }
    )*};
}
