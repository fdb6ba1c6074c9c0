//! What does it cost to read a block of a file on another machine, and how much of that is the network?

mod findings;
mod points;
mod predicted;
mod reading;

use fathom_core::machine::{Remote, RemoteAddress, Root};
use fathom_core::prelude::*;
use fathom_equipment::remote::{self, Client};
use fathom_equipment::test_file::{DiskQuota, TestFile};
pub(super) use points::no_data;
use points::{
    BLOCK, CLIENT_CACHED, FILE, FILES, LOCAL, NO_DATA, ORDER, PROTOCOL, QUEUE_DEPTH, RANDOM, SERVER_CACHED,
    SERVER_COLD, SMALL, STATE, UNPROVED, block, points,
};
use reading::{FilePart, RemoteReading};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

pub struct RemoteRead;

static ABOUT: About = About {
    name: "filesystem/remote_read",
    question: "What does it cost to read a block of a file on another machine, and how much of that is the network?",
    operation: "one block of the file requested, received and verified",
    method: "The file is the one that --remote names, or a file of 32 MiB of random bytes in the folder that --remote \
             (or --dir, on a network mount) names, which is removed when the run ends. It is read through a mount, \
             with pread, or by Fathom's own clients: sftp 3 over the user's ssh (one connection for all trials), NFS \
             3 with AUTH_SYS over TCP, SMB 2. The clients send one request and wait for its answer, unless \
             `queue_depth` is larger; they neither cache nor read ahead. A block larger than the largest request \
             takes several, one after the other. Every block is an observation, and its first and last sectors are \
             compared with what was written.\n\nclient-cached: this machine's page cache holds the blocks, as the \
             kernel confirms beforehand. server-cached: this machine has read the blocks just before and, through a \
             mount, has then evicted them, as the kernel confirms; each is then read once. server-cold: the file was \
             evicted from the server's page cache (POSIX_FADV_DONTNEED) and the server's kernel (fincore) found no \
             page of it, which needs an account that may run programs there; where the server is this machine and the \
             run is root's, the whole page cache is dropped (with --whole-memory only; drop_caches) and the kernel counts \
             the bytes from devices; each block is read once. server unproved: blocks of an existing file, in a part \
             that this trial has not read before; whether they come from the server's memory or its disk is \
             unknown.\n\nWith `file`, the beginning of the file is read as if the file had that size: all of its \
             blocks, in sequential or random order.\n\n`no data` is the smallest exchange of the protocol (sftp: \
             FSTAT, NFS: NULL, SMB: ECHO; through a mount of NFS or SMB, statx with `AT_STATX_FORCE_SYNC`; \
             through sshfs, whose daemon has a cache of its own, a look-up of a name that nobody has asked for; for both the caller \
             must have waited): network and protocol without a file. The network's share is relative to a \
             local file that the same run reads in the same way. Nothing is pinned, because the kernel's network \
             threads, ssh and mount daemons take part.",
    caveats: "A server may read ahead and cache outside its page cache, in a controller or, for a virtual machine, in \
              its host. Through a mount, this machine's kernel reads ahead in sequential order, so a block may have \
              arrived before it is requested. sftp encrypts: its figures include the ciphers of both sides. Where the \
              server is this machine, both sides share processors and memory, and there is no wire.",
    version: 2,
    timed: Some(TimedCode {
        of: "a block from the server",
        source: include_str!("reading.rs"),
        begins: "fn fetch(",
    }),
    parameters: &[PROTOCOL, STATE, ORDER, BLOCK, FILE, QUEUE_DEPTH],
    trends: &[],
    shown: Shown::by(&[]),
};

