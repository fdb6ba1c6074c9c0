//! A sink: all data on any connection are read, counted and timed at this receiving end.

use super::drain::drain;
use super::place::Place;
use super::running::{Running, ServiceTally};
use super::stream::{StreamOptions, accept_all};
use fathom_core::experiment::Failure;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The greatest wait before a connection is read: a sink cannot be ended during it.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Begins the service. With `acknowledged`, one byte is returned after every such number of bytes. No connection is read
/// before `reads_after` has passed.
pub fn begin(
    options: StreamOptions,
    acknowledged: Option<u32>,
    reads_after: Duration,
    place: &Place,
) -> Result<Running, Failure> {
    if reads_after > LONGEST_WAIT {
        return Err(Failure::Unsupported(format!("connections are read within {LONGEST_WAIT:?}")));
    }
    accept_all(options, place, move |mut stream, tally| {
        if let Some(bytes) = acknowledged {
            return acknowledge(&mut stream, options, bytes as usize, tally);
        }
        std::thread::sleep(reads_after);
        swallow(&mut stream, options.chunk as usize, tally)
    })
}

/// Reads to the end of the stream. Also used at the other end of pipes and UNIX sockets, which need no port.
pub fn swallow(stream: &mut impl Read, chunk: usize, tally: &Arc<ServiceTally>) -> std::io::Result<()> {
    let mut buffer = vec![1; chunk];
    drain(stream, &mut buffer, |bytes, reads| {
        tally.received_bytes.fetch_add(bytes, Ordering::Relaxed);
        tally.messages.fetch_add(reads, Ordering::Relaxed);
        tally.arrived()
    })?;
    Ok(())
}

/// Reads whole messages, and answers each with one byte.
fn acknowledge(
    stream: &mut TcpStream,
    options: StreamOptions,
    bytes: usize,
    tally: &Arc<ServiceTally>,
) -> std::io::Result<()> {
    let mut buffer = vec![1; options.chunk as usize];
    loop {
        let mut missing = bytes;
        while missing > 0 {
            let room = missing.min(buffer.len());
            match stream.read(&mut buffer[..room])? {
                0 => return Ok(()),
                read => missing -= read,
            }
        }
        stream.write_all(&[1])?;
        tally.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        tally.messages.fetch_add(1, Ordering::Relaxed);
    }
}
