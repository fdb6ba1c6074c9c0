//! What do operations on a file's name and attributes cost?

use super::directory;
use super::remote_read::no_data;
use crate::apparatus::filesystem::apart;
use crate::expected::device_facts;
use crate::expected::{kernel_service, mode_switch};
use fathom_core::machine::{Remote, RemoteAddress, Root, network_mount};
use fathom_core::prelude::*;
use fathom_equipment::test_file::blocks::below;
use fathom_equipment::test_file::{Dropped, drop_caches, new_file, refused, served, shared_path};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use std::cell::Cell;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

const OPERATION: Parameter = Parameter::named("operation", "what is done");

pub struct Metadata;

static ABOUT: About = About {
    name: "filesystem/metadata",
    question: "What do operations on a file's name and attributes cost?",
    operation: "the named operation on one file",
    method: "`create and delete` creates a new empty file, closes it and removes it; every return value is checked. \
             The file system may journal this later, or never. `open and close` and `stat, warm` use random files of \
             a tree of 1024 empty files in 32 folders, made once per run, whose names and attributes were just looked \
             up, so they are in the kernel's caches. The system calls of one operation are counted by tracing a \
             forked copy of the work.",
    caveats: "`stat, cold` drops the caches of the whole machine before each call (sync, and 3 into drop_caches), as reports 001 and 002 \
              do; so it needs root and `--whole-memory`. Without these the point is listed with the reason, so that the warm figure \
              is not mistaken for it. A file is created and deleted some hundred times in a directory of its own, so that ext4 without a \
              journal, which passes over every inode freed within the last minutes, has few to pass over (filesystem/directory).",
    version: 3,
    timed: Some(TimedCode {
        of: "a file created and removed",
        source: include_str!("metadata.rs"),
        begins: "fn create_and_delete<",
    }),
    parameters: &[OPERATION],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of("stat of a known name", &[("operation", At::Name("stat, warm"))]),
        MainFigure::of("create and delete", &[("operation", At::Name("create and delete"))]),
    ]),
};

const CREATE: &str = "create and delete";
const OPEN: &str = "open and close";
const STAT: &str = "stat, warm";
const COLD_STAT: &str = "stat, cold";
const MISSING: &str = "stat of a missing name";

const FOLDERS: usize = 32;
const FILES_OF_A_FOLDER: usize = 32;

impl Experiment for Metadata {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        [STAT, MISSING, OPEN, CREATE, COLD_STAT]
            .map(|operation| Point::new().named(&OPERATION, operation))
            .to_vec()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        if point.name(&OPERATION) == COLD_STAT { vec![Requirement::WholeMemory] } else { vec![] }
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        if [STAT, CREATE].contains(&point.name(&OPERATION)) { Effort::Quick } else { Effort::Standard }
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let operation = point.name(&OPERATION);
        let entered =
            kernel_service::entering(Prediction::new(), "entering the kernel", calls(operation), known);
        let (work, ns) = match operation {
            STAT | MISSING => ("a path of four names looked up, and attributes copied", Some(400.0)),
            OPEN => ("a path of four names looked up, a file object made and released", Some(900.0)),
            CREATE => ("a name and its inode made, and removed, each with its part of the journal", None),
            _ => ("the same as warm", Some(400.0)),
        };
        let prediction = match ns {
            Some(ns) => kernel_service::assumed(entered, work, ns, known),
            None => kernel_service::names_changed(entered, work, 2.0, known),
        };
        let kind = known.machine.storage.file_system.value().and_then(|name| network_mount(name));
        let prediction = match kind.filter(|_| exchanges(operation) > 0.0) {
            Some(kind) => prediction
                .hardware("an exchange with the server", exchanges(operation), exchange(kind, known))
                .being(TermEvent::WakeUp),
            None => prediction,
        };
        Ok(if operation == COLD_STAT {
            prediction.hardware("a block of inodes from the device", 1.0, device_facts::random_read(known))
        } else {
            prediction
        })
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        Some(mode_switch::bound(calls(point.name(&OPERATION)), "every call enters", known))
    }

    fn touches(&self, point: &Point) -> Vec<Touch> {
        let drops = (point.name(&OPERATION) == COLD_STAT).then_some(Touch::DropCaches);
        std::iter::once(Touch::Names).chain(drops).collect()
    }

    fn waits_for_the_device(&self, point: &Point) -> bool {
        point.name(&OPERATION) == COLD_STAT
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let is_mounted = Remote::find(&Root::default(), &RemoteAddress::Mounted(site.folder.clone())).is_ok();
        let work = prepared(point, site)?;
        Ok(if is_mounted { work.stating(MOUNTED, 1.0) } else { work })
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        beside_each_other(known).into_iter().collect()
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        if point.name(&OPERATION) == COLD_STAT {
            let claim = "the device was asked: bytes read from devices per call";
            return vec![Check::witnessed(claim, observed, SERVED, 512.0, 1e9)];
        }
        if observed.witness(MOUNTED).is_some() && exchanges(point.name(&OPERATION)) > 0.0 {
            let claim = "the server was asked: voluntary switches per operation";
            let switches = observed.per_operation(observed.counters.voluntary_switches);
            return vec![
                Check::within(claim, switches, 0.9, f64::INFINITY),
                Check::system_calls(observed, calls(point.name(&OPERATION))),
            ];
        }
        let waited = Check::within(
            "nothing waited for a device: voluntary switches per operation",
            observed.per_operation(observed.counters.voluntary_switches),
            0.0,
            if point.name(&OPERATION) == CREATE { 0.2 } else { 0.001 },
        );
        vec![waited, Check::system_calls(observed, calls(point.name(&OPERATION)))]
    }
}

