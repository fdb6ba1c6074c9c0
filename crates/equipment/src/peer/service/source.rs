//! A source: it writes on every connection until a time and a number of bytes are reached.

use super::place::Place;
use super::running::{Running, ServiceTally};
use super::stream::{StreamOptions, accept_all};
use super::stream_beginning::{StreamBeginning, is_searching};
use fathom_core::experiment::Failure;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The length of a stream: it ends when all of these are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enough {
    /// Nanoseconds since its first byte.
    pub ns: u64,
    pub bytes: u64,
}

/// The longest stream; a longer one is an error, because no measurement lasts a minute.
const LONGEST: Duration = Duration::from_secs(60);

/// Begins the service. With `acknowledged`, it waits for one byte after every chunk, and ends when the client leaves; with
/// `begins_before`, the length counts from the end of the beginning.
pub fn begin(
    options: StreamOptions,
    enough: Enough,
    (acknowledged, begins_before): (bool, bool),
    place: &Place,
) -> Result<Running, Failure> {
    accept_all(options, place, move |mut stream, tally| {
        let data = vec![1; options.chunk as usize];
        if acknowledged {
            converse(&mut stream, &data, tally)
        } else {
            send_all(&mut stream, &data, (enough, StreamBeginning::new(begins_before)), tally)
        }
    })
}

/// Bytes between two readings of the clock: a reading after every chunk of 512 bytes would slow the stream.
const BYTES_PER_CLOCK_READING: u64 = 64 << 10;

/// Writes the stream, shuts it down, and waits until the client has read it.
fn send_all(
    stream: &mut TcpStream,
    data: &[u8],
    (enough, mut beginning): (Enough, StreamBeginning),
    tally: &Arc<ServiceTally>,
) -> std::io::Result<()> {
    let (began, limit) = (Instant::now(), Duration::from_nanos(enough.ns).min(LONGEST));
    let (mut sent, mut passed) = (0, Duration::ZERO);
    while !beginning.is_enough((sent, passed), (enough.bytes, limit)) && passed < LONGEST {
        let next_reading = sent + BYTES_PER_CLOCK_READING;
        while sent < next_reading {
            stream.write_all(data)?;
            sent += data.len() as u64;
            tally.sent_bytes.fetch_add(data.len() as u64, Ordering::Relaxed);
        }
        passed = began.elapsed();
        beginning.look(|| is_searching(stream), passed, sent);
    }
    tally.beginning_bytes.fetch_add(beginning.bytes(), Ordering::Relaxed);
    stream.shutdown(Shutdown::Write)?;
    stream.read(&mut [0]).map(drop)
}

/// Writes a chunk for every byte from the client.
fn converse(stream: &mut TcpStream, data: &[u8], tally: &Arc<ServiceTally>) -> std::io::Result<()> {
    while stream.read(&mut [0])? == 1 {
        stream.write_all(data)?;
        tally.sent_bytes.fetch_add(data.len() as u64, Ordering::Relaxed);
        tally.messages.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
