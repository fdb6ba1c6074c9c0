//! One measurement at a time: two on one machine would measure each other.
//!
//! The lock is an abstract name of a socket (unix(7)): no file, so nothing is left of it after a kill, and no folder in which it
//! must lie. Any user can hold any such name, so a name alone keeps nobody from measuring: the kernel tells whose it is
//! (`SO_PEERCRED`), and it counts where it is this user's or root's. What a stranger holds is told, and goes for nothing.
//!
//! Names belong to a network namespace. Containers that have their own do not see each other, and nothing that a program may
//! use without rights of its own is shared by all containers of a machine; that something else used the core, or the
//! hypervisor took it, is seen in every trial instead (`sampling/occupancy.rs`, `sampling/conditions.rs`).

use anyhow::{Context, Result, bail};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;

/// The name that is held while this machine is measured.
const NAME: &str = "fathom-is-measuring";

/// Held while this machine is measured.
pub struct MeasuringLock {
    /// Their ends let go of the names.
    names: Vec<Socket>,
    /// What holds a name of ours and need not be believed; nothing in the usual case.
    pub strangers: Vec<String>,
}

impl MeasuringLock {
    /// Takes the lock, or says that this user or root is measuring. A second name has this user's number: who held the first
    /// one in our place could else have two of our runs meet.
    pub fn take() -> Result<Self> {
        // SAFETY: geteuid touches nothing.
        let user = unsafe { libc::geteuid() };
        let mut lock = MeasuringLock { names: vec![], strangers: vec![] };
        for name in [NAME.to_owned(), format!("{NAME}-{user}")] {
            match taken(&name, user)? {
                Ok(held) => lock.names.push(held),
                Err(stranger) => lock.strangers.push(format!(
                    "{stranger} holds the lock `{name}`: if it is measuring too, the two runs will disturb each other"
                )),
            }
        }
        Ok(lock)
    }
}

/// The name, or what stranger holds it; an error where this user or root does, or where nobody can tell.
fn taken(name: &str, user: libc::uid_t) -> Result<Result<Socket, String>> {
    let address = SockAddr::unix(format!("\0{name}"))?;
    // Twice: who holds it may have ended between the two questions.
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
            // It takes no more callers, which a fathom does not do before thousands have called.
            Err(_) => break,
        }
    }
    Ok(Err("a process of an unknown user".to_owned()))
}

fn bound(address: &SockAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(address)?;
    // Nobody is answered; who calls learns whose the name is.
    socket.listen(libc::SOMAXCONN)?;
    Ok(socket)
}

/// Who listens at a name, as the kernel knows it.
fn holder(address: &SockAddr) -> io::Result<libc::ucred> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
    socket.connect(address)?;
    let mut holder = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: an open socket, and room for what is asked for, of that length.
    let told = unsafe {
        let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        let into = (&raw mut holder).cast();
        libc::getsockopt(socket.as_raw_fd(), level, option, into, &raw mut length)
    };
    if told == 0 { Ok(holder) } else { Err(io::Error::last_os_error()) }
}
