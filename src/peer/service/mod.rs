//! The work at the other end of a connection, on loopback and on a second host alike.
//!
//! Each service is a file. It binds a port that the system chooses, works in its own threads, counts its work in a
//! [`Tally`], and ends when its [`Running`] handle is stopped or dropped.

pub mod accept;
mod arrivals;
mod datagrams;
pub mod drain;
mod echo;
mod place;
mod processor_time;
mod running;
pub mod sink;
mod source;
mod stream;

pub use arrivals::{Arrival, Arrivals};
pub use place::Place;
pub use processor_time::processor_time;
pub use running::{Running, ServiceReport, Tally, Waking};
pub use source::Enough;
pub use stream::StreamOptions;

use crate::experiment::Failure;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A requested service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "service", rename_all = "snake_case")]
pub enum Service {
    /// Sends back every message.
    Echo {
        /// The protocol.
        transport: Transport,
        /// Bytes of a message; a stream is split into messages of this size.
        bytes: u32,
    },
    /// Reads streams to their ends, and times what arrives.
    Sink {
        /// The options of the streams.
        stream: StreamOptions,
        /// One byte is returned after every such number of bytes; no byte if `None`.
        acknowledged: Option<u32>,
        /// The time for which a new connection is not read, nanoseconds, so that the sender fills its buffers.
        #[serde(default)]
        reads_after_ns: u64,
    },
    /// Writes streams.
    Source {
        /// The options of the streams.
        stream: StreamOptions,
        /// The length of a stream.
        enough: Enough,
        /// Whether every chunk waits for a byte from the client, which then ends the stream.
        acknowledged: bool,
    },
    /// Counts and times datagrams.
    Datagrams {
        /// Bytes of each datagram.
        bytes: u32,
    },
    /// Accepts connections, greets each with one byte and waits for its end.
    Accept,
}

/// The transport of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A stream, without delay (`TCP_NODELAY`).
    Tcp,
    /// Datagrams.
    Udp,
}

/// The largest message that is echoed, bytes: a client cannot fill a peer's memory.
const LARGEST_MESSAGE: u32 = 64 << 20;

/// The largest datagram of IPv4, bytes (RFC 768 and 791: 65,535 less two headers).
const LARGEST_DATAGRAM: u32 = 65_507;

/// Begins a service: when this returns, its port can be reached.
pub fn serve(service: &Service, place: &Place) -> Result<Running, Failure> {
    ensure_bounded(service)?;
    match service {
        Service::Echo { transport: Transport::Tcp, bytes } => echo::tcp(*bytes, place),
        Service::Echo { transport: Transport::Udp, bytes } => echo::udp(*bytes as usize, place),
        Service::Sink { stream, acknowledged, reads_after_ns } => {
            sink::begin(*stream, *acknowledged, Duration::from_nanos(*reads_after_ns), place)
        }
        Service::Source { stream, enough, acknowledged } => {
            source::begin(*stream, *enough, *acknowledged, place)
        }
        Service::Datagrams { bytes } => datagrams::begin(*bytes, place),
        Service::Accept => accept::begin(place),
    }
}

