//! Files that a killed trial may have left: named after its process, and swept when that is gone.

use std::path::Path;

const PREFIX: &str = ".fathom-";

/// Removes the files of trials that no longer live from a folder. Whatever cannot be removed is left: it is not ours.
pub fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let owner = rest.split('-').next().and_then(|number| number.parse::<u32>().ok());
        if owner.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_dead_trials_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let own = format!("{PREFIX}{}-here", std::process::id());
        for name in [".fathom-4194999-there", own.as_str(), "somebody-elses", ".fathom-x"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        sweep(folder.path());
        let mut left: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = vec![own, ".fathom-x".to_owned(), "somebody-elses".to_owned()];
        expected.sort();
        assert_eq!(left, expected);
    }
}
