//! Unreadable files are refused with the file's name and the reason.

use std::fs::{self, File};
use std::mem::offset_of;
use std::path::Path;

use ondeck_profile::{Error, read};
use ondeck_record::layout::{EXTENSION, Header, MAGIC, SIZE, VERSION};

/// Writes a recording with this head and length, whose head gives its size as `size` bytes.
fn recording_for(size: usize, folder: &Path, magic: u64, version: u32, length: u64) {
    let path = folder.join(format!("1.0.{EXTENSION}"));
    let mut head = [&magic.to_ne_bytes()[..], &version.to_ne_bytes()].concat();
    head.resize(offset_of!(Header, size), 0);
    head.extend(size.to_ne_bytes());
    fs::write(&path, head).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
}

fn recording(folder: &Path, magic: u64, version: u32, length: u64) {
    recording_for(SIZE, folder, magic, version, length);
}

fn refused(magic: u64, version: u32, length: u64) -> Error {
    let folder = tempfile::tempdir().unwrap();
    recording(folder.path(), magic, version, length);
    read(folder.path()).expect_err("this is no recording")
}

#[test]
fn a_folder_without_recordings_says_what_may_be_wrong() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "other files are left alone").unwrap();
    let error = read(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Empty { .. }), "{error}");
    assert!(error.to_string().contains("ondeck run"), "{error}");
    let missing = read(&folder.path().join("missing")).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }), "{missing}");
}

#[test]
fn a_file_that_is_no_recording_is_named_with_the_reason() {
    let whole = SIZE as u64;
    let foreign = u64::from_ne_bytes(*b"PK\x03\x04zip!");
    for (error, words) in [
        (refused(foreign, 1, whole), "it begins with \"PK\\x03\\x04zip!".to_owned()),
        (refused(0, 0, 3), "is not a recording".to_owned()),
        (refused(MAGIC, VERSION, 5_000), format!("5000 bytes of {SIZE}")),
        (refused(MAGIC, VERSION, 10), "is truncated".to_owned()),
        (refused(MAGIC, VERSION + 1, whole), format!("has version {}", VERSION + 1)),
        (refused(0, 0, whole), "was not begun".to_owned()),
    ] {
        let text = error.to_string();
        assert!(matches!(error, Error::Unusable { .. }), "{text}");
        assert!(text.contains("1.0.ondeck-profile") && text.contains(&words), "{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    recording_for(SIZE - 64, folder.path(), MAGIC, VERSION, whole - 64);
    let error = read(folder.path()).expect_err("it has another layout").to_string();
    assert!(error.contains("another build"), "{error}");
}

#[test]
fn a_bad_file_beside_a_good_one_is_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    recording(folder.path(), MAGIC, VERSION, SIZE as u64);
    fs::write(folder.path().join(format!("2.0.{EXTENSION}")), "cut off").unwrap();
    let profile = read(folder.path()).unwrap();
    assert_eq!((profile.processes.len(), profile.refused.len()), (1, 1));
    assert!(ondeck_profile::table::render(&profile, 10, false).contains("2.0.ondeck-profile"));
}

/// Numbers of a damaged file may lead nowhere, and are then ignored.
#[test]
fn a_file_of_noise_is_read_without_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("3.0.{EXTENSION}"));
    let mut state = 0x1234_5678_u64;
    let mut noise = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    };
    let mut bytes = vec![0_u8; SIZE];
    for (number, page) in bytes.chunks_mut(4096).enumerate() {
        if number == 0 || noise() % 64 == 0 {
            page.fill_with(|| noise() as u8);
        }
    }
    bytes[..8].copy_from_slice(&MAGIC.to_ne_bytes());
    bytes[8..12].copy_from_slice(&VERSION.to_ne_bytes());
    bytes[offset_of!(Header, size)..][..8].copy_from_slice(&SIZE.to_ne_bytes());
    fs::write(&path, bytes).unwrap();
    let profile = read(folder.path()).unwrap();
    assert_eq!(profile.processes.len(), 1);
    assert!(!ondeck_profile::lines::render(&profile).is_empty());
}

/// Root reads folders in which other users may create files.
#[test]
fn a_pipe_and_a_link_are_not_waited_for_nor_followed() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "root's own words").unwrap();
    std::os::unix::fs::symlink(&secret, folder.path().join(format!("1.0.{EXTENSION}"))).unwrap();
    let error = read(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join(format!("1.0.{EXTENSION}"));
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let error = read(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Unusable { .. }), "{error}");
}