/// The operations beside each other, and beside names that are new each time.
fn beside_each_other(known: &Known) -> Option<Finding> {
    let of = |operation| known.found(ABOUT.name, &Point::new().named(&OPERATION, operation));
    let stat = of(STAT)?;
    let others = [
        (MISSING, "the attributes of one missing name, the same each time,"),
        (OPEN, "opening and closing one of them"),
        (CREATE, "creating, closing and removing a file of one name"),
    ];
    let others = others.into_iter().filter_map(|(operation, text)| {
        let time = of(operation).filter(|time| time.is_of_the_state_of(&stat))?;
        Some(statement!("{text} {time}", text, time = time.beside(stat, operation, STAT)))
    });
    let others: Vec<Statement> = others.collect();
    let compared = others.len();
    let others = Statement::joined(others, "; ")?;
    let beside = of(CREATE).and(directory::made_and_removed(known)).map(|both| {
        statement!(
            " Where each name is new, in a directory of many, creating and removing take {both} (filesystem/directory).",
            both = both.named("creating and removing new names")
        )
    });
    Some(
        finding!(
            Question::Experiment,
            "Looking up the attributes of one of {files} known files takes {stat}; {others}.{beside}",
            files = (FOLDERS * FILES_OF_A_FOLDER).to_string(),
            stat = stat.named(STAT),
            others,
            beside
        )
        .comparing(compared),
    )
}

/// Stated: that the folder is on a network mount, whose server is asked.
const MOUNTED: &str = "on_a_network_mount";

/// Exchanges with the server of a network mount that an operation waits for: a missing name is looked up each time, a file is opened and
/// closed there, made, opened, closed and removed. Attributes of a known name are kept for a time.
fn exchanges(operation: &str) -> f64 {
    match operation {
        MISSING => 1.0,
        OPEN => 2.0,
        CREATE => 4.0,
        _ => 0.0,
    }
}

/// An exchange without data, as measured by remote reads of this run.
fn exchange(kind: &str, known: &Known) -> Basis {
    let measured = known.measured("filesystem/remote_read", &no_data(&format!("{kind} mount")));
    let is_here = known.machine.storage.remote.as_ref().is_some_and(Remote::is_here);
    let (ns, reason) = if is_here {
        (30e3, "two processes woken on this machine")
    } else {
        (200e3, "a switched local network: 0.2 ms")
    };
    measured.unwrap_or_else(|| Basis::assumed(ns, reason))
}

fn prepared<'site>(point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
    match point.name(&OPERATION) {
        CREATE => create_and_delete(site),
        OPEN => over_the_tree(site, open_and_close),
        STAT => over_the_tree(site, |path| stat(path, 0)),
        MISSING => {
            let missing = c_path(&shared_path(site, "missing")?)?;
            Ok(Workload::batched(move |n| (0..n).try_for_each(|_| stat(&missing, -1))).traced())
        }
        COLD_STAT => cold_stat(site),
        operation => Err(Failure::no_variant(&OPERATION, operation)),
    }
}

fn calls(operation: &str) -> f64 {
    match operation {
        CREATE => 3.0,
        OPEN => 2.0,
        _ => 1.0,
    }
}

fn c_path(path: &Path) -> Result<CString, Failure> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Failure::Broke(format!("{} cannot be a path", path.display())))
}

