//! The machine of this process, by instructions and system calls.

#[cfg(target_env = "gnu")]
use std::ffi::CStr;
use std::ffi::{CString, c_char};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use perf_event::Builder;
use perf_event::events::{Hardware, Software};

use super::cpu_set::{self, Pinned};
use super::host::{Event, Folder, Host, Resource, SystemNames};
use super::network;
use crate::arch;

/// The machine on which this process runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Live;

impl Host for Live {
    fn cpuid(&self, leaf: u32, subleaf: u32) -> Option<[u32; 4]> {
        arch::cpuid(leaf, subleaf)
    }

    fn executes(&self, extension: &str) -> Option<bool> {
        arch::executes(extension)
    }

    fn counter_frequency(&self) -> Option<u64> {
        arch::counter_frequency()
    }

    fn data_line(&self) -> Option<u64> {
        arch::data_line()
    }

    fn affinity(&self) -> Result<Vec<usize>, String> {
        cpu_set::of_this_thread()
    }

    fn pinned(&self, cpu: usize) -> Pinned {
        Pinned::to(cpu)
    }

    fn names(&self) -> Result<SystemNames, String> {
        let mut names = MaybeUninit::<libc::utsname>::zeroed();
        // SAFETY: uname writes one utsname, for which the pointer has room.
        if unsafe { libc::uname(names.as_mut_ptr()) } != 0 {
            return Err(last_error());
        }
        // SAFETY: all zeroes is a valid utsname, and uname has filled it.
        let names = unsafe { names.assume_init() };
        Ok(SystemNames {
            release: text(&names.release),
            version: text(&names.version),
            machine: text(&names.machine),
        })
    }

    fn page_bytes(&self) -> Result<u64, String> {
        // SAFETY: sysconf takes and returns plain numbers.
        u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).map_err(|_| last_error())
    }

    #[cfg(target_env = "gnu")]
    fn libc(&self) -> Result<String, String> {
        // SAFETY: glibc returns a pointer to a static text that ends with a zero byte.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        Ok(format!("glibc {}", version.to_string_lossy()))
    }

    #[cfg(not(target_env = "gnu"))]
    fn libc(&self) -> Result<String, String> {
        Err("a C library other than glibc does not report its version at run time".to_owned())
    }

    fn folder(&self, folder: &Path) -> Result<Folder, String> {
        let path = folder.canonicalize().map_err(|error| error.to_string())?;
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        let mut space = MaybeUninit::<libc::statvfs>::zeroed();
        // SAFETY: the name ends with a zero byte, and there is room for one statvfs.
        if unsafe { libc::statvfs(name.as_ptr(), space.as_mut_ptr()) } != 0 {
            return Err(last_error());
        }
        // SAFETY: all zeroes is a valid statvfs, and the call has filled it.
        let space = unsafe { space.assume_init() };
        let block_bytes = space.f_frsize;
        Ok(Folder {
            path,
            total_bytes: space.f_blocks.saturating_mul(block_bytes),
            free_bytes: space.f_bavail.saturating_mul(block_bytes),
            block_bytes,
        })
    }

    fn offloads(&self, adapter: &str) -> Result<Vec<(String, bool)>, String> {
        network::offloads(adapter).map_err(|error| error.to_string())
    }

    fn open_counter(&self, event: Event) -> Result<(), i32> {
        let opened = match event {
            Event::Cycles => Builder::new(Hardware::CPU_CYCLES).build(),
            Event::Instructions => Builder::new(Hardware::INSTRUCTIONS).build(),
            Event::BranchMisses => Builder::new(Hardware::BRANCH_MISSES).build(),
            Event::CacheMisses => Builder::new(Hardware::CACHE_MISSES).build(),
            Event::ContextSwitches => Builder::new(Software::CONTEXT_SWITCHES).build(),
            Event::CpuMigrations => Builder::new(Software::CPU_MIGRATIONS).build(),
            Event::PageFaults => Builder::new(Software::PAGE_FAULTS).build(),
        };
        opened.map(drop).map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }

    fn effective_uid(&self) -> Result<u32, String> {
        // SAFETY: geteuid has no arguments and cannot fail.
        Ok(unsafe { libc::geteuid() })
    }

    fn limit(&self, resource: Resource) -> Result<Option<u64>, String> {
        let number = match resource {
            Resource::AddressSpace => libc::RLIMIT_AS,
            Resource::Data => libc::RLIMIT_DATA,
            Resource::LockedMemory => libc::RLIMIT_MEMLOCK,
            Resource::OpenFiles => libc::RLIMIT_NOFILE,
            Resource::Processes => libc::RLIMIT_NPROC,
        };
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the pointer is to one rlimit that we own.
        if unsafe { libc::getrlimit(number, &raw mut limit) } != 0 {
            return Err(last_error());
        }
        Ok((limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur))
    }
}

/// A fixed field of C characters as text.
fn text(field: &[c_char]) -> String {
    let bytes: Vec<u8> = field.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn last_error() -> String {
    io::Error::last_os_error().to_string()
}
