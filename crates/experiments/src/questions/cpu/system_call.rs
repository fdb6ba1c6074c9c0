//! What does a system call cost, from an empty one to small services?

use super::{procedure_call, timing_overhead};
use crate::apparatus::cpu::{signal, watched};
use crate::expected::mode_switch;
use fathom_core::prelude::*;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// How the calls that read a clock begin.
const CLOCK: &str = "clock_gettime by ";
pub const CALL: Parameter = Parameter::named("call", "the system call");

pub struct SystemCall;

static ABOUT: About = About {
    name: "cpu/system_call",
    question: "What does a system call cost, from an empty one to small services?",
    operation: "the call or calls named, once, with the return values checked",
    method: "Calls are repeated in batches; every return value is checked inside the timed loop, because failing \
             calls are fast. A number that is no call's is entering the kernel and leaving it, and no service: the kernel \
             answers that there is none. `getppid` is next to it, and what reports call an empty call: no library caches \
             it, and the kernel reads one number for it. `getpid` is called directly and through the library, `clock_gettime` as a system call \
             and through the library, which may answer from the vDSO without entering the kernel. Writing no bytes to \
             /dev/null is lmbench's null write; reading one byte of /dev/zero is the same for reading.\n\nThe number \
             of system calls of one operation is counted by tracing a forked copy of the work. The machine's \
             description lists the mitigations in force, which can double these figures.",
    caveats: "`getppid, one by one` is timed between fences, which add to its time; it is measured for its \
              distribution. Loops keep caches and branch predictors warm: a program that does other work between its \
              calls pays more.",
    version: 1,
    timed: Some(TimedCode {
        of: "getppid, by its number",
        source: include_str!("system_call.rs"),
        begins: "fn getppid(",
    }),
    parameters: &[CALL],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::leading("getppid", &[("call", At::Name("getppid"))]).called("system call (getppid)"),
        MainFigure::of("write to /dev/null", &[("call", At::Name("write nothing to /dev/null"))]),
        MainFigure::of("deliver a signal", &[("call", At::Name(DELIVERY))]),
        MainFigure::of("select on 100 descriptors", &[("call", At::Name("select on 100"))]),
        MainFigure::of("epoll on 100 descriptors", &[("call", At::Name("epoll on 100"))]),
    ]),
};

const BARE: &str = "getppid";

/// Entering the kernel and leaving it, without a service.
const NO_CALL: &str = "a number that is no call's";

/// The bare entry between two readings of the clock, as in reports 002 and 003; also its distribution.
const ONE_BY_ONE: &str = "getppid, one by one";

/// The calls that do next to nothing in the kernel: one predictor for all of them.
const EMPTY: [&str; 4] = [BARE, ONE_BY_ONE, "getpid", "getpid by library"];

const DELIVERY: &str = "deliver a signal";
const PROTECTION_FAULT: &str = "catch a protection fault";

type Prepare = fn() -> Result<Box<dyn Operation>, Failure>;

/// A service: its name, the number of its system calls, the expected cost of its work beyond the entry (nanoseconds, with the
/// reason), and its preparation.
struct CallService {
    name: &'static str,
    system_calls: f64,
    work_ns: f64,
    why: &'static str,
    prepare: Prepare,
    /// The device whose file it opens, if not every system has it.
    device: Option<&'static str>,
}

macro_rules! service {
    ($name:expr, $calls:literal, $work:literal, $why:literal, $prepare:expr) => {
        service!($name, $calls, $work, $why, $prepare; None)
    };
    ($name:expr, $calls:literal, $work:literal, $why:literal, $prepare:expr; $device:expr) => {
        CallService { name: $name, system_calls: $calls, work_ns: $work, why: $why, prepare: $prepare, device: $device }
    };
}