fn stat(path: &CString, expected: libc::c_int) -> Result<(), Failure> {
    // SAFETY: a stat is plain integers, for which zero is valid, and the path ends with a zero.
    let returned = unsafe {
        let mut attributes: libc::stat = std::mem::zeroed();
        libc::stat(path.as_ptr(), &raw mut attributes)
    };
    if returned == expected { Ok(()) } else { Err(Failure::last(&format!("stat gave {returned}"))) }
}

fn open_and_close(path: &CString) -> Result<(), Failure> {
    // SAFETY: the path ends with a zero, and the descriptor is closed once.
    unsafe {
        let descriptor = errno("open", libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC))?;
        errno("close", libc::close(descriptor)).map(drop)
    }
}

/// The first call after the caches were dropped, each by itself.
fn cold_stat<'site>(site: &'site Site) -> Result<Workload<'site>, Failure> {
    let paths = tree(site)?;
    let mut chance = SplitMix64::seed_from_u64(site.seed);
    let from_devices = Rc::new(Cell::new(Some(0.0)));
    let counted = Rc::clone(&from_devices);
    let observe = move || {
        let path = &paths[below(&mut chance, paths.len() as u64) as usize];
        drop_caches(Dropped::All)?;
        let (before, began) = (served(), site.stopwatch.now_ns());
        stat(path, 0)?;
        let took = site.stopwatch.now_ns() - began;
        let more = served().zip(before).map(|(after, before)| after - before);
        from_devices.set(from_devices.get().zip(more).map(|(sum, more)| sum + more));
        Ok(Some(took))
    };
    let counts = move || counted.get().map(|bytes| (SERVED, bytes)).into_iter().collect();
    Ok(Workload::recorded(observe).cold().witnessed(counts))
}

/// Witnessed: bytes that devices served during the calls.
const SERVED: &str = "bytes_from_device";

/// The file belongs to this trial alone, in a directory of its own, apart from those of earlier trials: what they removed is in nobody's
/// way. If the trial is killed, the run removes it.
fn create_and_delete<'site>(site: &Site) -> Result<Workload<'site>, Failure> {
    let folder = apart::directories(site)?.join(format!("created-{}", std::process::id()));
    there_already(std::fs::create_dir(&folder)).map_err(|error| refused("made", &folder, &error))?;
    let place = folder.join("file");
    let once = new_file(&place).and_then(|_| std::fs::remove_file(&place));
    once.map_err(|error| refused("made", &place, &error))?;
    let path = c_path(&place)?;
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC;
    let create = move |n| {
        for _ in 0..n {
            // SAFETY: the path ends with a zero, and the descriptor is closed once.
            unsafe {
                let descriptor = errno("open of a new file", libc::open(path.as_ptr(), flags, 0o600))?;
                errno("close", libc::close(descriptor))?;
                errno("unlink", libc::unlink(path.as_ptr()))?;
            }
        }
        Ok(())
    };
    Ok(Workload::each(create).traced())
}

/// An action on randomly drawn files of the tree.
fn over_the_tree<'site>(
    site: &Site,
    operation: fn(&CString) -> Result<(), Failure>,
) -> Result<Workload<'site>, Failure> {
    let paths = tree(site)?;
    paths.iter().try_for_each(operation)?;
    let mut chance = SplitMix64::seed_from_u64(site.seed);
    let act =
        move |n| (0..n).try_for_each(|_| operation(&paths[below(&mut chance, paths.len() as u64) as usize]));
    Ok(Workload::batched(act).traced())
}

/// The paths of the tree, which the first trial that needs it creates.
fn tree(site: &Site) -> Result<Vec<CString>, Failure> {
    let mut paths = Vec::with_capacity(FOLDERS * FILES_OF_A_FOLDER);
    for number in 0..FOLDERS {
        let folder = shared_path(site, &format!("folder{number}"))?;
        there_already(std::fs::create_dir(&folder)).map_err(|error| refused("made", &folder, &error))?;
        for number in 0..FILES_OF_A_FOLDER {
            let file = folder.join(format!("file{number}"));
            there_already(new_file(&file).map(drop)).map_err(|error| refused("made", &file, &error))?;
            paths.push(c_path(&file)?);
        }
    }
    Ok(paths)
}

/// Accepts what an earlier trial has created: nobody else can have created it in the folder of the run.
fn there_already(created: io::Result<()>) -> io::Result<()> {
    created.or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
}
