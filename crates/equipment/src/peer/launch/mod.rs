//! Starting a peer: over ssh, in a network namespace, or not at all if it was started manually.
//!
//! A started peer reads the token on its standard input, where no list of processes shows it, and prints on its standard
//! output where it can be reached. It ends when its standard input does: with the ssh connection, or with this process.

pub mod namespace;
pub mod ssh;

use super::{PeerAddress, PeerSession, Token};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::process::Child;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The prefix of every line for this program: the shell at the other end may greet its user first.
const MARK: &str = "fathom-peer ";

/// The first word of the line that says where the peer listens.
const READY: &str = "ready";

/// The longest line of the other end, bytes: longer ones are no address.
const LONGEST_LINE: u64 = 64 << 10;

/// The most bytes of output before the peer runs: the shell at the other end may greet its user with a page of text.
const MOST_BYTES: u64 = 1 << 20;

/// The most lines for this program: one says that the binary is wanted, one that the token is, one where the peer listens.
const MOST_LINES: usize = 8;

/// The longest time that a peer may take to end after it was told to.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerSpec {
    /// A network namespace of this machine.
    Namespace,
    /// A peer that was started manually, at this address.
    At(SocketAddr),
    /// A host that ssh can reach.
    Host(String),
}

impl FromStr for PeerSpec {
    type Err = Infallible;

    /// ssh takes a port from its configuration and never after a colon, so an address with a port is that of a peer.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.parse() {
            Ok(address) => PeerSpec::At(address),
            Err(_) if text == "namespace" => PeerSpec::Namespace,
            Err(_) => PeerSpec::Host(text.to_owned()),
        })
    }
}

/// The reason why there is no peer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoPeer(pub String);

/// A peer that answers, with the process that keeps it.
#[derive(Debug)]
pub struct Launched {
    pub address: PeerAddress,
    /// The session that determines its lifetime.
    pub session: PeerSession,
    // Dropped after the session: the end of the session ends the peer, for which the process is then awaited.
    process: Option<Launcher>,
}

impl Launched {
    /// The process that serves here, or that reached the other host; `None` for a peer that was started manually.
    pub fn process(&self) -> Option<u32> {
        self.process.as_ref().map(|Launcher(process)| process.id())
    }

    /// The peer at the first of these addresses that answers, reserved for this run.
    fn hold(candidates: &[PeerAddress], process: Option<Launcher>) -> Result<Self, NoPeer> {
        let mut complaints = vec![];
        for address in candidates {
            let opened = PeerSession::open(address).and_then(|mut session| session.hold().map(|()| session));
            match opened {
                Ok(session) => return Ok(Launched { address: address.clone(), session, process }),
                Err(failure) => complaints.push(failure.to_string()),
            }
        }
        Err(NoPeer(complaints.join("; ")))
    }

    /// A peer that was started manually.
    pub fn at(address: SocketAddr, token: Token) -> Result<Self, NoPeer> {
        let (address, port) = (address.ip(), address.port());
        Launched::hold(&[PeerAddress { address, also: None, port, token, is_virtual: false }], None)
    }
}

/// The process that keeps a peer: ssh, or the peer itself.
#[derive(Debug)]
struct Launcher(Child);

impl Drop for Launcher {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        while let Ok(None) = self.0.try_wait() {
            if Instant::now() > deadline {
                let _ = self.0.kill();
                let _ = self.0.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The addresses of a started peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The addresses on which it listens.
    pub ips: Vec<IpAddr>,
    pub port: u16,
}

impl Ready {
    /// Prints it for the process that started this peer.
    pub fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{MARK}ready {}", serde_json::to_string(self)?)?;
        out.flush()
    }
}

/// Reads the token, which the starting process sends first.
pub fn read_token() -> io::Result<Token> {
    // Byte by byte, so that nothing that `wait_for_launcher` waits for is read in advance.
    let mut token = vec![];
    for byte in io::stdin().lock().bytes().take(1 << 10) {
        match byte? {
            b'\n' => return Ok(Token(String::from_utf8_lossy(&token).into_owned())),
            byte => token.push(byte),
        }
    }
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, "there was no token on standard input"))
}

/// Returns when the process that started this peer has gone.
pub fn wait_for_launcher() {
    // Whether the input ends or fails, the starting process has gone.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
}

/// The lines from the other end of a pipe, each with a timeout. The other host may say anything and without end: lines, their
/// sum and their number are limited, and nothing is read after the line that says where the peer is.
struct LineReader(Receiver<String>);

