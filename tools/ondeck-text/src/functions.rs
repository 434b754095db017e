//! Names of functions as people say them.
//!
//! A demangled name of C++ has its arguments and a template's return type, and repeats each
//! template argument: several hundred characters of which a reader needs `LruCache<…>::get_or`.
//! Reports for people have that, and formats for programs the whole name.

/// Returns a name without arguments and return type, and with template arguments folded.
pub fn short(name: &str) -> String {
    // What the compiler did to the function, after a blank.
    let name = name.split(" [clone").next().unwrap_or(name);
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = skipped(rest) {
            rest = after;
            continue;
        }
        if is_start_of_word(&short) && rest.starts_with("operator") {
            let length = operator(rest);
            short.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let is_start = short.is_empty() || short.ends_with("::");
        let length = match next {
            '<' | '(' | '{' | '[' => closing(rest),
            _ => next.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        rest = after;
        match next {
            '<' if is_start => short.push_str(&qualified(part)),
            '<' => short.push_str("<…>"),
            // Within a return type.
            '(' if short.ends_with("decltype") => {}
            // The receiver of a method of Go.
            '(' if short.ends_with('.') => short.push_str(part),
            '(' => rest = rest.find("::").map_or("", |next| &rest[next..]),
            '{' if part.contains("lambda") => short.push_str("{lambda}"),
            '{' if part.contains("closure") => short.push_str("{closure}"),
            '[' if !is_start => {}
            ' ' if short.rsplit("::").next().is_some_and(|last| last.starts_with("operator")) => {}
            // What was before is a return type.
            ' ' => short.clear(),
            _ => short.push_str(part),
        }
    }
    if short.is_empty() { name.to_owned() } else { short }
}

/// Returns a name without the return type of a function template: the text after the last blank
/// that precedes the arguments and is outside of brackets.
pub fn without_type(function: &str) -> &str {
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, byte) in function.bytes().enumerate() {
        match byte {
            b'(' if depth == 0 && !function[start..].starts_with("decltype(") => break,
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth -= 1,
            b' ' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &function[start..]
}

/// Returns whether a name that a user wrote is that of a function: whole, or short with or without
/// the mark of folded arguments, or the end of that.
pub fn is_named(function: &str, word: &str) -> bool {
    let bare = |name: &str| short(name).replace("<…>", "");
    let (name, wanted) = (bare(function), bare(word));
    function == word || name == wanted || name.ends_with(&format!("::{wanted}"))
}

/// Returns the rest after namespaces that no source names.
fn skipped(rest: &str) -> Option<&str> {
    const NAMESPACES: [&str; 4] = ["(anonymous namespace)::", "__cxx11::", "__1::", "_V2::"];
    NAMESPACES.iter().find_map(|namespace| rest.strip_prefix(namespace))
}

fn is_start_of_word(before: &str) -> bool {
    !before.ends_with(|last: char| last.is_alphanumeric() || last == '_')
}

/// Returns the length of the name of an operator of C++; that of the word if it is none.
fn operator(rest: &str) -> usize {
    const WORD: usize = "operator".len();
    let after = &rest[WORD..];
    if after.starts_with("()") {
        return WORD + 2;
    }
    let signs = after.find(|sign: char| !"<>=!+-*/%^&|~,[]".contains(sign));
    match signs.unwrap_or(after.len()) {
        // `operator new`, or that of a conversion.
        0 if after.starts_with(' ') => WORD + after.find('(').unwrap_or(after.len()),
        signs => WORD + signs,
    }
}

/// Returns the length of the part in brackets with which a text begins.
fn closing(text: &str) -> usize {
    let mut depth = 0_i32;
    let mut before = ' ';
    for (at, sign) in text.char_indices() {
        match sign {
            '<' | '(' | '{' | '[' => depth += 1,
            // The arrow of a function's type.
            '>' if before == '-' => {}
            '>' | ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + sign.len_utf8();
        }
        before = sign;
    }
    text.len()
}

/// Returns a type of Rust in angle brackets: `<Vec<…> as Clone>`, and without the brackets if there
/// is no trait.
fn qualified(part: &str) -> String {
    let inside = part.trim_start_matches('<');
    let inside = &part[part.len() - inside.len()..].strip_suffix('>').unwrap_or(inside);
    let last = |path: &str| {
        let path = short(path);
        path.rsplit("::").next().unwrap_or(&path).to_owned()
    };
    let is_outside = |at: &usize| closing_depth(&inside[..*at]) == 0;
    let at = inside.match_indices(" as ").map(|(at, _)| at).find(is_outside);
    match (at, inside.strip_prefix("impl ").and_then(|inside| inside.split_once(" for "))) {
        (Some(at), _) => format!("<{} as {}>", last(&inside[..at]), last(&inside[at + 4..])),
        (None, Some((of, for_type))) => format!("<{} as {}>", last(for_type), last(of)),
        (None, None) => last(inside),
    }
}

fn closing_depth(text: &str) -> i32 {
    text.chars().fold(0, |depth, sign| match sign {
        '<' | '(' | '[' => depth + 1,
        '>' | ')' | ']' => depth - 1,
        _ => depth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_people_say() {
        for (whole, said) in [
            ("main", "main"),
            ("plug.so+0x1160", "plug.so+0x1160"),
            ("rs::take_hot", "rs::take_hot"),
            ("lock_both(std::mutex&, std::mutex&)", "lock_both"),
            (
                "std::optional<int> app::LruCache<std::__cxx11::basic_string<char, std::char_traits<char>>, int>::get_or<int (*)(int)>(int) const",
                "app::LruCache<…>::get_or<…>",
            ),
            ("unsigned long Pool<long>::size() const", "Pool<…>::size"),
            ("(anonymous namespace)::serve(int)", "serve"),
            ("main::{lambda()#1}::operator()() const", "main::{lambda}::operator()"),
            ("run(int)::{lambda(int)#2}::operator()(int) const", "run::{lambda}::operator()"),
            ("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<<…>"),
            ("Node::operator->() const", "Node::operator->"),
            ("operator new(unsigned long)", "operator new"),
            ("Flag::operator bool() const", "Flag::operator bool"),
            ("decltype(auto) visit<F, int>(F&&, int)", "visit<…>"),
            ("std::__cxx11::basic_string<char>::append(char)", "std::basic_string<…>::append"),
            ("work(int) [clone .cold]", "work"),
            ("name[abi:cxx11](int)", "name"),
            ("alloc::vec::Vec<T>::push", "alloc::vec::Vec<…>::push"),
            ("<app::Cache<alloc::string::String> as app::Store>::get", "<Cache<…> as Store>::get"),
            ("<app::Cache<K, fn(K) -> V>>::get", "Cache<…>::get"),
            ("app::<impl core::fmt::Display for app::Id>::fmt", "app::<Id as Display>::fmt"),
            ("app::run::{{closure}}", "app::run::{closure}"),
            ("{closure#0}<app::run>", "{closure}<…>"),
            ("runtime.(*mcache).refill", "runtime.(*mcache).refill"),
        ] {
            assert_eq!(short(whole), said, "{whole}");
        }
    }

    #[test]
    fn a_function_is_found_by_each_of_its_names() {
        let whole = "int app::LruCache<int, long>::get_or<int>(int) const";
        for word in [
            whole,
            "app::LruCache<…>::get_or<…>",
            "LruCache<…>::get_or",
            "LruCache::get_or",
            "get_or",
        ] {
            assert!(is_named(whole, word), "{word}");
        }
        for word in ["Cache::get_or", "get", "LruCache", "app::LruCache::get"] {
            assert!(!is_named(whole, word), "{word}");
        }
    }
}
