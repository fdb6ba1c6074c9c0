//! Datagrams and their echoes: each has a number, so that a lost one is distinguished from a late one.

use fathom_core::experiment::{Failure, Stopwatch};
use fathom_equipment::peer::other_side::OtherSide;
use fathom_equipment::peer::ping::Ping;
use std::cell::Cell;
use std::io::{Error, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::rc::Rc;
use std::time::Duration;

/// Time after which a datagram without an echo counts as lost. Far above any round trip on a network that serves interactive
/// work, and short enough that a few losses do not cost the trial its time.
pub const TIMEOUT: Duration = Duration::from_millis(250);

/// A way to send numbered datagrams and to receive their echoes.
pub trait Numbered {
    fn send(&mut self, number: u64) -> std::io::Result<()>;

    /// Waits for the next echo and returns the low bits of its number; an error of kind `WouldBlock` on timeout.
    fn receive(&mut self) -> std::io::Result<u64>;

    /// The bits of its number that a datagram carries.
    fn mask(&self) -> u64;
}

/// UDP to an echo service.
pub struct Udp {
    pub socket: UdpSocket,
    message: Vec<u8>,
    back: Vec<u8>,
    _other: OtherSide,
}

impl Udp {
    /// A socket for datagrams of this many bytes.
    pub fn open(bytes: usize, other: OtherSide) -> Result<Self, Failure> {
        let socket = connected(other.address)?;
        socket.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
        Ok(Udp { socket, message: vec![1; bytes], back: vec![0; bytes + 1], _other: other })
    }

    fn numbered(&self) -> usize {
        self.message.len().min(8)
    }
}

/// A UDP socket connected to one address, which receives from no other.
pub fn connected(address: SocketAddr) -> Result<UdpSocket, Failure> {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).map_err(|error| broke("bind", &error))?;
    socket.connect(address).map_err(|error| broke("connect", &error))?;
    Ok(socket)
}

impl Numbered for Udp {
    fn send(&mut self, number: u64) -> std::io::Result<()> {
        let bytes = self.numbered();
        self.message[..bytes].copy_from_slice(&number.to_le_bytes()[..bytes]);
        self.socket.send(&self.message).map(drop)
    }

    fn receive(&mut self) -> std::io::Result<u64> {
        loop {
            if self.socket.recv(&mut self.back)? == self.message.len() {
                let mut number = [0; 8];
                number[..self.numbered()].copy_from_slice(&self.back[..self.numbered()]);
                return Ok(u64::from_le_bytes(number));
            }
        }
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - 8 * self.numbered())
    }
}

impl Numbered for Ping {
    fn send(&mut self, number: u64) -> std::io::Result<()> {
        Ping::send(self, number as u16)
    }

    fn receive(&mut self) -> std::io::Result<u64> {
        Ping::receive(self).map(u64::from)
    }

    fn mask(&self) -> u64 {
        u64::from(u16::MAX)
    }
}

#[derive(Debug, Default)]
pub struct DatagramCounts {
    pub sent: Cell<u64>,
    /// Number without an echo in time.
    pub lost: Cell<u64>,
    /// Number of echoes that came after the timeout, or twice.
    pub late: Cell<u64>,
}

impl DatagramCounts {
    pub fn count(counter: &Cell<u64>) {
        counter.set(counter.get() + 1);
    }

    /// The counts as witnesses, for the evidence.
    pub fn witness(&self) -> Vec<(&'static str, f64)> {
        let count = |counter: &Cell<u64>| counter.get() as f64;
        vec![(SENT, count(&self.sent)), (LOST, count(&self.lost)), (LATE, count(&self.late))]
    }
}

pub const SENT: &str = "datagrams_sent";
/// Witness: datagrams whose echo was not in time, or that did not arrive.
pub const LOST: &str = "datagrams_lost";
/// Witness: datagrams whose echo came after the timeout, or twice.
pub const LATE: &str = "datagrams_late";

/// Round trips one after the other. A lost datagram is counted and yields no observation: it is not retransmitted.
pub fn closed_loop(
    mut way: impl Numbered,
    watch: &dyn Stopwatch,
    counts: Rc<DatagramCounts>,
) -> impl FnMut() -> Result<Option<f64>, Failure> {
    let mut number = 0;
    move || {
        number += 1;
        DatagramCounts::count(&counts.sent);
        let began = watch.now_ns();
        way.send(number).map_err(|error| broke("sending", &error))?;
        loop {
            match way.receive() {
                Ok(back) if back == number & way.mask() => return Ok(Some(watch.now_ns() - began)),
                Ok(_) => DatagramCounts::count(&counts.late),
                Err(error) if is_silence(&error) => {
                    DatagramCounts::count(&counts.lost);
                    return Ok(None);
                }
                Err(error) => return Err(broke("waiting for the answer", &error)),
            }
        }
    }
}

/// Whether the error is a timeout.
pub fn is_silence(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn broke(attempt: &str, error: &Error) -> Failure {
    Failure::Broke(format!("datagrams: {attempt}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_core::experiment::{CoreWidth, Spin};
    use std::collections::VecDeque;

    struct Always;

    impl Stopwatch for Always {
        fn stamp(&self) {}

        fn now_ns(&self) -> f64 {
            0.0
        }

        fn spin(&self, _: f64) -> Spin {
            Spin::default()
        }

        fn core(&self) -> CoreWidth {
            CoreWidth { addition_ns: 0.1, quotient: 1.0 }
        }
    }

    /// A channel that loses some numbers and delivers others late.
    #[derive(Default)]
    struct Bad {
        queue: VecDeque<u64>,
        kept: VecDeque<u64>,
    }

    impl Numbered for Bad {
        fn send(&mut self, number: u64) -> std::io::Result<()> {
            match number % 10 {
                3 => {}
                5 => self.kept.push_back(number),
                _ => {
                    self.queue.append(&mut self.kept);
                    self.queue.push_back(number);
                }
            }
            Ok(())
        }

        fn receive(&mut self) -> std::io::Result<u64> {
            self.queue.pop_front().map(|number| number & self.mask()).ok_or(ErrorKind::WouldBlock.into())
        }

        fn mask(&self) -> u64 {
            0xff
        }
    }

    #[test]
    fn lost_and_late_datagrams_are_counted_and_observe_nothing() {
        let counts = Rc::new(DatagramCounts::default());
        let mut observe = closed_loop(Bad::default(), &Always, Rc::clone(&counts));
        let observed = (0..1000).filter(|_| observe().unwrap().is_some()).count();
        assert_eq!(
            (observed, counts.sent.get(), counts.lost.get(), counts.late.get()),
            (800, 1000, 200, 100)
        );
    }
}
