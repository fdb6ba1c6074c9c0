//! Datagrams out and back: each has a number, so that a lost one is known from a late one.

use crate::experiment::{Failure, Stopwatch};
use crate::peer::other_side::OtherSide;
use crate::peer::ping::Ping;
use std::cell::Cell;
use std::io::{Error, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::rc::Rc;
use std::time::Duration;

/// A datagram that has not come back by then is lost. Far above any round trip on a network that serves interactive
/// work, and short enough for a few losses not to cost the trial its time.
pub const TIMEOUT: Duration = Duration::from_millis(250);

/// A way to send a numbered datagram and to receive its echo.
pub trait Numbered {
    /// Sends the datagram of this number.
    fn send(&mut self, number: u64) -> std::io::Result<()>;

    /// Waits for the next echo and tells the low bits of its number; an error of kind `WouldBlock` when the timeout ends.
    fn receive(&mut self) -> std::io::Result<u64>;

    /// Which bits of its number a datagram carries.
    fn mask(&self) -> u64;
}

/// UDP to an echo service.
pub struct Udp {
    /// The socket, connected.
    pub socket: UdpSocket,
    message: Vec<u8>,
    back: Vec<u8>,
    _other: OtherSide,
}

impl Udp {
    /// A socket for datagrams of so many bytes.
    pub fn open(bytes: usize, other: OtherSide) -> Result<Self, Failure> {
        let socket = connected(other.address)?;
        socket.set_read_timeout(Some(TIMEOUT)).map_err(|error| broke("SO_RCVTIMEO", &error))?;
        Ok(Udp { socket, message: vec![1; bytes], back: vec![0; bytes + 1], _other: other })
    }

    fn numbered(&self) -> usize {
        self.message.len().min(8)
    }
}

/// A UDP socket that talks to one address and hears nobody else.
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

/// What became of the datagrams.
#[derive(Debug, Default)]
pub struct DatagramCounts {
    /// Sent.
    pub sent: Cell<u64>,
    /// Not back in time.
    pub lost: Cell<u64>,
    /// Back after they had been given up, or twice.
    pub late: Cell<u64>,
}

impl DatagramCounts {
    /// One more of these.
    pub fn count(counter: &Cell<u64>) {
        counter.set(counter.get() + 1);
    }

    /// For the evidence.
    pub fn witness(&self) -> Vec<(&'static str, f64)> {
        let count = |counter: &Cell<u64>| counter.get() as f64;
        vec![(SENT, count(&self.sent)), (LOST, count(&self.lost)), (LATE, count(&self.late))]
    }
}

/// Witness: datagrams sent.
pub const SENT: &str = "datagrams_sent";
/// Witness: datagrams that did not come back in time, or did not arrive.
pub const LOST: &str = "datagrams_lost";
/// Witness: datagrams that came back after they had been given up, or twice.
pub const LATE: &str = "datagrams_late";

/// Round trips one after the other. A lost datagram is counted and observes nothing: it is not sent again.
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

/// Whether nothing came in time.
pub fn is_silence(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn broke(attempt: &str, error: &Error) -> Failure {
    Failure::Broke(format!("datagrams: {attempt}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{CoreWidth, Spin};
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

    /// Loses some numbers and delivers others late.
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
