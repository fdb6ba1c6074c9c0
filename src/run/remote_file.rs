//! The file of a run on a server: there before the first trial, and gone with the run. Before it is made it is written
//! down in a ledger on this machine, so that after a kill the next run that goes to the same server removes it.

use super::leftovers;
use crate::experiment::{Access, RemoteFile};
use crate::machine::{Protocol, Remote, RemoteAddress, RemoteUrl};
use crate::record::store;
use crate::remote::made;
use crate::remote::ssh::Master;
use crate::sampling::{own_folder, owner::Owner};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a file may be written over a slow network.
const TIMEOUT: Duration = Duration::from_secs(15);

/// How long a conversation with the server may take in which the file is made, or removed: all else waits for it.
const CONVERSATION: Duration = Duration::from_secs(25);

/// The file that the trials of a run read, or why there is none.
pub struct RemoteFixture {
    file: Result<RemoteFile, String>,
    ledger: Option<PathBuf>,
    /// Whether a file may stand on the server.
    begun: bool,
    /// Ends after the file was removed over it, and before the folder of its socket is gone.
    _connection: Option<(Master, leftovers::Shared)>,
}

impl RemoteFixture {
    /// Sweeps what killed runs left at this server, then finds or makes the file.
    pub fn new(remote: &Remote) -> Self {
        let mut access = Access::of_this_process();
        let connection = connection(&remote.address, &mut access);
        let folder = ledger_folder();
        sweep(&folder, &remote.address, &access);
        if let RemoteAddress::Mounted(path) = &remote.address {
            leftovers::sweep(path);
        }
        let Some(owner) = Owner::of(std::process::id()) else {
            return RemoteFixture {
                file: Err("/proc does not show this process".to_owned()),
                ledger: None,
                begun: false,
                _connection: connection,
            };
        };
        let name = owner.name("remote");
        let on_server = matches!(remote.address, RemoteAddress::Url(_));
        let ledger = (on_server && !remote.is_file()).then(|| folder.join(&name));
        let noted =
            ledger.as_deref().map_or(Ok(()), |ledger| note(ledger, &made::below(&remote.address, &name)));
        let (began, mut begun) = (Instant::now(), false);
        let mut patient = |_| {
            begun = true;
            began.elapsed() < TIMEOUT
        };
        let file = noted.and_then(|()| {
            made::find_or_make(&remote.address, &access, &name, CONVERSATION, &mut patient)
                .map_err(|failure| failure.to_string())
        });
        RemoteFixture { file, ledger, begun, _connection: connection }
    }

    /// The file, as trials are told of it.
    pub fn file(&self) -> Result<RemoteFile, String> {
        self.file.clone()
    }
}

impl Drop for RemoteFixture {
    fn drop(&mut self) {
        let removed = |file: &RemoteFile| made::remove(&file.address, &file.access, CONVERSATION).is_ok();
        let gone = match &self.file {
            Ok(file) => !file.own || removed(file),
            // What was begun and could not be ended may be there: the note of it stays for the next run.
            Err(_) => !self.begun,
        };
        if let Some(ledger) = self.ledger.as_ref().filter(|_| gone) {
            let _ = std::fs::remove_file(ledger);
        }
    }
}

/// The connection of `ssh` that the run's trials share, in a folder of its own that the next run sweeps after a kill: a long
/// path of the measured one would not fit.
fn connection(address: &RemoteAddress, access: &mut Access) -> Option<(Master, leftovers::Shared)> {
    /// What fits into the address of a socket, less what `ssh` appends while it makes it (unix(7): 108 bytes).
    const LONGEST: usize = 85;
    let RemoteAddress::Url(url) = address else { return None };
    let temporary = std::env::temp_dir();
    leftovers::sweep(&temporary);
    let folder = leftovers::Shared::of_this_run(&temporary);
    if url.protocol != Protocol::Sftp || folder.folder().as_os_str().len() + "/ssh".len() > LONGEST {
        return None;
    }
    let socket = own_folder::path(folder.folder(), "ssh").ok()?;
    let master = Master::start(url, access, &socket)?;
    access.shared = Some(socket);
    Some((master, folder))
}

/// Beside the run files: it outlives a reboot, as what it tells of does.
fn ledger_folder() -> PathBuf {
    store::folder().with_file_name("remote-files")
}

fn note(ledger: &Path, planned: &RemoteAddress) -> Result<(), String> {
    let folder = ledger.parent().unwrap_or(ledger);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(ledger, planned.to_string()));
    written.map_err(|error| {
        format!(
            "{}: {error}: no file is made on a server if it cannot be noted for removal",
            ledger.display()
        )
    })
}

/// Removes what killed runs of this machine have left at the server that is asked anyhow; at others nothing is sent.
fn sweep(folder: &Path, asked: &RemoteAddress, access: &Access) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_left =
            entry.file_name().to_str().and_then(Owner::of_name).is_some_and(|owner| owner.is_gone());
        let address = std::fs::read_to_string(entry.path()).ok().and_then(|text| text.parse().ok());
        let Some(address) = address.filter(|address| is_left && same_server(address, asked)) else {
            continue;
        };
        // A file that is not there any more cannot be removed either: reached is enough, the note has done its work.
        if made::swept(&address, access, CONVERSATION).is_err() {
            return;
        }
        let _ = std::fs::remove_file(entry.path());
    }
}

fn same_server(one: &RemoteAddress, other: &RemoteAddress) -> bool {
    match (one, other) {
        (RemoteAddress::Url(one), RemoteAddress::Url(other)) => {
            let who = |url: &RemoteUrl| (url.protocol, url.user.clone(), url.host.clone(), url.port);
            who(one) == who(other)
        }
        // What was left on a mount is swept there, by its name.
        _ => false,
    }
}
