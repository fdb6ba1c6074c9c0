//! The contents of files from which facts were read, so that a fact that was misread can be read again (R-FIX-67).
//!
//! A description may be published: of the mount table there is the line of the measured folder alone, without paths and source, and its
//! options are those of a list; of what identifies a machine (serial numbers, addresses) there is nothing.

use super::mounts;
use super::published;
use super::source::Root;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The contents of a file, or of the files of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RawText {
    /// The file or folder.
    pub source: String,
    /// Its contents, or the part that is said in `source`.
    pub text: String,
}

/// The files of the processor, its caches, and the measured folder's mount.
pub(super) fn read(root: &Root, folder: &Path) -> Vec<RawText> {
    let of = |source: &str, text: Option<String>| {
        let text = text.filter(|text| !text.is_empty())?;
        Some(RawText { source: source.to_owned(), text })
    };
    [
        of("/proc/cpuinfo, the first processor", processor(root)),
        of(CACHES, Some(caches(root))),
        of("/proc/self/mountinfo, the measured folder, without paths", mount(root, folder)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The most text of a file.
const MOST: usize = 8 << 10;

/// Keys whose values identify a machine.
const IDENTIFYING: [&str; 3] = ["serial", "uuid", "revision"];

fn processor(root: &Root) -> Option<String> {
    let text = root.text("/proc/cpuinfo");
    let first = text.value()?.split("\n\n").next()?;
    let tells = |line: &&str| {
        let key = line.split(':').next().unwrap_or_default().trim().to_lowercase();
        !IDENTIFYING.contains(&key.as_str())
    };
    let lines: Vec<&str> = first.lines().filter(tells).collect();
    Some(lines.join("\n").chars().take(MOST).collect())
}

const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

fn caches(root: &Root) -> String {
    const FILES: [&str; 6] =
        ["level", "type", "size", "ways_of_associativity", "number_of_sets", "coherency_line_size"];
    let line = |number: &usize| {
        let file = |name: &&str| {
            let word = root.word(&format!("{CACHES}/index{number}/{name}"));
            word.value().map(|word| format!("{name}={word}"))
        };
        let words: Vec<String> = FILES.iter().filter_map(file).collect();
        format!("index{number} {}", words.join(" "))
    };
    root.numbered(CACHES, "index").iter().map(line).collect::<Vec<_>>().join("\n")
}

fn mount(root: &Root, folder: &Path) -> Option<String> {
    let table = root.text("/proc/self/mountinfo");
    let mount = mounts::holding(&mounts::parse(table.value()?), folder)?.clone();
    let options = published::mount_options(&mount.options);
    let of_the_file_system = published::mount_options(&mount.super_options);
    Some(format!("{} … … {options} - {} … {of_the_file_system}", mount.device, mount.file_system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_identifies_a_machine_or_names_a_path_is_left_out() {
        let (_tree, root) = Root::planted(&[
            (
                "/proc/cpuinfo",
                "processor\t: 0\nmodel name\t: A CPU\nSerial\t: 00deadbeef\n\nprocessor\t: 1\n",
            ),
            (
                "/proc/self/mountinfo",
                "30 20 8:1 /customer /srv/secret rw,relatime,x-owner=anna - ext4 /dev/mapper/anna rw,discard,errors=remount-ro\n",
            ),
            ("/sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n"),
        ]);
        let raw = read(&root, Path::new("/srv/secret/run"));
        let all: String = raw.iter().map(|raw| format!("{}\n{}\n", raw.source, raw.text)).collect();
        assert_eq!(raw.len(), 3, "{all}");
        assert!(all.contains("model name\t: A CPU") && all.contains("index0 level=1 size=48K"), "{all}");
        assert!(all.contains("8:1 … … rw,relatime - ext4 … "), "{all}");
        for secret in ["deadbeef", "customer", "secret", "anna"] {
            assert!(!all.contains(secret), "{secret}: {all}");
        }
        assert!(!all.contains("processor\t: 1"), "the first processor alone");
    }
}
