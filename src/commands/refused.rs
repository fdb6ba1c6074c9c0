//! What a run would refuse, found out before anything is measured and by a dry run too.

use crate::cli;
use anyhow::{Context, Result, anyhow, bail};
use fathom_core::experiment::Failure;
use fathom_core::sampling::{own_folder, priority as process_priority};
use fathom_engine::run::OwnFiles;
use fathom_equipment::peer::launch::{PeerSpec, ssh};
use std::path::Path;

/// Refuses a folder that was named and in which no file can be made: a private folder is made there, and removed.
pub(super) fn ensure_folder(named: Option<&Path>) -> Result<()> {
    let Some(folder) = named else { return Ok(()) };
    let own = OwnFiles::of_this_run(folder);
    own_folder::path(own.folder(), "file").map(|_| ()).map_err(|failure| match failure {
        Failure::Broke(words) => anyhow!("--dir: {words}; choose another folder"),
        failure => anyhow!("--dir: {failure}"),
    })
}

/// Refuses a priority that this user may not give to a process.
pub(super) fn ensure_priority(named: Option<i32>) -> Result<()> {
    let Some(priority) = named else { return Ok(()) };
    process_priority::may_have(priority).map_err(|error| {
        anyhow!(
            "--priority: this user may not start processes of priority {priority} ({error}): that takes root, or the right \
             CAP_SYS_NICE, or a limit of `nice` that allows it (RLIMIT_NICE, limits.conf(5))"
        )
    })
}

/// Refuses a peer that cannot be reached, as far as that is known without contacting it.
pub(super) fn ensure_peer(args: &cli::PeerOptions) -> Result<()> {
    let Some(spec) = &args.peer else { return Ok(()) };
    match spec.parse()? {
        PeerSpec::At(_) if args.token_file.is_none() => bail!(
            "there is no peer {spec}: a peer that was started by hand needs its token: put the token that it printed into a \
             file and name the file with `--token-file`"
        ),
        PeerSpec::At(_) | PeerSpec::Namespace => Ok(()),
        PeerSpec::Host(host) => ssh::ensure_name(&host).with_context(|| format!("there is no peer {spec}")),
    }
}
