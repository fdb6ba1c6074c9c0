//! The work at the other end of a connection, on loopback and on a second host alike.
//!
//! Each service is a file. It binds a port that the system chooses, works in its own threads, counts its work in a
//! [`ServiceTally`], and ends when its [`Running`] handle is stopped or dropped.

pub mod accept;
mod arrivals;
mod datagrams;
pub mod drain;
mod echo;
mod place;
mod running;
pub mod sink;
mod source;
mod stream;
mod stream_beginning;

pub use arrivals::{Arrival, Arrivals};
pub use place::Place;
pub use running::{Running, ServiceReport, ServiceTally, Waking, processor_time};
pub use source::Enough;
pub use stream::StreamOptions;
pub use stream_beginning::{StreamBeginning, is_searching};

use fathom_core::experiment::Failure;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "service", rename_all = "snake_case")]
pub enum Service {
    /// Sends back every message.
    Echo {
        transport: Transport,
        /// Bytes of a message; a stream is split into messages of this size.
        bytes: u32,
    },
    /// Reads streams to their ends, and times what arrives.
    Sink {
        stream: StreamOptions,
        /// One byte is returned after every such number of bytes; no byte if `None`.
        acknowledged: Option<u32>,
        /// The time for which a new connection is not read, nanoseconds, so that the sender fills its buffers.
        #[serde(default)]
        reads_after_ns: u64,
    },
    /// Writes streams.
    Source {
        stream: StreamOptions,
        /// The length of a stream.
        enough: Enough,
        /// Whether every chunk waits for a byte from the client, which then ends the stream.
        acknowledged: bool,
        /// Whether a stream's length counts from the end of its beginning.
        #[serde(default)]
        begins_before: bool,
    },
    /// Counts and times datagrams.
    Datagrams { bytes: u32 },
    /// Accepts connections, greets each with one byte and waits for its end.
    Accept,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// A stream, without delay (`TCP_NODELAY`).
    Tcp,
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
        Service::Source { stream, enough, acknowledged, begins_before } => {
            source::begin(*stream, *enough, (*acknowledged, *begins_before), place)
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

    fn sink(chunk: u32, reads_after: Duration) -> Service {
        let stream = StreamOptions { chunk, buffers: None };
        Service::Sink { stream, acknowledged: None, reads_after_ns: reads_after.as_nanos() as u64 }
    }

    #[test]
    fn what_would_fill_the_memory_or_let_a_client_wait_for_long_is_refused() {
        for refused in [sink(u32::MAX, Duration::ZERO), sink(1000, Duration::from_secs(2))] {
            assert!(
                matches!(serve(&refused, &Place::loopback(None)), Err(Failure::Unsupported(_))),
                "{refused:?}"
            );
        }
    }
}
