//! Packs the files of the atlas into one, which is a part of the program.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The files, below this crate.
const FOLDER: &str = "../../atlas";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={FOLDER}");
    let files: Vec<PathBuf> = machines(Path::new(FOLDER));
    let mut packer = GzEncoder::new(vec![], Compression::best());
    for file in files {
        let text = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        packer.write_all(&text).expect("memory takes all");
    }
    let packed = packer.finish().expect("memory takes all");
    let target = env::var_os("OUT_DIR").expect("cargo names the folder");
    fs::write(Path::new(&target).join("atlas.gz"), packed).expect("cargo's folder can be written");
}

/// The files of machines, by name: the same bytes on every host.
fn machines(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    paths.sort();
    for path in &paths {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    paths
}
