//! Compiles the C wrappers of the C and C++ peers, if they are enabled.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "peers-cpp")]
    peers_cpp::build();
}

#[cfg(feature = "peers-cpp")]
mod peers_cpp {
    use std::env;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Stdio;

    struct Library {
        name: &'static str,
        /// A header of this library, and the shim that includes it.
        header: &'static str,
        shim: &'static str,
        debian_package: &'static str,
        link: Link,
    }

    enum Link {
        /// Found by pkg-config, as the module with this name.
        PkgConfig(&'static str),
        /// A library with this name that installs no pkg-config file.
        Name(&'static str),
    }

    const LIBRARIES: [Library; 2] = [
        Library {
            name: "Abseil",
            header: "absl/synchronization/mutex.h",
            shim: CPP_SHIM,
            debian_package: "libabsl-dev",
            link: Link::PkgConfig("absl_synchronization"),
        },
        Library {
            name: "nsync",
            header: "nsync_mu.h",
            shim: C_SHIM,
            debian_package: "libnsync-dev",
            link: Link::Name("nsync"),
        },
    ];

    const C_SHIM: &str = "src/peers/cpp/shim.c";
    const CPP_SHIM: &str = "src/peers/cpp/shim.cc";

    pub fn build() {
        println!("cargo::rerun-if-changed={C_SHIM}");
        println!("cargo::rerun-if-changed={CPP_SHIM}");

        let mut include_paths = Vec::new();
        let mut missing = Vec::new();
        for library in &LIBRARIES {
            match library.find(&mut include_paths) {
                Ok(()) => {}
                Err(reason) => missing.push((library, reason)),
            }
        }
        if !missing.is_empty() {
            complain(&missing);
            return;
        }

        compiler(C_SHIM, &include_paths).file(C_SHIM).compile("ondeck_zoo_c");
        compiler(CPP_SHIM, &include_paths).file(CPP_SHIM).compile("ondeck_zoo_cpp");

        // Linked after the shims: a linker that resolves from left to right then finds their
        // symbols here.
        for library in &LIBRARIES {
            library.link();
        }
    }

    impl Library {
        fn find(&self, include_paths: &mut Vec<PathBuf>) -> Result<(), String> {
            if let Link::PkgConfig(module) = self.link {
                let found = pkg_config::Config::new().cargo_metadata(false).probe(module);
                let found = found.map_err(|_| format!("pkg-config does not know {module}"))?;
                include_paths.extend(found.include_paths);
            }
            if self.has_header(include_paths) {
                Ok(())
            } else {
                Err(format!("the compiler finds no {}", self.header))
            }
        }

        fn has_header(&self, include_paths: &[PathBuf]) -> bool {
            let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
            let name = Path::new(self.shim).file_name().expect("it is a file");
            let probe = out.join(name);
            fs::write(&probe, format!("#include <{}>\n", self.header))
                .expect("OUT_DIR can be written to");
            compiler(self.shim, include_paths)
                .get_compiler()
                .to_command()
                .arg("-fsyntax-only")
                .arg(probe)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        }

        fn link(&self) {
            match self.link {
                Link::PkgConfig(module) => {
                    pkg_config::probe_library(module).expect("it was found a moment ago");
                }
                Link::Name(name) => println!("cargo::rustc-link-lib={name}"),
            }
        }
    }

    /// The compiler for `source`, with the options of an optimized program whatever the profile of
    /// this build: a lock that was compiled for debugging is not the peer.
    fn compiler(source: &str, include_paths: &[PathBuf]) -> cc::Build {
        let cpp = Path::new(source).extension().is_some_and(|extension| extension == "cc");
        let mut build = cc::Build::new();
        build.cpp(cpp).std(if cpp { "c++17" } else { "c11" }).opt_level(2).define("NDEBUG", None);
        build.includes(include_paths);
        build
    }

    fn complain(missing: &[(&Library, String)]) {
        let reasons: Vec<_> = missing
            .iter()
            .map(|(library, reason)| format!("{} ({reason})", library.name))
            .collect();
        let packages: Vec<_> = missing.iter().map(|(library, _)| library.debian_package).collect();
        println!(
            "cargo::error=the feature `peers-cpp` needs {}: install what is missing (Debian: \
             apt-get install {} pkg-config g++) or build without the feature",
            reasons.join(", "),
            packages.join(" "),
        );
    }
}