const SERVICES: &[CallService] = &[
    service!(NO_CALL, 1.0, 0.0, "nothing", no_call),
    service!(BARE, 1.0, 3.0, "the parent's id, read under RCU", getppid),
    service!(ONE_BY_ONE, 1.0, 3.0, "the parent's id, read under RCU", getppid),
    service!("getpid", 1.0, 3.0, "one id", getpid_raw),
    service!("getpid by library", 1.0, 3.0, "one id; glibc has not cached it since 2.25", getpid_library),
    service!(
        "write nothing to /dev/null",
        1.0,
        40.0,
        "descriptor, permission and length checks",
        write_null; Some("/dev/null")
    ),
    service!(
        "read a byte of /dev/zero",
        1.0,
        60.0,
        "descriptor checks and a byte cleared in user memory",
        read_zero; Some("/dev/zero")
    ),
    service!("stat", 1.0, 450.0, "a path of two components looked up in the directory cache", stat),
    service!("fstat", 1.0, 120.0, "attributes copied out", fstat),
    service!("open and close", 2.0, 900.0, "path lookup, a file object made and freed", open_close),
    service!("clock_gettime by syscall", 1.0, 40.0, "the counter read and scaled", clock_system_call),
    service!(
        "clock_gettime by library",
        0.0,
        25.0,
        "the counter read and scaled in user space",
        clock_library
    ),
    service!("select on 10", 1.0, 300.0, "10 descriptors at about 25 ns", watched::select::<10>),
    service!("select on 100", 1.0, 2500.0, "100 descriptors at about 25 ns", watched::select::<100>),
    service!("poll on 10", 1.0, 350.0, "10 descriptors at about 30 ns", watched::poll::<10>),
    service!("poll on 100", 1.0, 3000.0, "100 descriptors at about 30 ns", watched::poll::<100>),
    service!(
        "epoll on 10",
        1.0,
        120.0,
        "one ready descriptor, whatever the number watched",
        watched::epoll::<10>
    ),
    service!(
        "epoll on 100",
        1.0,
        120.0,
        "one ready descriptor, whatever the number watched",
        watched::epoll::<100>
    ),
    service!("install a signal handler", 1.0, 60.0, "two structures copied", signal::install),
    service!(
        "deliver a signal",
        3.0,
        700.0,
        "a frame built on the stack, the handler, and the return from it",
        signal::deliver
    ),
    service!(
        "catch a protection fault",
        0.0,
        900.0,
        "a fault instead of a call, delivered as a signal",
        signal::fault
    ),
];

impl Experiment for SystemCall {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        SERVICES.iter().map(|service| point(service.name)).collect()
    }

    fn core_share(&self, point: &Point, machine: &Machine) -> Option<CoreShare> {
        if point.name(&CALL).starts_with(CLOCK) {
            CoreShare::of_kernel_clock(machine)
        } else {
            Some(CoreShare::NEARLY_WHOLE)
        }
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        let device = find(point).ok().and_then(|service| service.device);
        device.map(Requirement::File).into_iter().collect()
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        let service = find(point).map_err(|error| error.to_string())?;
        if service.name == PROTECTION_FAULT {
            let delivery = known.measured_or(
                ABOUT.name,
                &self::point(DELIVERY),
                1_000.0,
                "a signal delivered in about 1 µs",
            );
            return Ok(Prediction::new().software(
                "a signal delivered, for a fault instead of a call",
                1.0,
                delivery,
            ));
        }
        if let Some(way) = service.name.strip_prefix(CLOCK) {
            return Ok(timing_overhead::clock_gettime(way, known));
        }
        let mut prediction = Prediction::new();
        if service.name == NO_CALL {
            return Ok(mode_switch::predicted_alone(known));
        } else if EMPTY.contains(&service.name) {
            prediction = mode_switch::predicted(known);
        } else if service.system_calls > 0.0 {
            let entered = ("entering the kernel", service.system_calls);
            prediction = mode_switch::entering(prediction, entered, measured_entry(known), known);
        }
        let work = Basis::assumed(service.work_ns, "estimated from the path in the kernel");
        let prediction = prediction.software(service.why, 1.0, work);
        if service.system_calls == 0.0 {
            return Ok(prediction);
        }
        let returns = service.work_ns / known.cycle().value / mode_switch::CYCLES_A_RETURN;
        Ok(mode_switch::unpredicted_returns(prediction, returns, known))
    }

    fn bound(&self, point: &Point, known: &Known) -> Option<Bound> {
        let enters = find(point).is_ok_and(|service| service.system_calls > 0.0);
        enters.then(|| {
            Bound::of(
                40.0 * known.shortest_cycle(),
                "SYSCALL and SYSRET alone take some forty cycles on every x86-64 core",
            )
        })
    }

    fn prepare<'site>(&self, point: &Point, _: &'site Site) -> Result<Workload<'site>, Failure> {
        let service = find(point)?;
        let mut operation = (service.prepare)()?;
        let work = move |n| operation.run(n);
        let workload =
            if service.name == ONE_BY_ONE { Workload::each(work) } else { Workload::batched(work) };
        // A tracer stops at the signals of the last two first; their handlers count them as witnesses.
        Ok(if service.name == PROTECTION_FAULT {
            workload.witnessed(signal::witness)
        } else {
            workload.traced()
        })
    }

    fn evidence(&self, point: &Point, observed: &Observed) -> Vec<Check> {
        let Ok(service) = find(point) else { return vec![] };
        if service.name == PROTECTION_FAULT {
            let claim = "protection faults that the handler caught, per operation claimed";
            return vec![Check::witnessed(claim, observed, signal::CAUGHT, 1.0, 1.0)];
        }
        vec![Check::system_calls(observed, service.system_calls)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        [in_procedure_calls(known), id_cached(known), time_cached(known)].into_iter().flatten().collect()
    }
}

