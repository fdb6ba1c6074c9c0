//! What does it cost to read a block of a file on another machine, and what of it is the network?

mod findings;
mod points;
mod predicted;
mod reading;

use crate::experiment::{
    About, Bound, Check, Effort, Experiment, Failure, Finding, Known, Observed, Point, Prediction,
    RemoteFile, Requirement, Shown, Site, Workload,
};
use crate::machine::{Machine, Remote, RemoteAddress, Root};
use crate::remote::{self, Client};
use crate::test_file::{Room, TestFile};
use points::{
    BLOCK, CLIENT_CACHED, FILE, FILES, LOCAL, NO_DATA, ORDER, PROTOCOL, QUEUE_DEPTH, RANDOM, SEQUENTIAL,
    SERVER_CACHED, SERVER_COLD, SMALL, STATE, UNPROVED, block, points,
};
use reading::{Part, Reading};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// What is timed.
pub struct RemoteRead;

static ABOUT: About = About {
    name: "filesystem/remote_read",
    question: "What does it cost to read a block of a file on another machine, and what of it is the network?",
    operation: "one block of the file asked for, received whole and seen to be the right one",
    method: "The file is the one that --remote names, or one of 32 MiB of random bytes made in the folder that it (or \
             --dir, on a network mount) names, gone when the run ends. It is read through a mount, with pread, or by \
             clients written for this: sftp 3 over the user's own ssh (one connection for all trials), NFS 3 with AUTH_SYS over TCP, SMB 2. They send \
             one request and wait for its answer, unless `queue_depth` says more; nothing is cached, nothing else read ahead. A \
             block larger than a request may be takes several, one after the other. Every block is an observation, \
             and the first and last sectors of each are compared with what was written.\n\n\
             client-cached: this machine's page cache holds the blocks, as the kernel confirms before. server-cached: \
             this machine has read the blocks moments before and, through a mount, has then forgotten them, as the \
             kernel confirms; each is then read once. server-cold: the server was made to forget the file \
             (POSIX_FADV_DONTNEED) and its kernel (fincore) found no page of it, which takes an account that may run \
             programs there; where the server is this machine and the run is root's, all page cache is dropped (--thorough alone; \
             drop_caches) and the kernel counts what devices send; each block is read once. server unproved: blocks of a file that somebody else has made, \
             in a part that this trial has not read before: whether the server's memory or its disk serves them is \
             not known.\n\n\
             With `file` the beginning of the file of that size is read as a file of that size would be: all of its blocks, in \
             sequence or at random.\n\n\
             `no data` is the smallest exchange that the protocol has (sftp: FSTAT, NFS: NULL, SMB: ECHO; through a mount of NFS or SMB statx with \
             `AT_STATX_FORCE_SYNC`, for which the caller must be seen to have waited): network and \
             protocol without a file. A local file read in the same way in the same run is what the network's share is \
             told against. Nothing is pinned: the kernel's network threads, ssh and daemons of mounts work beside.",
    caveats: "A server may read ahead and cache beyond what its page cache shows, in a controller or, of a virtual \
              machine, in its host. Through a mount, sequential reads are read ahead by this machine's kernel, so that \
              a block may have arrived before it is asked for. sftp encrypts: its figures hold the ciphers of both \
              sides. Where the server is this machine, both sides share processors and memory, and there is no wire.",
    version: 2,
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

    fn requires(&self, _: &Point) -> Vec<Requirement> {
        vec![Requirement::Remote]
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        match point.name(&STATE) {
            // All of the machine's page cache is dropped.
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
        Some(Bound {
            limit: (50.0 + lines / 2.0) * known.shortest_cycle(),
            because: "the kernel is entered at least once, and of what it hands over at most two cache lines a cycle \
                      are copied"
                .to_owned(),
        })
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        point.ensure_variant(&STATE, &[NO_DATA, CLIENT_CACHED, SERVER_CACHED, SERVER_COLD, UNPROVED])?;
        point.ensure_variant(&ORDER, &[RANDOM, SEQUENTIAL])?;
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
            UNPROVED => Ok(reading(point, file, site)?.unproved(file)?.once(site)),
            state => Err(Failure::no_variant(&STATE, state)),
        }
    }

    fn evidence(&self, point: &Point, seen: &Observed) -> Vec<Check> {
        match point.name(&STATE) {
            NO_DATA => {
                let requests = Check::witnessed("requests sent per exchange", seen, "requests", 1.0, 1.0);
                let waited = point.name(&PROTOCOL).ends_with(" mount").then(|| answered_elsewhere(seen));
                std::iter::once(requests).chain(waited).collect()
            }
            state => reading::evidence(point.number(&BLOCK), point.number(&QUEUE_DEPTH), state, seen),
        }
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        findings::findings(known)
    }

    fn time_limit(&self, _: &Point) -> Duration {
        // Connecting, and bringing a far server to the state that is asked for, take round trips of their own.
        Duration::from_secs(40)
    }
}

/// What this machine itself remembers of a file is told without waiting.
fn answered_elsewhere(seen: &Observed) -> Check {
    let claim = "the answer came from elsewhere: times that the caller slept, per exchange";
    Check::within(claim, seen.per_operation(seen.counters.voluntary_switches), 0.5, 100.0)
}

/// Refuses a point that is read through something else than the file is.
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

fn reading(point: &Point, file: &RemoteFile, site: &Site) -> Result<Reading, Failure> {
    Reading::new(opened(file)?, file, &part(point, file.bytes, site)?, point.number(&QUEUE_DEPTH) as usize)
}

fn part(point: &Point, file_bytes: u64, site: &Site) -> Result<Part, Failure> {
    if point.number(&FILE) > 0 {
        let random = point.name(&ORDER) == RANDOM;
        return Part::beginning((file_bytes, point.number(&FILE)), point.number(&BLOCK), random, site.seed);
    }
    let once = [SERVER_COLD, UNPROVED].contains(&point.name(&STATE));
    Part::of(file_bytes, point.number(&BLOCK), point.name(&ORDER) == RANDOM, once, site.seed)
}

/// The same reads of a file of this machine, from its page cache.
fn local<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    if Remote::find(&Root::default(), &RemoteAddress::Mounted(site.folder.clone())).is_ok() {
        return Err(Failure::Unsupported(
            "the measured folder is on the network itself: name it by --remote, and a local one by --dir, to compare"
                .to_owned(),
        ));
    }
    let test = TestFile::kept(site, "remote-compared", FILES[FILES.len() - 1], Room::DEFAULT)?;
    let part = part(point, test.bytes, site)?;
    Reading::of_local(test, &part).client_cached().map(Reading::timed)
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
    use crate::experiment::Access;

    #[test]
    fn a_mount_of_the_kernel_is_asked_without_data_and_one_of_a_daemon_is_not() {
        let remote = |through: &str| Remote {
            address: RemoteAddress::Mounted("/mnt".into()),
            through: through.to_owned(),
            source: None,
            options: None,
            here: false,
            route: None,
        };
        let asked = |through: &str| points(&remote(through)).contains(&no_data(through));
        assert!(asked("NFS mount") && asked("SMB mount") && !asked("sshfs mount"));
    }

    #[test]
    fn attributes_that_nobody_waited_for_were_not_the_servers() {
        let holds = |slept| {
            let mut seen = Observed { operations: 100, ..Observed::default() };
            seen.counters.voluntary_switches = slept;
            seen.witnessed.insert("requests".to_owned(), 100.0);
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