impl Experiment for RemoteRead {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, machine: &Machine) -> Vec<Point> {
        match &machine.storage.remote {
            Some(remote) => points(remote),
            // The point stays in the plan, and is skipped with its reason.
            None => vec![block("network", SERVER_CACHED, RANDOM, SMALL)],
        }
    }

    /// The cache of a server that is this machine is emptied by dropping all of it.
    fn requires(&self, point: &Point) -> Vec<Requirement> {
        match point.name(&STATE) {
            SERVER_COLD if point.name(&PROTOCOL) != "sftp" => {
                vec![Requirement::Remote, Requirement::WholeMemory]
            }
            _ => vec![Requirement::Remote],
        }
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        match point.name(&STATE) {
            // Drops the whole page cache of the machine.
            SERVER_COLD if point.name(&PROTOCOL) != "sftp" => Effort::Thorough,
            SERVER_COLD | UNPROVED => Effort::Standard,
            _ if point.number(&FILE) > 0 => Effort::Standard,
            _ if point.number(&QUEUE_DEPTH) > 1 => Effort::Standard,
            _ => Effort::Quick,
        }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        Ok(predicted::predicted(point, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let lines = point.number(&BLOCK) as f64 / 64.0;
        Some(Bound::of(
            (50.0 + lines / 2.0) * known.shortest_cycle(),
            "the kernel is entered at least once, and copies at most two cache lines per cycle",
        ))
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        let file = Touch::File(FILES[FILES.len() - 1]);
        let drops = self.requires(point).contains(&Requirement::WholeMemory);
        if drops { vec![file, Touch::DropCaches] } else { vec![file] }
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        if point.name(&PROTOCOL) == LOCAL {
            return local(point, site);
        }
        let file = match &site.remote {
            Some(Ok(file)) => file,
            Some(Err(reason)) => return Err(Failure::Broke(reason.clone())),
            None => {
                return Err(Failure::Unsupported("no file over a network was named: --remote".to_owned()));
            }
        };
        ensure_through(point, file)?;
        match point.name(&STATE) {
            NO_DATA => exchange(file),
            CLIENT_CACHED => Ok(reading(point, file, site)?.client_cached()?.timed()),
            SERVER_CACHED => Ok(reading(point, file, site)?.server_cached()?.timed_or_once(site)),
            SERVER_COLD => Ok(reading(point, file, site)?.server_cold(file)?.once(site)),
            UNPROVED => Ok(reading(point, file, site)?.possibly_cached(file)?.once(site)),
            state => Err(Failure::no_variant(&STATE, state)),
        }
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        match point.name(&STATE) {
            NO_DATA => {
                let requests = Check::witnessed("requests sent per exchange", observed, "requests", 1.0, 1.0);
                let waited = point.name(&PROTOCOL).ends_with(" mount").then(|| answered_elsewhere(observed));
                std::iter::once(requests).chain(waited).collect()
            }
            state => reading::evidence(point.number(&BLOCK), point.number(&QUEUE_DEPTH), state, observed),
        }
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }

    fn time_limit(&self, _: &Point) -> Duration {
        // Connecting, and bringing a distant server to the requested state, take round trips of their own.
        Duration::from_secs(40)
    }
}

/// Metadata that this machine has cached are returned without waiting.
fn answered_elsewhere(observed: &Observed) -> Check {
    let claim = "the answer came from elsewhere: sleeps of the caller per exchange";
    Check::within(claim, observed.per_operation(observed.counters.voluntary_switches), 0.5, 100.0)
}

/// Refuses a point whose protocol is not that of the file.
fn ensure_through(point: &Point, file: &RemoteFile) -> Result<(), Failure> {
    let through = point.name(&PROTOCOL);
    let is_it = match &file.address {
        RemoteAddress::Url(url) => through == url.protocol.scheme(),
        RemoteAddress::Mounted(_) => through.ends_with(" mount"),
    };
    if is_it { Ok(()) } else { Err(Failure::no_variant(&PROTOCOL, through)) }
}

fn opened(file: &RemoteFile) -> Result<Box<dyn Client>, Failure> {
    let mut client = remote::connect(&file.address, &file.access)?;
    client.open(&remote::path(&file.address))?;
    Ok(client)
}

fn reading(point: &Point, file: &RemoteFile, site: &Site) -> Result<RemoteReading, Failure> {
    RemoteReading::new(
        opened(file)?,
        file,
        &part(point, file.bytes, site)?,
        point.number(&QUEUE_DEPTH) as usize,
    )
}

fn part(point: &Point, file_bytes: u64, site: &Site) -> Result<FilePart, Failure> {
    if point.number(&FILE) > 0 {
        let random = point.name(&ORDER) == RANDOM;
        return FilePart::beginning(
            (file_bytes, point.number(&FILE)),
            point.number(&BLOCK),
            random,
            site.seed,
        );
    }
    let once = [SERVER_COLD, UNPROVED].contains(&point.name(&STATE));
    FilePart::of(file_bytes, point.number(&BLOCK), point.name(&ORDER) == RANDOM, once, site.seed)
}

/// The same reads of a local file, from the page cache.
fn local<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    if Remote::find(&Root::default(), &RemoteAddress::Mounted(site.folder.clone())).is_ok() {
        return Err(Failure::Unsupported(
            "the measured folder is itself on the network: for the comparison, name it with --remote, and a local \
             folder with --dir"
                .to_owned(),
        ));
    }
    let test = TestFile::named(site, "remote-compared", FILES[FILES.len() - 1], DiskQuota::DEFAULT)?;
    let part = part(point, test.bytes, site)?;
    RemoteReading::of_local(test, &part).client_cached().map(RemoteReading::timed)
}

fn exchange(file: &RemoteFile) -> Result<Workload<'static>, Failure> {
    let mut client = opened(file)?;
    client.exchange()?;
    let client = Rc::new(RefCell::new(client));
    let counted = Rc::clone(&client);
    let exchanges = move |n| (0..n).try_for_each(|_| client.borrow_mut().exchange());
    Ok(Workload::each(exchanges).witnessed(move || vec![("requests", counted.borrow().requests() as f64)]))
}

#[cfg(test)]
mod tests {
    use super::points::no_data;
    use super::*;
    use fathom_core::experiment::Access;

    #[test]
    fn mounts_are_asked_without_data_and_those_of_the_host_itself_are_not() {
        let remote = |through: &str| Remote {
            address: RemoteAddress::Mounted("/mnt".into()),
            through: through.to_owned(),
            source: None,
            options: None,
            here: false,
            route: None,
        };
        let asked = |through: &str| points(&remote(through)).contains(&no_data(through));
        assert!(asked("NFS mount") && asked("SMB mount") && asked("sshfs mount") && !asked("9p mount"));
    }

    #[test]
    fn attributes_that_nobody_waited_for_were_not_the_servers() {
        let holds = |slept| {
            let mut seen = fathom_described::observed(100, [("requests", 100.0)]);
            seen.counters.voluntary_switches = slept;
            RemoteRead.evidence(&no_data("NFS mount"), &seen).iter().all(|check| check.holds)
        };
        assert!(holds(100) && !holds(1));
    }

    #[test]
    fn attributes_can_be_asked_for_anew_wherever_the_kernel_has_the_call() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "x").unwrap();
        let mut client = remote::connect(&RemoteAddress::Mounted(path.clone()), &Access::default()).unwrap();
        client.open(&path.to_string_lossy()).unwrap();
        client.exchange().unwrap();
        assert_eq!(client.requests(), 1);
    }
}