/// The point of a service, also for other experiments.
pub fn point(name: &str) -> Point {
    Point::new().named(&CALL, name)
}

pub fn bare() -> Point {
    point(BARE)
}

/// Entering and leaving the kernel as measured in this run: without a service, else with next to none.
pub fn measured_entry(known: &Known) -> Option<Basis> {
    [NO_CALL, BARE].into_iter().find_map(|call| known.measured(ABOUT.name, &point(call)))
}

/// The cost of a bare entry in procedure calls.
fn in_procedure_calls(known: &Known) -> Option<Finding> {
    let entry = known.found(ABOUT.name, &point("getppid"))?;
    let procedure = known.found("cpu/procedure_call", &procedure_call::bare())?;
    Some(finding!(
        Question::SystemCall,
        "getppid, a system call that does next to nothing, takes {entry}, entering the kernel and leaving it included; a procedure \
         call without arguments takes {procedure}: {ratio}.",
        entry = entry.named("system call"),
        procedure = procedure.named("procedure call"),
        ratio = entry.times_as("much", procedure, "system call over procedure call")
    ))
}

/// Whether the C library caches `getpid`, as older versions did.
fn id_cached(known: &Known) -> Option<Finding> {
    let raw = known.found(ABOUT.name, &point("getpid"))?;
    let library = known.found(ABOUT.name, &point("getpid by library"))?;
    let judged = match raw.differs_from(&library) {
        Some(true) if library.value < raw.value / 2.0 => "the library caches the answer",
        Some(_) => "the library does not cache the answer",
        None => "too few trials to tell whether the library caches the answer",
    };
    Some(finding!(
        Question::SystemCall,
        "getpid takes {raw} as a system call and {library} through the library: {judged}.",
        raw = raw.named("getpid by system call"),
        library = library.named("getpid by library")
    ))
}

/// The time saved by reading the clock without entering the kernel.
fn time_cached(known: &Known) -> Option<Finding> {
    let kernel = known.found(ABOUT.name, &point("clock_gettime by syscall"))?;
    let library = known.found(ABOUT.name, &point("clock_gettime by library"))?;
    Some(finding!(
        Question::SystemCall,
        "The time from the library takes {library}, as a system call {kernel}: {ratio}.",
        library = library.named("clock_gettime by library"),
        kernel = kernel.named("clock_gettime by system call"),
        ratio = kernel.times_as("much", library, "system call over library, clock_gettime")
    ))
}

