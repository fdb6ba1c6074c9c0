//! Arbitrary bytes: the parser never panics, never holds more than it was given, and does not care in which pieces they
//! come. `FATHOM_FUZZ_SECONDS` makes it longer than the few seconds of every test run.

use super::server::{ECHO, peer, where_is};
use fathom::peer::Session;
use fathom::peer::protocol::{Frames, Hello, LONGEST_REQUEST, Malformed, Request, framed};
use fathom::peer::server::Limits;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn patience() -> Duration {
    let seconds = std::env::var("FATHOM_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs_f64(seconds.unwrap_or(3.0))
}

struct Chance(SplitMix64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }
}

/// What a proper client would say, all of it.
fn proper() -> Vec<Vec<u8>> {
    let requests = [
        Request::Hello(Hello::ours("ab".repeat(32))),
        Request::Proof { proof: "cd".repeat(32) },
        Request::Hold,
        Request::Touch,
        Request::Describe,
        Request::Start { service: ECHO, cpu: Some(1) },
        Request::Stop,
    ];
    requests.iter().map(|request| framed(request, LONGEST_REQUEST).unwrap()).collect()
}

/// A conversation of proper messages with a few bytes changed, left out, doubled or moved.
fn mutated(chance: &mut Chance) -> Vec<u8> {
    let messages = proper();
    let mut bytes: Vec<u8> =
        (0..=chance.below(4)).flat_map(|_| messages[chance.below(messages.len())].clone()).collect();
    for _ in 0..chance.below(6) {
        let (at, other) = (chance.below(bytes.len()), chance.below(bytes.len()));
        match chance.below(6) {
            0 => bytes[at] = chance.below(256) as u8,
            1 => bytes[at] ^= 1 << chance.below(8),
            2 => bytes.truncate(at + 1),
            3 => drop(bytes.remove(at)),
            4 => bytes.insert(at, [0, 0xff, b'{', b'"', b'\\'][chance.below(5)]),
            _ => bytes.swap(at, other),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// Every message in these bytes, and what ends them, when they come in these pieces.
fn taken(pieces: &[&[u8]]) -> (Vec<Request>, Option<Malformed>) {
    let (mut frames, mut messages) = (Frames::new(LONGEST_REQUEST), vec![]);
    for piece in pieces {
        frames.extend(piece);
        loop {
            match frames.take() {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(malformed) => return (messages, Some(malformed)),
            }
        }
    }
    (messages, None)
}

#[test]
fn no_bytes_break_the_parser_and_pieces_do_not_matter() {
    let (mut chance, began, mut understood, mut cases) =
        (Chance(SplitMix64::seed_from_u64(7)), Instant::now(), 0, 0);
    while began.elapsed() < patience() {
        let bytes = if chance.below(8) == 0 {
            (0..chance.below(300)).map(|_| chance.below(256) as u8).collect()
        } else {
            mutated(&mut chance)
        };
        let whole = taken(&[&bytes]);
        let (one, other) = bytes.split_at(chance.below(bytes.len() + 1));
        assert_eq!(taken(&[one, other]), whole, "{bytes:?}");
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(taken(&single), whole, "{bytes:?}");
        for message in &whole.0 {
            // What was understood can be said again and means the same.
            let again = framed(message, LONGEST_REQUEST).unwrap();
            assert_eq!(taken(&[&again]), (vec![message.clone()], None));
        }
        understood += whole.0.len();
        cases += 1;
    }
    assert!(understood > cases / 4, "the cases are too far from the protocol: {understood} of {cases}");
}

#[test]
fn no_callers_keep_a_peer_from_serving_its_run() {
    let (address, _end) = peer(Limits::default());
    let mut run = Session::open(&address).unwrap();
    run.hold().unwrap();
    let (mut chance, began) = (Chance(SplitMix64::seed_from_u64(8)), Instant::now());
    while began.elapsed() < patience() {
        let mut stream = TcpStream::connect(where_is(&address)).unwrap();
        let _ = stream.write_all(&mutated(&mut chance));
        let _ = stream.shutdown(std::net::Shutdown::Write);
        stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        let _ = stream.read_to_end(&mut vec![]);
        run.touch().expect("the peer serves its run");
    }
}
