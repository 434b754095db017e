//! What is between the two marks of `include/ondeck.h` is the output of cbindgen for the source.

use std::fs;
use std::path::Path;

use cbindgen::{
    Builder, Config, DocumentationStyle, FunctionConfig, Language, Layout, RenameRule, Style,
};

fn config() -> Config {
    let mut config = Config {
        language: Language::C,
        no_includes: true,
        cpp_compat: true,
        documentation_style: DocumentationStyle::C,
        style: Style::Both,
        line_length: 110,
        usize_is_size_t: true,
        function: FunctionConfig {
            must_use: Some("ONDECK_MUST_USE".to_owned()),
            postfix: Some("ONDECK_NOTHROW".to_owned()),
            args: Layout::Auto,
            rename_args: RenameRule::None,
            ..FunctionConfig::default()
        },
        ..Config::default()
    };
    for rust in ["Mutex", "Cond", "RwLock", "Sem", "Once", "Barrier"] {
        let c = format!("ondeck_{}_t", rust.to_lowercase());
        config.export.rename.insert(rust.to_owned(), c);
    }
    for (rust, c) in [("LockStats", "lock_stats_t"), ("Event", "event_t"), ("Warned", "warned_t")] {
        config.export.rename.insert(rust.to_owned(), format!("ondeck_{c}"));
    }
    config.export.rename.insert("timespec".to_owned(), "struct timespec".to_owned());
    config
}

const FROM: &str = "/* cbindgen from here. */\n\n";
const TO: &str = "\n/* cbindgen to here. */";

/// The header with its generated part written anew from the source.
fn written(kept: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (before, _) = kept.split_once(FROM).expect("the first mark");
    let (_, after) = kept.split_once(TO).expect("the second mark");
    let mut generated = Vec::new();
    let sources = ["abi", "mutex", "cond", "rwlock", "sem", "once", "barrier", "stats"];
    sources
        .iter()
        .fold(Builder::new(), |builder, name| builder.with_src(root.join(format!("src/{name}.rs"))))
        .with_config(config())
        .generate()
        .expect("the source is read")
        .write(&mut generated);
    let generated = String::from_utf8(generated).expect("cbindgen writes text");
    // A section heading of Rust's documentation.
    let generated = generated.replace(" # Safety\n\n ", " Safety: ");
    // C89 has block comments only.
    let generated = generated.replace("// __cplusplus", "/* __cplusplus */");
    [before, FROM, generated.trim_start(), TO, after].concat()
}

#[test]
fn the_header_is_that_of_the_source() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/ondeck.h");
    let kept = fs::read_to_string(&path).unwrap();
    let written = written(&kept);
    if std::env::var_os("ONDECK_WRITE_HEADER").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let differs = kept.lines().zip(written.lines()).position(|(kept, written)| kept != written);
    assert!(
        kept == written,
        "include/ondeck.h is not that of the source, from line {} on; \
         ONDECK_WRITE_HEADER=1 cargo test -p ondeck-capi --test header writes it",
        differs.map_or(kept.lines().count().min(written.lines().count()), |line| line) + 1,
    );
}

/// A function that the version script lacks would be missing from the library, and link.sh would
/// not report it.
#[test]
fn the_version_script_has_the_functions_of_the_header() {
    let header = include_str!("../include/ondeck.h");
    let script = include_str!("../ondeck.map");
    let declarations = header.split("extern \"C\" {").nth(1).expect("declarations");
    let mut functions = 0;
    for word in declarations.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let at = word.as_ptr().addr() - declarations.as_ptr().addr() + word.len();
        if word.starts_with("ondeck_") && declarations[at..].starts_with('(') {
            functions += 1;
            let is_inline = word.starts_with("ondeck_tsan_")
                || word.starts_with("ondeck_counted_")
                || word == "ondeck_unlock_mode";
            assert!(is_inline || script.contains(&format!(" {word};")), "ondeck.map lacks {word}");
        }
    }
    assert!(functions > 20, "only {functions} functions found");
}