/// Refuses messages of zero bytes, which would be complete at once and without end, and messages that would fill all memory.
fn ensure_bounded(service: &Service) -> Result<(), Failure> {
    let (bytes, most) = match service {
        Service::Echo { transport: Transport::Tcp, bytes } => (*bytes, LARGEST_MESSAGE),
        Service::Echo { transport: Transport::Udp, bytes } | Service::Datagrams { bytes } => {
            (*bytes, LARGEST_DATAGRAM)
        }
        Service::Sink { acknowledged: Some(bytes), .. } => (*bytes, u32::MAX),
        Service::Sink { .. } | Service::Source { .. } | Service::Accept => return Ok(()),
    };
    if (1..=most).contains(&bytes) {
        return Ok(());
    }
    Err(Failure::Unsupported(format!("messages of {bytes} bytes are not served")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpStream, UdpSocket};

    const STREAM: StreamOptions = StreamOptions { chunk: 1000, buffers: None };

    fn begun(service: &Service) -> (Running, (&'static str, u16)) {
        let running = serve(service, &Place::loopback(None)).unwrap();
        let at = ("127.0.0.1", running.port());
        (running, at)
    }

    #[test]
    fn a_sink_counts_every_byte_of_every_stream_and_ends_them_when_they_are_read() {
        let (running, at) = begun(&Service::Sink { stream: STREAM, acknowledged: None, reads_after_ns: 0 });
        for bytes in [100_000, 23] {
            let mut stream = TcpStream::connect(at).unwrap();
            stream.write_all(&vec![7; bytes]).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the sink has read it all");
        }
        let report = running.stop();
        assert_eq!((report.connections, report.received_bytes), (2, 100_023));
        assert_eq!(report.arrivals.last().unwrap().bytes, 100_023);
        assert!(report.arrivals.is_sorted_by_key(|arrival| (arrival.at_ns, arrival.bytes)));
    }

    #[test]
    fn a_sink_reads_when_it_was_told_to_and_nobody_lets_it_wait_for_long() {
        let late = |wait: Duration| Service::Sink {
            stream: STREAM,
            acknowledged: None,
            reads_after_ns: wait.as_nanos() as u64,
        };
        let (running, at) = begun(&late(Duration::from_millis(30)));
        let mut stream = TcpStream::connect(at).unwrap();
        stream.write_all(&[1; 5000]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        let report = running.stop();
        assert_eq!(report.received_bytes, 5000);
        assert!(report.arrivals[0].at_ns >= 30_000_000, "{report:?}");
        let refused = serve(&late(Duration::from_secs(2)), &Place::loopback(None));
        assert!(matches!(refused, Err(Failure::Unsupported(_))));
    }

    #[test]
    fn a_sink_that_acknowledges_answers_whole_messages_only() {
        let (running, at) =
            begun(&Service::Sink { stream: STREAM, acknowledged: Some(2500), reads_after_ns: 0 });
        let mut stream = TcpStream::connect(at).unwrap();
        for _ in 0..3 {
            stream.write_all(&[7; 2500]).unwrap();
            stream.read_exact(&mut [0]).unwrap();
        }
        stream.write_all(&[7; 2499]).unwrap();
        drop(stream);
        let report = running.stop();
        assert_eq!((report.messages, report.received_bytes), (3, 7500));
    }

    #[test]
    fn a_source_writes_at_least_what_is_enough_and_says_that_it_was_all() {
        let enough = Enough { ns: 1_000_000, bytes: 50_500 };
        let (running, at) = begun(&Service::Source { stream: STREAM, enough, acknowledged: false });
        let mut all = vec![];
        TcpStream::connect(at).unwrap().read_to_end(&mut all).unwrap();
        let report = running.stop();
        assert!(all.len() >= 51_000 && all.len() % 1000 == 0, "{}", all.len());
        assert_eq!(report.sent_bytes, all.len() as u64);
    }

    #[test]
    fn a_source_that_is_acknowledged_waits_for_its_client() {
        let enough = Enough { ns: 0, bytes: 0 };
        let (running, at) = begun(&Service::Source { stream: STREAM, enough, acknowledged: true });
        let mut stream = TcpStream::connect(at).unwrap();
        for _ in 0..3 {
            stream.write_all(&[1]).unwrap();
            stream.read_exact(&mut [0; 1000]).unwrap();
        }
        assert_eq!(running.stop().sent_bytes, 3000);
    }

    #[test]
    fn datagrams_of_another_size_are_not_counted() {
        let (running, at) = begun(&Service::Datagrams { bytes: 100 });
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for bytes in [100, 99, 100, 101, 0] {
            socket.send_to(&vec![7; bytes], at).unwrap();
        }
        // Loopback delivers in order, and the service reads in order: the wake-up comes after them.
        let report = running.stop();
        assert_eq!((report.messages, report.received_bytes), (2, 200));
    }

    #[test]
    fn connections_that_end_gracefully_are_told_from_those_that_are_reset() {
        let (running, at) = begun(&Service::Accept);
        for graceful in [true, false, true] {
            let mut stream = TcpStream::connect(at).unwrap();
            stream.read_exact(&mut [0]).unwrap();
            if graceful {
                stream.shutdown(Shutdown::Write).unwrap();
                assert_eq!(stream.read(&mut [0]).unwrap(), 0);
            } else {
                socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
            }
        }
        let report = running.stop();
        assert_eq!((report.connections, report.messages), (3, 2));
    }

    #[test]
    fn a_chunk_that_would_fill_the_memory_is_refused() {
        let stream = StreamOptions { chunk: u32::MAX, buffers: None };
        let refused =
            serve(&Service::Sink { stream, acknowledged: None, reads_after_ns: 0 }, &Place::loopback(None));
        assert!(matches!(refused, Err(Failure::Unsupported(_))));
    }
}
