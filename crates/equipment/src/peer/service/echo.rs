//! Echo: every message is sent back.

use super::place::Place;
use super::running::Running;
use super::stream::{StreamOptions, accept_all};
use fathom_core::experiment::Failure;
use fathom_core::sampling::partner_core;
use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;

/// Over streams, each served in a separate thread.
pub fn tcp(bytes: u32, place: &Place) -> Result<Running, Failure> {
    accept_all(StreamOptions { chunk: bytes, buffers: None }, place, move |mut stream, tally| {
        let mut message = vec![0; bytes as usize];
        loop {
            stream.read_exact(&mut message)?;
            stream.write_all(&message)?;
            partner_core::answer();
            tally.messages.fetch_add(1, Ordering::Relaxed);
            tally.received_bytes.fetch_add(u64::from(bytes), Ordering::Relaxed);
            tally.sent_bytes.fetch_add(u64::from(bytes), Ordering::Relaxed);
        }
    })
}

/// Over datagrams. Each is returned to its sender with the same length.
pub fn udp(bytes: usize, place: &Place) -> Result<Running, Failure> {
    let socket = UdpSocket::bind(place.any_port()).map_err(|error| broke("bind", &error))?;
    let address = socket.local_addr().map_err(|error| broke("getsockname", &error))?;
    let waker = socket.try_clone().map_err(|error| broke("dup of a socket", &error))?;
    let mut running = Running::new(address.port());
    let waking = running.tally().on_end(move || drop(waker.send_to(&[], address)));
    let guests = place.clone();
    running.thread(place, move |tally| {
        let _waking = waking;
        let mut message = vec![0; bytes.max(1)];
        while !tally.is_ending() {
            let (length, caller) =
                socket.recv_from(&mut message).map_err(|error| broke("recvfrom", &error))?;
            if !tally.is_ending()
                && guests.serves(caller.ip())
                && is_answered(&socket, &message[..length], caller)
            {
                partner_core::answer();
                tally.messages.fetch_add(1, Ordering::Relaxed);
                tally.received_bytes.fetch_add(length as u64, Ordering::Relaxed);
                tally.sent_bytes.fetch_add(length as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(running)
}

/// Whether a datagram could be sent back. One that cannot be, as to port 0 or a forged address, is nobody's, and the service
/// goes on: a caller that gets no answer counts it as lost.
fn is_answered(socket: &UdpSocket, message: &[u8], caller: SocketAddr) -> bool {
    socket.send_to(message, caller).is_ok()
}

fn broke(attempt: &str, error: &std::io::Error) -> Failure {
    Failure::Broke(format!("the echo service: {attempt}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_that_cannot_be_answered_is_passed_over() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let own = socket.local_addr().unwrap();
        assert!(!is_answered(&socket, b"abc", ([127, 0, 0, 1], 0).into()), "nothing is sent to port 0");
        assert!(is_answered(&socket, b"abc", own));
    }
}
