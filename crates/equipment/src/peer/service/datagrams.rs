//! A sink of datagrams: those that arrive are counted and timed. The others were lost on the way, or by this host because it
//! could not keep up.

use super::place::Place;
use super::running::{Running, ServiceTally};
use fathom_core::experiment::Failure;
use std::net::UdpSocket;
use std::sync::atomic::Ordering;

/// Datagrams between two readings of the clock.
const BETWEEN_READINGS: u64 = 16;

/// More than any socket's buffer holds: a client that keeps sending cannot prevent the service from ending.
const MOST_WAITING: usize = 1_000_000;

/// Begins the service for datagrams of this size, bytes. Those of another size are not the client's.
pub fn begin(bytes: u32, place: &Place) -> Result<Running, Failure> {
    let broke = |attempt: &str, error: std::io::Error| {
        Failure::Broke(format!("the sink of datagrams: {attempt}: {error}"))
    };
    let socket = UdpSocket::bind(place.any_port()).map_err(|error| broke("bind", error))?;
    let address = socket.local_addr().map_err(|error| broke("getsockname", error))?;
    let waker = socket.try_clone().map_err(|error| broke("dup of a socket", error))?;
    let mut running = Running::new(address.port());
    let waking = running.tally().on_end(move || drop(waker.send_to(&[], address)));
    let guests = place.clone();
    running.thread(place, move |tally| {
        let _waking = waking;
        let mut message = vec![0; bytes as usize + 1];
        while !tally.is_ending() {
            let (length, caller) =
                socket.recv_from(&mut message).map_err(|error| broke("recvfrom", error))?;
            if length == bytes as usize && guests.serves(caller.ip()) {
                count(length, tally);
            }
        }
        // Datagrams that wait in the socket have arrived, too.
        socket.set_nonblocking(true).map_err(|error| broke("set_nonblocking", error))?;
        for _ in 0..MOST_WAITING {
            let Ok((length, caller)) = socket.recv_from(&mut message) else { break };
            if length == bytes as usize && guests.serves(caller.ip()) {
                count(length, tally);
            }
        }
        Ok(())
    })?;
    Ok(running)
}

fn count(length: usize, tally: &ServiceTally) {
    tally.received_bytes.fetch_add(length as u64, Ordering::Relaxed);
    if tally.messages.fetch_add(1, Ordering::Relaxed) % BETWEEN_READINGS == 0 {
        tally.arrived();
    }
}
