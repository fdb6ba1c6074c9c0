//! The file of a run on a server: created before the first trial, and removed with the run. Before it is created it is
//! recorded in a ledger on this machine, so that after a kill the next run with the same server removes it.

use super::leftovers;
use crate::record::store;
use fathom_core::experiment::{Access, RemoteFile};
use fathom_core::machine::{Protocol, Remote, RemoteAddress, RemoteUrl};
use fathom_core::sampling::own_folder::{self, user};
use fathom_core::sampling::owner::Owner;
use fathom_equipment::remote::own_file;
use fathom_equipment::remote::ssh::Master;
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
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
    _connection: Option<(Master, leftovers::OwnFiles)>,
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
            ledger.as_deref().map_or(Ok(()), |ledger| note(ledger, &own_file::below(&remote.address, &name)));
        let (began, mut begun) = (Instant::now(), false);
        let mut patient = |_| {
            begun = true;
            began.elapsed() < TIMEOUT
        };
        let file = noted.and_then(|()| {
            own_file::find_or_make(&remote.address, &access, &name, CONVERSATION, &mut patient)
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
        let removed = |file: &RemoteFile| own_file::remove(&file.address, &file.access, CONVERSATION).is_ok();
        let is_removed = match &self.file {
            Ok(file) => !file.own || removed(file),
            // If the removal failed the file may still exist: its ledger entry stays for the next run.
            Err(_) => !self.begun,
        };
        if let Some(ledger) = self.ledger.as_ref().filter(|_| is_removed) {
            let _ = std::fs::remove_file(ledger);
        }
    }
}

/// The connection of `ssh` that the run's trials share, in a folder of its own that the next run removes after a kill: the
/// path of the measured folder could be too long.
fn connection(address: &RemoteAddress, access: &mut Access) -> Option<(Master, leftovers::OwnFiles)> {
    /// The longest path that fits into the address of a socket, less the suffix that `ssh` appends while it creates it
    /// (unix(7): 108 bytes).
    const LONGEST: usize = 85;
    let RemoteAddress::Url(url) = address else { return None };
    let temporary = std::env::temp_dir();
    leftovers::sweep(&temporary);
    let folder = leftovers::OwnFiles::of_this_run(&temporary);
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
    let result = make_private(folder).and_then(|()| ensure_own(folder, user())).and_then(|()| {
        // A note of this same process, whose file could not be removed, is replaced.
        let _ = std::fs::remove_file(ledger);
        own_folder::new_file(ledger)?.write_all(planned.to_string().as_bytes())
    });
    result.map_err(|error| {
        format!(
            "{}: {error}: no file is made on a server if it cannot be noted for removal",
            ledger.display()
        )
    })
}

