//! A file system that answers every read, and every flush, when we say: what they cost through it is known.

use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyStatfs, ReplyWrite, Request, Session, SessionACL, TimeOrNow, WriteFlags,
};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The kernel may keep what it knows of a file: nobody but it changes one, and it need not ask between two reads.
const KNOWN_FOR: Duration = Duration::from_secs(60 * 60);

/// Size and room of the file system, bytes.
const ROOM: u64 = 8 << 30;
const BLOCK: u32 = 4096;

/// A mounted file system, gone when this is dropped, which also a panic does. Its mount namespace is that of the thread that
/// made it, so that a killed test leaves none either.
pub struct Late {
    mount: PathBuf,
    delay: Arc<AtomicU64>,
    flushes: Arc<LateFlushes>,
}

/// When flushes are answered: so long after they were asked, nanoseconds, and every so manieth much later.
#[derive(Default)]
struct LateFlushes {
    usual: AtomicU64,
    seldom: AtomicU64,
    answered: AtomicU64,
}

/// One flush in this number is answered much later.
const SELDOM: u64 = 50;

impl LateFlushes {
    fn next(&self) -> Duration {
        let is_seldom = self.answered.fetch_add(1, Ordering::Relaxed) % SELDOM == SELDOM - 1;
        let delay = if is_seldom { &self.seldom } else { &self.usual };
        Duration::from_nanos(delay.load(Ordering::Relaxed))
    }
}

impl Late {
    /// Mounts one here, for this thread and the processes that it starts from now on. It is served on the CPU of the reader:
    /// on another, the reader's would fall asleep in a long wait and not in a short one, and waking it, which is many
    /// microseconds in a virtual machine, would be part of the delay alone.
    pub fn mounted(mount: &Path, cpu: usize) -> io::Result<Self> {
        let device = OpenOptions::new().read(true).write(true).open("/dev/fuse")?;
        own_namespace()?;
        attach(&device, mount)?;
        let late = Late { mount: mount.to_owned(), delay: Arc::default(), flushes: Arc::default() };
        let (delay, flushes) = (Arc::clone(&late.delay), Arc::clone(&late.flushes));
        let files = Files { delay, flushes, table: Mutex::default() };
        let session = Session::from_fd(files, OwnedFd::from(device), SessionACL::Owner, Config::default())?;
        std::thread::spawn(move || prefer(cpu).and_then(|()| session.run()));
        Ok(late)
    }

    /// From now on every read is answered so long after it was asked.
    pub fn answer_after(&self, delay: Duration) {
        self.delay.store(delay.as_nanos() as u64, Ordering::Relaxed);
    }

    /// From now on every flush of a file is answered so long after it was asked, and one in fifty so much later.
    pub fn flushed_after(&self, usual: Duration, seldom: Duration) {
        self.flushes.usual.store(usual.as_nanos() as u64, Ordering::Relaxed);
        self.flushes.seldom.store(seldom.as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        if let Ok(path) = CString::new(self.mount.as_os_str().as_bytes()) {
            // SAFETY: a path that ends in a zero, alive during the call.
            unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
        }
    }
}

/// Has this thread, and those it starts, run on one CPU and before others there.
fn prefer(cpu: usize) -> io::Result<()> {
    stay(cpu)?;
    // SAFETY: takes no pointers; it changes this thread alone.
    done(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) })
}

