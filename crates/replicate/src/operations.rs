//! Operations that several reports measure alike: what differs between the reports are the protocol and the timer.

use super::protocol::{Span, TrialProtocol};
use super::timer::Timer;
use super::usage::Usage;
use super::{Series, Stage};
use fathom_core::experiment::{Failure, RemoteFile, ensure};
use fathom_core::quantities;
use fathom_core::sampling::partner::{self, PartnerProcess};
use fathom_core::sampling::turn;
use fathom_equipment::peer::ping::Ping;
use fathom_equipment::remote::{self, Client};
use socket2::{Domain, Protocol as Transport, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// The time to create a task, the mean of `count`; its end is waited for outside of the timed span.
pub fn creation<T: Timer, Task>(
    protocol: TrialProtocol,
    span: &Span<T>,
    count: u64,
    create: impl Fn() -> Result<Task, Failure>,
    end: impl Fn(Task) -> Result<(), Failure>,
) -> Result<Series, Failure> {
    let trial = || {
        let mut total = 0.0;
        for _ in 0..count {
            let mut task = None;
            total += span.ns(|| task = Some(create()));
            task.map_or(Ok(()), |task| end(task?))?;
        }
        Ok(total / count as f64)
    };
    Ok(Series::of(protocol.values(trial)?))
}

/// The two sides between which the CPU is switched.
#[derive(Clone, Copy)]
pub enum Between {
    /// A parent and its child.
    Processes,
    /// Two threads of a process.
    Threads,
}

/// How a report makes two sides switch.
pub struct Switching {
    pub between: Between,
    /// The CPU of the other side; `None` where the scheduler places it.
    pub cpu: Option<usize>,
    /// Round trips in a trial.
    pub rounds: u64,
    /// Switches that the report counts in a round trip.
    pub switches: f64,
}

impl Switching {
    /// A byte there and back through two pipes.
    pub fn measure<T: Timer>(self, protocol: TrialProtocol, span: &Span<T>) -> Result<Series, Failure> {
        let (mut near, far) = turn::pipes()?;
        let (_child, sides) = match self.between {
            Between::Processes => (Some(PartnerProcess::start(self.cpu, move || turn::echo(far))?), 1),
            Between::Threads => (partner::thread(self.cpu, move || turn::echo(far)).map(|()| None)?, 2),
        };
        let before = Usage::now();
        let values = protocol.values(|| {
            let mut played = Ok(());
            let ns = span.ns(|| {
                played = (0..self.rounds).try_for_each(|_| near.give().and_then(|()| near.wait()));
            });
            played.map(|()| ns / self.rounds as f64 / self.switches)
        })?;
        let round_trips = (protocol.trials as u64 * self.rounds * sides) as f64;
        let waits = quantities::number(Usage::now().since(before).voluntary as f64 / round_trips);
        let note = format!("In each round trip a side waited {waits} times and gave up its CPU.");
        Ok(Series::of(values).with_note(note))
    }
}

/// A function that adds up one element of each line of an array, and one that writes them.
pub type LineKernels = (fn(&[i32]) -> i32, fn(&mut [i32]));

/// The rates at which an array of so many bytes is read and then written, one element of each line of 64 bytes, all of which count;
/// of the array, whole groups of so many lines.
pub fn line_rates<T: Timer>(
    stage: &Stage,
    protocol: TrialProtocol,
    (bytes, group): (u64, usize),
    (read, write): LineKernels,
) -> Result<Series, Failure> {
    const LINE: usize = 64;
    let (tick_ns, lines) = (stage.ns_per_tick()?, bytes as usize / LINE / group * group);
    let rate = |ticks: i64| (lines * LINE) as f64 / (ticks as f64 * tick_ns) * 1e9;
    let mut array = vec![1_i32; lines * LINE / size_of::<i32>()];
    let reads = protocol.values(|| {
        let mut sum = 0;
        let ticks = T::ticks(|| sum = read(&array));
        ensure(sum == lines as i32, "the sum over the lines is wrong")?;
        Ok(rate(ticks))
    })?;
    let writes = protocol.values(|| Ok(rate(T::ticks(|| write(&mut array)))))?;
    Ok(Series::default().and("read", bytes as f64, reads).and("write", bytes as f64, writes))
}

/// The remote file that the run names, opened.
pub fn remote_file<'a>(stage: &'a Stage) -> Result<(&'a RemoteFile, Box<dyn Client>), Failure> {
    let file = match &stage.site.remote {
        Some(Ok(file)) => file,
        Some(Err(reason)) => return Err(Failure::Broke(reason.clone())),
        None => {
            return Err(Failure::Unsupported("no remote file was named; name one with --remote".to_owned()));
        }
    };
    let mut client = remote::connect(&file.address, &file.access)?;
    client.open(&remote::path(&file.address))?;
    Ok((file, client))
}

/// The memory that this process could have at most, page cache included, bytes.
pub fn memory_ceiling() -> Result<u64, Failure> {
    fathom_core::machine::memory_ceiling()
        .ok_or_else(|| Failure::Unsupported("the amount of memory is unknown".to_owned()))
}

pub fn broke(attempt: &'static str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Broke(format!("{attempt}: {error}"))
}

/// A server's socket at a free port of loopback, and its address.
pub fn listener() -> Result<(TcpListener, SocketAddr), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(broke("bind"))?;
    let address = listener.local_addr().map_err(broke("getsockname"))?;
    Ok((listener, address))
}

/// A socket for a TCP connection to an address, whose reads and writes end after a time.
pub fn tcp_socket(address: SocketAddr, timeout: Duration) -> Result<Socket, Failure> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Transport::TCP));
    let socket = socket.map_err(broke("socket"))?;
    set_timeouts(&socket, timeout)?;
    Ok(socket)
}

/// Ends the reads and writes of a socket after a time.
pub fn set_timeouts(socket: &Socket, timeout: Duration) -> Result<(), Failure> {
    socket.set_read_timeout(Some(timeout)).map_err(broke("SO_RCVTIMEO"))?;
    socket.set_write_timeout(Some(timeout)).map_err(broke("SO_SNDTIMEO"))
}

/// A TCP connection whose reads and writes end after a time.
pub fn tcp_stream(address: SocketAddr, timeout: Duration) -> Result<TcpStream, Failure> {
    let socket = tcp_socket(address, timeout)?;
    socket.connect(&address.into()).map_err(broke("connect"))?;
    Ok(socket.into())
}

/// Nanoseconds from an ICMP echo request to its reply; replies to earlier ones are passed over.
pub fn echo_ns(stage: &Stage, ping: &mut Ping, sequence: u16) -> std::io::Result<f64> {
    let began = stage.site.stopwatch.now_ns();
    ping.send(sequence)?;
    while ping.receive()? != sequence {}
    Ok(stage.site.stopwatch.now_ns() - began)
}

/// A sentence where the other host is a virtual one.
pub fn virtual_host(stage: &Stage) -> Option<String> {
    let is_virtual = stage.site.peer.as_ref().is_some_and(|peer| peer.is_virtual);
    is_virtual.then(|| {
        "The other host is a network namespace of this machine: there is no wire, and both share the processors.".to_owned()
    })
}