fn make_private(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder.parent().unwrap_or(folder))?;
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Refuses a ledger that is a link, or another user's: where `sudo` keeps HOME it is that of the user, whose notes would be
/// executed with the rights of root. One that others may write to is closed to them.
fn ensure_own(folder: &Path, user: u32) -> io::Result<()> {
    let opened =
        OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(folder)?;
    let metadata = opened.metadata()?;
    if metadata.uid() != user {
        return Err(io::Error::other(format!(
            "the folder belongs to another user ({}); `sudo -H` uses root's own",
            metadata.uid()
        )));
    }
    if metadata.mode() & 0o077 != 0 {
        opened.set_permissions(Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Removes what killed runs of this machine have left at the server that this run uses anyway; nothing is sent to others.
fn sweep(folder: &Path, server: &RemoteAddress, access: &Access) {
    for (entry, address) in leftovers_in(folder, user()) {
        if !same_server(&address, server) {
            continue;
        }
        // A file that no longer exists cannot be removed either: the server was reached, so the entry is done.
        if own_file::swept(&address, access, CONVERSATION).is_err() {
            return;
        }
        let _ = std::fs::remove_file(entry);
    }
}

/// The notes of killed runs in a ledger, with the files that they name. Only what a run of this user made is removed: the
/// note and the ledger are the user's own, and the file has the name of the note, which is that of the run.
fn leftovers_in(folder: &Path, user: u32) -> Vec<(PathBuf, RemoteAddress)> {
    if ensure_own(folder, user).is_err() {
        return vec![];
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    named
        .filter(|(name, _)| Owner::of_name(name).is_some_and(|owner| owner.is_gone()))
        .filter_map(|(name, path)| Some((noted(&path, user)?, name, path)))
        .filter(|(address, name, _)| last_name(address) == Some(name))
        .map(|(address, _, path)| (path, address))
        .collect()
}

/// The address in a note; `None` for anything but a file of this user that has no other name.
fn noted(note: &Path, user: u32) -> Option<RemoteAddress> {
    /// No address is longer.
    const LONGEST: u64 = 16 << 10;
    let opened =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(note).ok()?;
    let metadata = opened.metadata().ok()?;
    if !(metadata.is_file() && metadata.uid() == user && metadata.nlink() == 1) {
        return None;
    }
    let mut text = String::new();
    opened.take(LONGEST).read_to_string(&mut text).ok()?;
    text.parse().ok()
}

/// The last name of a path on a server.
fn last_name(address: &RemoteAddress) -> Option<&str> {
    match address {
        RemoteAddress::Url(url) => url.path.rsplit('/').next(),
        RemoteAddress::Mounted(_) => None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// The name of a note that a process which has ended would have left here.
    fn dead() -> String {
        Owner::ended().name("remote")
    }

    fn ledger() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        folder
    }

    fn url(path: &str) -> String {
        format!("sftp://user@server.example/data/{path}")
    }

    #[test]
    fn what_a_killed_run_noted_is_found() {
        let folder = ledger();
        let (note, text) = (folder.path().join(dead()), url(&dead()));
        std::fs::write(&note, &text).unwrap();
        assert_eq!(leftovers_in(folder.path(), user()), [(note, text.parse().unwrap())]);
        assert_eq!(
            folder.path().metadata().unwrap().mode() & 0o777,
            0o700,
            "and others may no longer write there"
        );
    }

    #[test]
    fn a_note_names_no_file_but_its_own() {
        let folder = ledger();
        let note = folder.path().join(dead());
        for other in
            ["victim.txt", "", "../victim.txt"].map(url).into_iter().chain([url(&dead()) + "/victim.txt"])
        {
            std::fs::write(&note, &other).unwrap();
            assert_eq!(leftovers_in(folder.path(), user()), [], "{other}");
        }
        let own = Owner::of(std::process::id()).unwrap().name("remote");
        std::fs::remove_file(&note).unwrap();
        std::fs::write(folder.path().join(&own), url(&own)).unwrap();
        assert_eq!(leftovers_in(folder.path(), user()), [], "its run still goes on");
    }

    #[test]
    fn notes_of_others_links_and_pipes_are_not_read() {
        let folder = ledger();
        let (note, elsewhere) = (folder.path().join(dead()), tempfile::tempdir().unwrap());
        let real = elsewhere.path().join("note");
        std::fs::write(&real, url(&dead())).unwrap();
        symlink(&real, &note).unwrap();
        assert_eq!(leftovers_in(folder.path(), user()), [], "a link");
        std::fs::remove_file(&note).unwrap();
        std::fs::hard_link(&real, &note).unwrap();
        assert_eq!(leftovers_in(folder.path(), user()), [], "a second name of a file");
        std::fs::remove_file(&note).unwrap();
        make_pipe(&note);
        assert_eq!(leftovers_in(folder.path(), user()), [], "a pipe");
        std::fs::remove_file(&note).unwrap();
        std::fs::write(&note, url(&dead())).unwrap();
        assert_eq!(leftovers_in(folder.path(), user() + 1), [], "another user's");
        let link = elsewhere.path().join("ledger");
        symlink(folder.path(), &link).unwrap();
        assert_eq!(leftovers_in(&link, user()), [], "a link to a ledger");
        assert_eq!(leftovers_in(folder.path(), user()).len(), 1);
    }

    fn make_pipe(path: &Path) {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a path that ends in zero.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    }

    #[test]
    fn a_note_is_written_for_this_user_alone_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("data/remote-files").join(dead());
        let planned = url(&dead()).parse().unwrap();
        super::note(&note, &planned).unwrap();
        super::note(&note, &planned).unwrap();
        assert_eq!(note.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(leftovers_in(note.parent().unwrap(), user()), [(note, planned)]);
    }
}
