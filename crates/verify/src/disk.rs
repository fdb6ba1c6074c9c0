//! A temporary disk: a file system in a file, mounted from a loop device where no other process sees it.

use super::rig::{cannot_undo, run_program};
use fathom_core::sampling::owner::Owner;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of the disk; its file is sparse, so it occupies only what is written to it.
const SIZE: u64 = 400 << 20;

/// A mounted disk, removed when this is dropped or this process dies: its file is unlinked as soon as it is mounted, and the
/// mount is in a namespace of this process, which ends with the disk.
pub struct Disk {
    mount: PathBuf,
    /// Left when the mount was removed in it.
    _namespace: Namespace,
}

impl Disk {
    /// Makes a disk in a folder and mounts it.
    pub fn in_folder(folder: &Path) -> Result<Self, String> {
        let namespace =
            Namespace::own().map_err(|error| format!("mounting a test disk needs root: {error}"))?;
        let owner = Owner::of(std::process::id()).ok_or("/proc does not show this process")?;
        let (image, mount) = (folder.join(owner.name("image")), folder.join(owner.name("disk")));
        let failed = |error: io::Error| format!("a disk in {}: {error}", folder.display());
        std::fs::create_dir(&mount).map_err(failed)?;
        let disk = Disk { mount, _namespace: namespace };
        let created = File::create_new(&image).and_then(|file| file.set_len(SIZE)).map_err(failed);
        let (mut format, mut mount) = (Command::new("mkfs.ext4"), Command::new("mount"));
        format.args(["-q", "-F"]).arg(&image);
        mount.args(["-o", "loop"]).arg(&image).arg(&disk.mount);
        let mounted = created
            .and_then(|()| run_program(&mut format, "e2fsprogs", None))
            .and_then(|()| run_program(&mut mount, "mount", None));
        let _ = std::fs::remove_file(&image);
        mounted.map(|()| disk)
    }

    pub fn mount(&self) -> &Path {
        &self.mount
    }

    /// The device's numbers, `7:0`.
    pub fn device(&self) -> Result<String, String> {
        let device = self.mount.metadata().map_err(|error| error.to_string())?.dev();
        Ok(format!("{}:{}", libc::major(device), libc::minor(device)))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if let Ok(path) = CString::new(self.mount.as_os_str().as_bytes()) {
            // SAFETY: a path that ends in a zero, alive during the call.
            let unmounted = done(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) });
            // A disk that could not be mounted has a folder and no mount.
            if let Err(error) = unmounted.or_else(|error| match error.raw_os_error() {
                Some(libc::EINVAL) => Ok(()),
                _ => Err(error),
            }) {
                cannot_undo(format!("the disk at {} cannot be unmounted: {error}", self.mount.display()));
            }
        }
        if let Err(error) = std::fs::remove_dir(&self.mount) {
            cannot_undo(format!("{} cannot be removed: {error}", self.mount.display()));
        }
    }
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A view of the mounts that belongs to this thread, and to the processes that it starts: what is mounted in it is seen by no
/// other process. What the machine unmounts meanwhile is unmounted in it too: a copy that kept it would keep its device busy.
struct Namespace {
    before: File,
    folder: File,
}

impl Namespace {
    /// Enters a new one.
    fn own() -> io::Result<Self> {
        let entered = Namespace { before: File::open("/proc/thread-self/ns/mnt")?, folder: File::open(".")? };
        let (none, flags) = (std::ptr::null(), libc::MS_REC | libc::MS_SLAVE);
        // SAFETY: takes no pointers; it changes this thread alone.
        done(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
        // SAFETY: paths that end in a zero; a change of propagation takes no source, kind or data.
        done(unsafe { libc::mount(none, c"/".as_ptr(), none, flags, none.cast()) })?;
        Ok(entered)
    }

    /// Returns to the view from before, and to the current folder, which the return leaves.
    fn leave(&self) -> io::Result<()> {
        // SAFETY: an open descriptor of a namespace; it changes this thread alone, which shares its root and current folder with
        // no other since `unshare`.
        done(unsafe { libc::setns(self.before.as_raw_fd(), libc::CLONE_NEWNS) })?;
        // SAFETY: an open descriptor of a folder.
        done(unsafe { libc::fchdir(self.folder.as_raw_fd()) })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Err(error) = self.leave() {
            cannot_undo(format!("this process cannot return to the machine's mounts: {error}"));
        }
    }
}
