//! One measurement at a time: two on one machine would measure each other.
//!
//! The lock is an abstract name of a socket (unix(7)): it is no file, so nothing is left of it after a kill, and needs no
//! folder. Any user can hold any such name, so a name alone keeps nobody from measuring: the kernel reports its owner
//! (`SO_PEERCRED`), and it counts only if that is this user or root. A name held by another user is reported and otherwise
//! ignored.
//!
//! Names belong to a network namespace. Containers that have their own do not see each other, and no resource usable without
//! privilege is shared by all containers of a machine; if something else used the core, or the hypervisor took it, every
//! trial detects that instead (`sampling/occupancy.rs` and `sampling/conditions.rs` of `fathom-core`).

use anyhow::{Context, Result, bail};
use fathom_core::sampling::own_folder;
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;

/// The name that is held while this machine is measured.
const NAME: &str = "fathom-is-measuring";

/// Held while this machine is measured.
pub struct MeasuringLock {
    /// The sockets that hold the names.
    names: Vec<Socket>,
    /// Processes of other users that hold one of the names; usually empty.
    pub strangers: Vec<String>,
}

impl MeasuringLock {
    /// Takes the lock, or fails because this user or root is measuring. A second name contains this user's number: otherwise
    /// a process of another user that holds the first one would let two runs of this user measure at once.
    pub fn take() -> Result<Self> {
        let user = own_folder::user();
        let mut lock = MeasuringLock { names: vec![], strangers: vec![] };
        for name in [NAME.to_owned(), format!("{NAME}-{user}")] {
            match try_lock(&name, user)? {
                Ok(held) => lock.names.push(held),
                Err(stranger) => lock.strangers.push(format!(
                    "{stranger} holds the lock `{name}`: if it is measuring too, the two runs will disturb each other"
                )),
            }
        }
        Ok(lock)
    }
}

/// The socket that holds the name, or the process of another user that holds it; an error if this user or root does, or if
/// the check fails.
fn try_lock(name: &str, user: libc::uid_t) -> Result<Result<Socket, String>> {
    let address = SockAddr::unix(format!("\0{name}"))?;
    // A second attempt, because the holder may end between `bind` and `connect`.
    for _ in 0..2 {
        match bound(&address) {
            Ok(held) => return Ok(Ok(held)),
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => {
                return Err(error).context(
                    "cannot find out whether another fathom is measuring on this machine; `--alongside` does not check",
                );
            }
        }
        match holder(&address) {
            Ok(holder) if [user, 0].contains(&holder.uid) => bail!(
                "another fathom is measuring on this machine (process {} of user {} holds the lock `{name}`), and the \
                 two runs would disturb each other: wait until it has ended, or accept that with `--alongside`",
                holder.pid,
                holder.uid
            ),
            Ok(holder) => return Ok(Err(format!("process {} of user {}", holder.pid, holder.uid))),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            // The holder's queue of connections is full, which takes thousands of callers.
            Err(_) => break,
        }
    }
    Ok(Err("a process of an unknown user".to_owned()))
}

fn bound(address: &SockAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(address)?;
    // No connection is accepted; the caller only learns the owner of the name.
    socket.listen(libc::SOMAXCONN)?;
    Ok(socket)
}

/// The process that listens at a name, from the kernel.
fn holder(address: &SockAddr) -> io::Result<libc::ucred> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
    socket.connect(address)?;
    let mut holder = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: an open socket, and room for what is asked for, of that length.
    let code = unsafe {
        let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        let into = (&raw mut holder).cast();
        libc::getsockopt(socket.as_raw_fd(), level, option, into, &raw mut length)
    };
    if code == 0 { Ok(holder) } else { Err(io::Error::last_os_error()) }
}