impl LineReader {
    fn by(out: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, line) = sync_channel(1);
        let read = move || {
            for line in lines(out).take(MOST_LINES) {
                let is_last = line.starts_with(READY);
                if sender.send(line).is_err() || is_last {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("peer output".to_owned()).spawn(read)?;
        Ok(LineReader(line))
    }

    /// The lines that a child writes to its standard output, which stays open: ssh would end with it.
    fn by_child(child: &mut Child) -> Result<Self, NoPeer> {
        let out = child
            .stdout
            .as_ref()
            .ok_or_else(|| NoPeer("the peer was started without its pipes".to_owned()))?;
        let copy = out.as_fd().try_clone_to_owned().map(File::from);
        copy.and_then(LineReader::by).map_err(|error| NoPeer(error.to_string()))
    }

    /// The next line: its first word and the rest. `None` at the end.
    fn next(&self, timeout: Duration) -> Result<Option<(String, String)>, NoPeer> {
        match self.0.recv_timeout(timeout) {
            Ok(line) => {
                let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
                Ok(Some((word.to_owned(), super::protocol::plain(rest))))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                Err(NoPeer(format!("the peer did not answer for {} s", timeout.as_secs())))
            }
        }
    }
}

/// The lines for this program, without their mark, up to the first that is too long.
fn lines(out: impl Read) -> impl Iterator<Item = String> {
    let mut out = io::BufReader::new(out.take(MOST_BYTES));
    let next = move || {
        let mut line = vec![];
        let length = Read::by_ref(&mut out).take(LONGEST_LINE).read_until(b'\n', &mut line).ok()?;
        (length > 0 && line.pop() == Some(b'\n')).then(|| String::from_utf8_lossy(&line).into_owned())
    };
    std::iter::from_fn(next).filter_map(|line| line.strip_prefix(MARK).map(str::to_owned))
}

fn ready(text: &str) -> Result<Ready, NoPeer> {
    serde_json::from_str(text)
        .map_err(|error| NoPeer(format!("the address that the peer reports is not understood: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The lines that are read, and how many bytes were read for them.
    fn lines_of(output: impl Read + Send + 'static) -> (Vec<String>, u64) {
        struct Counted<R>(R, Arc<AtomicU64>);
        impl<R: Read> Read for Counted<R> {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let read = self.0.read(into)?;
                self.1.fetch_add(read as u64, Ordering::Relaxed);
                Ok(read)
            }
        }
        let count = Arc::new(AtomicU64::new(0));
        let lines = LineReader::by(Counted(output, count.clone())).unwrap();
        let next =
            || lines.next(Duration::from_secs(20)).unwrap().map(|(word, rest)| format!("{word} {rest}"));
        (std::iter::from_fn(next).collect(), count.load(Ordering::Relaxed))
    }

    #[test]
    fn a_greeting_is_passed_over_and_nothing_is_read_after_the_address() {
        let output = "Welcome!\nfathom-peer want\nfathom-peer ready {}\nfathom-peer go\n";
        let (lines, read) = lines_of(output.as_bytes().chain(io::repeat(b'x').take(16 << 20)));
        assert_eq!(lines, ["want ", "ready {}"]);
        assert!(read <= 64 << 10, "{read} bytes were read");
    }

    #[test]
    fn an_endless_line_is_not_heard_and_takes_no_memory() {
        let endless = b"fathom-peer ready ".chain(io::repeat(b'x').take(16 << 20));
        let (lines, read) = lines_of(endless);
        assert!(lines.is_empty() && read <= 128 << 10, "{} lines of {read} bytes", lines.len());
    }

    #[test]
    fn lines_without_end_are_heard_to_their_limit() {
        struct Repeated(&'static str, usize);
        impl Read for Repeated {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let bytes = self.0.as_bytes();
                for place in into.iter_mut() {
                    *place = bytes[self.1 % bytes.len()];
                    self.1 += 1;
                }
                Ok(if self.1 > 16 << 20 { 0 } else { into.len() })
            }
        }
        assert_eq!(lines_of(Repeated("fathom-peer want\n", 0)).0.len(), MOST_LINES);
        let (lines, read) = lines_of(Repeated("Welcome!\n", 0));
        assert!(lines.is_empty() && read <= 2 * MOST_BYTES, "{read} bytes of greeting");
    }

    #[test]
    fn a_peer_is_a_namespace_an_address_with_a_port_or_a_host() {
        let spec = |text: &str| text.parse::<PeerSpec>().unwrap();
        assert_eq!(spec("namespace"), PeerSpec::Namespace);
        assert_eq!(spec("192.0.2.7:41"), PeerSpec::At(([192, 0, 2, 7], 41).into()));
        assert!(matches!(spec("[::1]:41"), PeerSpec::At(_)));
        assert_eq!(spec("192.0.2.7"), PeerSpec::Host("192.0.2.7".to_owned()));
        assert_eq!(spec("me@lab"), PeerSpec::Host("me@lab".to_owned()));
    }
}
