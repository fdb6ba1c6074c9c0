//! The file of a run on a server: created before the first trial, and removed with the run. Before it is created it is
//! recorded in a ledger on this machine, so that after a kill the next run with the same server removes it.

use super::leftovers;
use crate::experiment::{Access, RemoteFile};
use crate::machine::{Protocol, Remote, RemoteAddress, RemoteUrl};
use crate::record::store;
use crate::remote::made;
use crate::remote::ssh::Master;
use crate::sampling::{own_folder, owner::Owner};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest time that a file may be written over a slow network.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The time limit for creating or removing the file on the server; everything else waits for it.
const CONVERSATION: Duration = Duration::from_secs(25);

/// The file that the trials of a run read, or the reason why there is none.
pub struct RemoteFixture {
    file: Result<RemoteFile, String>,
    ledger: Option<PathBuf>,
    /// Whether the file may exist on the server.
    begun: bool,
    /// Ends after the file was removed over it, and before the folder of its socket is removed.
    _connection: Option<(Master, leftovers::Shared)>,
}

impl RemoteFixture {
    /// Removes files that killed runs left at this server, then finds or creates the file.
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

    /// The file, in the form that trials receive.
    pub fn file(&self) -> Result<RemoteFile, String> {
        self.file.clone()
    }
}

impl Drop for RemoteFixture {
    fn drop(&mut self) {
        let removed = |file: &RemoteFile| made::remove(&file.address, &file.access, CONVERSATION).is_ok();
        let gone = match &self.file {
            Ok(file) => !file.own || removed(file),
            // If the removal failed the file may still exist: its ledger entry stays for the next run.
            Err(_) => !self.begun,
        };
        if let Some(ledger) = self.ledger.as_ref().filter(|_| gone) {
            let _ = std::fs::remove_file(ledger);
        }
    }
}

/// The connection of `ssh` that the run's trials share, in a folder of its own that the next run removes after a kill: the
/// path of the measured folder could be too long.
fn connection(address: &RemoteAddress, access: &mut Access) -> Option<(Master, leftovers::Shared)> {
    /// The longest path that fits into the address of a socket, less the suffix that `ssh` appends while it creates it
    /// (unix(7): 108 bytes).
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

/// Next to the run files: like the files on the servers, it must survive a reboot.
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

/// Removes what killed runs of this machine have left at the server that this run uses anyway; nothing is sent to others.
fn sweep(folder: &Path, asked: &RemoteAddress, access: &Access) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_left =
            entry.file_name().to_str().and_then(Owner::of_name).is_some_and(|owner| owner.is_gone());
        let address = std::fs::read_to_string(entry.path()).ok().and_then(|text| text.parse().ok());
        let Some(address) = address.filter(|address| is_left && same_server(address, asked)) else {
            continue;
        };
        // A file that no longer exists cannot be removed either: the server was reached, so the entry is done.
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
        // A file left on a mount is removed there, by its name.
        _ => false,
    }
}
