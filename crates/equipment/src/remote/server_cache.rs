//! The page cache of a server on which programs can be run.

use super::sftp::named;
use super::ssh::Ssh;
use fathom_core::experiment::{Access, Failure};
use fathom_core::machine::RemoteUrl;
use std::time::Duration;

/// The longest that a server may take to write back and drop one file.
const LONGEST: Duration = Duration::from_secs(2 * 60);

/// The page cache of a server on which programs can be run.
pub struct ServerCache<'access> {
    url: &'access RemoteUrl,
    access: &'access Access,
}

impl<'access> ServerCache<'access> {
    /// The page cache of an sftp server.
    pub fn of(url: &'access RemoteUrl, access: &'access Access) -> Self {
        ServerCache { url, access }
    }

    /// Makes the server evict a file (`POSIX_FADV_DONTNEED`, by GNU dd, as any user who may read it) and returns the number of
    /// its bytes still in the page cache (fincore(1)).
    pub fn emptied(&self) -> Result<u64, Failure> {
        let file = quoted(named(&self.url.path));
        let line = format!(
            "sync {file} && dd if={file} iflag=nocache count=0 2>/dev/null && fincore -bnr -o RES {file}"
        );
        let output = Ssh::run(self.url, self.access, &line, LONGEST).map_err(|why| {
            Failure::Unsupported(format!(
                "the server's cache can be emptied, and seen to be empty, only where one may run sync, dd and fincore \
                 on the server: {why}"
            ))
        })?;
        let cached_bytes = output.lines().last().and_then(|line| line.trim().parse().ok());
        cached_bytes.ok_or_else(|| Failure::Unsupported(format!("fincore on the server said `{output}`")))
    }
}

/// A path quoted for the shell of the server.
fn quoted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_reach_a_shell_unharmed() {
        assert_eq!(quoted("a'; rm x"), "'a'\\''; rm x'");
        assert_eq!(quoted("-rf"), "'./-rf'");
    }
}
