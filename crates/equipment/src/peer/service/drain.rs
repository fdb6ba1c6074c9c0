//! Reading a stream to its end, with occasional readings of the clock.

use std::io::{ErrorKind, Read};

/// The least time between readings of the clock, nanoseconds: a reading then costs well under a hundredth of it.
const SHORTEST_NS: u64 = 20_000;

/// The greatest time between readings, nanoseconds, if the stream allows it.
const LONGEST_NS: u64 = 200_000;

/// The most bytes between two readings.
const MOST_BYTES: u64 = 1 << 20;

/// Reads to the end of the stream, in whole buffers if these are filled. `arrived` is called after every few reads with the
/// bytes and reads since its last call, and returns the time in nanoseconds. A fast stream would be slowed by a clock reading after
/// every read of 512 bytes, and a slow one needs it after each, so the distance adapts.
///
/// Returns the numbers of bytes and reads.
pub fn drain(
    from: &mut impl Read,
    buffer: &mut [u8],
    mut arrived: impl FnMut(u64, u64) -> u64,
) -> std::io::Result<(u64, u64)> {
    let (mut bytes, mut reads, mut unreported, mut quantum, mut told_at) = (0, 0, (0, 0), 1, None);
    loop {
        let read = match from.read(buffer) {
            Ok(0) => break,
            Ok(read) => read as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += read;
        reads += 1;
        unreported = (unreported.0 + read, unreported.1 + 1);
        if unreported.0 >= quantum {
            let (more, of_reads) = std::mem::take(&mut unreported);
            let now = arrived(more, of_reads);
            quantum = told_at.map_or(quantum, |then: u64| next(quantum, now.saturating_sub(then)));
            told_at = Some(now);
        }
    }
    if unreported.0 > 0 {
        arrived(unreported.0, unreported.1);
    }
    Ok((bytes, reads))
}

/// The next distance between readings, in bytes, after one that took `passed_ns`.
fn next(quantum: u64, passed_ns: u64) -> u64 {
    match passed_ns {
        0..SHORTEST_NS => (quantum * 2).min(MOST_BYTES),
        SHORTEST_NS..LONGEST_NS => quantum,
        _ => (quantum / 2).max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_told_once_and_a_fast_stream_is_told_of_seldom() {
        let data = vec![7; 1 << 22];
        let (mut counted, mut read_times, mut times, mut clock) = (0, 0, 0, 0);
        let mut buffer = [0; 512];
        let (bytes, reads) = drain(&mut data.as_slice(), &mut buffer, |more, reads| {
            counted += more;
            read_times += reads;
            times += 1;
            // Ten nanoseconds per read.
            clock += more / 512 * 10;
            clock
        })
        .unwrap();
        assert_eq!((bytes, counted, reads), (1 << 22, 1 << 22, (1 << 22) / 512));
        assert_eq!(read_times, reads);
        assert!(times < 40, "{times} readings");
    }

    #[test]
    fn a_slow_stream_is_told_of_at_every_read() {
        let data = vec![7; 100 * 100];
        let (mut times, mut clock) = (0, 0);
        let mut buffer = [0; 100];
        drain(&mut data.as_slice(), &mut buffer, |_, _| {
            times += 1;
            clock += 1_000_000;
            clock
        })
        .unwrap();
        assert_eq!(times, 100);
    }
}