/// Has this thread, and those it starts, run on one CPU.
pub fn stay(cpu: usize) -> io::Result<()> {
    // SAFETY: a set of CPUs is plain bits; the call reads it, and changes this thread alone.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        done(libc::sched_setaffinity(0, size_of_val(&set), &raw const set))
    }
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Mounts of this thread are seen by nobody else.
fn own_namespace() -> io::Result<()> {
    let (none, flags) = (std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE);
    // SAFETY: takes no pointers; it changes this thread alone.
    done(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    // SAFETY: paths that end in a zero; a change of propagation takes no source, kind or data.
    done(unsafe { libc::mount(none, c"/".as_ptr(), none, flags, none.cast()) })
}

/// Has the kernel ask at this device for what is below a folder.
fn attach(device: &File, mount: &Path) -> io::Result<()> {
    let path = CString::new(mount.as_os_str().as_bytes())?;
    let data = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
    let (source, kind, data) = (c"fathom-test", c"fuse", CString::new(data)?);
    // SAFETY: strings that end in a zero, alive during the call.
    done(unsafe { libc::mount(source.as_ptr(), path.as_ptr(), kind.as_ptr(), 0, data.as_ptr().cast()) })
}

/// Files and folders, kept in memory for as long as the file system lives: one without a name may still be open.
#[derive(Default)]
struct Table {
    /// By folder and name.
    names: BTreeMap<(u64, OsString), u64>,
    /// Bytes of files; `None` of folders.
    contents: Vec<Option<Vec<u8>>>,
}

impl Table {
    /// The first file comes after the folder that is mounted, which is inode 1.
    const FIRST: u64 = 2;

    fn content(&mut self, inode: INodeNo) -> Option<&mut Vec<u8>> {
        let place = u64::from(inode).checked_sub(Self::FIRST)?;
        self.contents.get_mut(place as usize)?.as_mut()
    }

    fn attributes(&mut self, inode: INodeNo) -> Option<FileAttr> {
        if let Some(content) = self.content(inode) {
            return Some(attributes(inode, FileType::RegularFile, content.len() as u64));
        }
        let exists = u64::from(inode) < Self::FIRST + self.contents.len() as u64;
        exists.then(|| attributes(inode, FileType::Directory, 0))
    }

    fn made(&mut self, folder: INodeNo, name: &OsStr, content: Option<Vec<u8>>) -> INodeNo {
        self.contents.push(content);
        let inode = Table::FIRST + self.contents.len() as u64 - 1;
        self.names.insert((folder.into(), name.to_owned()), inode);
        INodeNo(inode)
    }

    fn remove(&mut self, folder: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match self.names.remove(&(folder.into(), name.to_owned())) {
            Some(_) => reply.ok(),
            None => reply.error(Errno::ENOENT),
        }
    }
}

fn attributes(ino: INodeNo, kind: FileType, size: u64) -> FileAttr {
    let (atime, mtime, ctime, crtime) = (UNIX_EPOCH, UNIX_EPOCH, UNIX_EPOCH, UNIX_EPOCH);
    let (perm, nlink, blocks) =
        if kind == FileType::Directory { (0o700, 2, 0) } else { (0o644, 1, size.div_ceil(512)) };
    let (uid, gid, rdev, flags, blksize) = (0, 0, 0, 0, BLOCK);
    FileAttr {
        ino,
        size,
        blocks,
        atime,
        mtime,
        ctime,
        crtime,
        kind,
        perm,
        nlink,
        uid,
        gid,
        rdev,
        blksize,
        flags,
    }
}

/// The server.
struct Files {
    delay: Arc<AtomicU64>,
    flushes: Arc<LateFlushes>,
    table: Mutex<Table>,
}

impl Files {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a flush's delay, for which the server is awake: longer than it is late to wake where it goes before others.
const AWAKE: Duration = Duration::from_millis(2);

/// Returns so long after a request was asked, awake all the time: asleep it would be late by the timer's slack and its own waking, two
/// hundredths of what is asked for.
fn answer_after(asked: Instant, delay: Duration) {
    while asked.elapsed() < delay {
        std::hint::spin_loop();
    }
}

impl Filesystem for Files {
    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let (asked, delay) = (Instant::now(), Duration::from_nanos(self.delay.load(Ordering::Relaxed)));
        let mut table = self.table();
        let Some(content) = table.content(inode) else { return reply.error(Errno::ENOENT) };
        let from = content.len().min(offset as usize);
        let to = content.len().min(from + size as usize);
        answer_after(asked, delay);
        reply.data(&content[from..to]);
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut table = self.table();
        let Some(content) = table.content(inode) else { return reply.error(Errno::ENOENT) };
        let (from, to) = (offset as usize, offset as usize + data.len());
        content.resize(content.len().max(to), 0);
        content[from..to].copy_from_slice(data);
        reply.written(data.len() as u32);
    }

    fn create(&self, _: &Request, folder: INodeNo, name: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        let inode = self.table().made(folder, name, Some(vec![]));
        let file = attributes(inode, FileType::RegularFile, 0);
        reply.created(&KNOWN_FOR, &file, Generation(0), FileHandle(0), FopenFlags::empty());
    }

    fn mkdir(&self, _: &Request, folder: INodeNo, name: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        let inode = self.table().made(folder, name, None);
        reply.entry(&KNOWN_FOR, &attributes(inode, FileType::Directory, 0), Generation(0));
    }

    fn lookup(&self, _: &Request, folder: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut table = self.table();
        let found = table.names.get(&(folder.into(), name.to_owned())).copied();
        let found = found.and_then(|inode| table.attributes(INodeNo(inode)));
        match found {
            Some(file) => reply.entry(&KNOWN_FOR, &file, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.table().attributes(inode) {
            Some(file) => reply.attr(&KNOWN_FOR, &file),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut table = self.table();
        if let (Some(size), Some(content)) = (size, table.content(inode)) {
            // Fresh zeros take no memory before they are written.
            let mut resized = vec![0; size as usize];
            let kept = content.len().min(resized.len());
            resized[..kept].copy_from_slice(&content[..kept]);
            *content = resized;
        }
        match table.attributes(inode) {
            Some(file) => reply.attr(&KNOWN_FOR, &file),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn unlink(&self, _: &Request, folder: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.table().remove(folder, name, reply);
    }

    fn rmdir(&self, _: &Request, folder: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.table().remove(folder, name, reply);
    }

    fn rename(
        &self,
        _: &Request,
        folder: INodeNo,
        name: &OsStr,
        new_folder: INodeNo,
        new_name: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut table = self.table();
        let found = table.names.remove(&(folder.into(), name.to_owned()));
        let Some(inode) = found else { return reply.error(Errno::ENOENT) };
        table.names.insert((new_folder.into(), new_name.to_owned()), inode);
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        // Awake for that long it would use up its slice, and others would run in the middle.
        let (asked, delay) = (Instant::now(), self.flushes.next());
        std::thread::sleep(delay.saturating_sub(AWAKE));
        answer_after(asked, delay);
        reply.ok();
    }

    fn readdir(&self, _: &Request, folder: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let mut table = self.table();
        let own = |((of, name), inode): (&(u64, OsString), &u64)| {
            (*of == u64::from(folder)).then(|| (name.clone(), INodeNo(*inode)))
        };
        let entries: Vec<(OsString, INodeNo)> = table.names.iter().filter_map(own).collect();
        for (place, (name, inode)) in (1..).zip(entries).skip(offset as usize) {
            let kind = table.content(inode).map_or(FileType::Directory, |_| FileType::RegularFile);
            if reply.add(inode, place, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = ROOM / u64::from(BLOCK);
        reply.statfs(blocks, blocks, blocks, 1 << 20, 1 << 20, BLOCK, 255, BLOCK);
    }
}