fn find(point: &Point) -> Result<&'static CallService, Failure> {
    let service = SERVICES.iter().find(|service| service.name == point.name(&CALL));
    service.ok_or_else(|| Failure::Broke(format!("there is no service {}", point.name(&CALL))))
}

/// A number above every call's, on every architecture.
const NUMBER: libc::c_long = 0xffff;

fn no_call() -> Result<Box<dyn Operation>, Failure> {
    let answer = || {
        // SAFETY: takes no arguments.
        let returned = unsafe { libc::syscall(NUMBER) };
        (returned, std::io::Error::last_os_error().raw_os_error())
    };
    if answer() != (-1, Some(libc::ENOSYS)) {
        return Err(Failure::Unsupported(
            "a filter of system calls answers, in place of the kernel".to_owned(),
        ));
    }
    // SAFETY: takes no arguments.
    repeated(|| ensure(unsafe { libc::syscall(NUMBER) } == -1, "a number that is no call's was answered"))
}

fn getppid() -> Result<Box<dyn Operation>, Failure> {
    // SAFETY: takes no arguments.
    repeated(|| errno("getppid", unsafe { libc::syscall(libc::SYS_getppid) }))
}

fn getpid_raw() -> Result<Box<dyn Operation>, Failure> {
    // SAFETY: takes no arguments.
    repeated(|| errno("getpid", unsafe { libc::syscall(libc::SYS_getpid) }))
}

fn getpid_library() -> Result<Box<dyn Operation>, Failure> {
    // SAFETY: takes no arguments.
    repeated(|| errno("getpid", unsafe { libc::getpid() }))
}

fn open(path: &CStr, flags: libc::c_int) -> Result<OwnedFd, Failure> {
    // SAFETY: a C string; the descriptor is owned here alone.
    unsafe {
        let descriptor = errno("open", libc::open(path.as_ptr(), flags | libc::O_CLOEXEC))?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

fn write_null() -> Result<Box<dyn Operation>, Failure> {
    let null = open(c"/dev/null", libc::O_WRONLY)?;
    // SAFETY: the empty buffer is not read.
    repeated(move || errno("write", unsafe { libc::write(null.as_raw_fd(), c"".as_ptr().cast(), 0) }))
}

fn read_zero() -> Result<Box<dyn Operation>, Failure> {
    let zero = open(c"/dev/zero", libc::O_RDONLY)?;
    let mut byte = 0_u8;
    repeated(move || {
        // SAFETY: a buffer of one byte.
        let read = unsafe { libc::read(zero.as_raw_fd(), (&raw mut byte).cast(), 1) };
        ensure(read == 1, "read of a byte of /dev/zero did not return it")
    })
}

fn stat() -> Result<Box<dyn Operation>, Failure> {
    // SAFETY: a stat is plain integers.
    let mut attributes: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a C string and a valid stat.
    repeated(move || errno("stat", unsafe { libc::stat(c"/dev/null".as_ptr(), &raw mut attributes) }))
}

fn fstat() -> Result<Box<dyn Operation>, Failure> {
    let null = open(c"/dev/null", libc::O_RDONLY)?;
    // SAFETY: a stat is plain integers.
    let mut attributes: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor and a valid stat.
    repeated(move || errno("fstat", unsafe { libc::fstat(null.as_raw_fd(), &raw mut attributes) }))
}

fn open_close() -> Result<Box<dyn Operation>, Failure> {
    repeated(|| {
        // SAFETY: a C string; the descriptor is closed here and nowhere else.
        unsafe {
            let descriptor = errno("open", libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY))?;
            errno("close", libc::close(descriptor))
        }
    })
}

fn clock_system_call() -> Result<Box<dyn Operation>, Failure> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    repeated(move || {
        // SAFETY: a valid timespec.
        let returned =
            unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut time) };
        errno("clock_gettime", returned)
    })
}

fn clock_library() -> Result<Box<dyn Operation>, Failure> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    repeated(move || {
        // SAFETY: a valid timespec.
        errno("clock_gettime", unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) })
    })
}
