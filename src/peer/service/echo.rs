//! Echo: every message comes back.

use super::place::Place;
use super::running::{Running, Tally};
use crate::experiment::Failure;
use crate::peer::waking::waker;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Over a stream, one connection at a time.
pub fn tcp(bytes: usize, place: &Place) -> Result<Running, Failure> {
    let listener = TcpListener::bind(place.any_port()).map_err(|error| broke("bind", &error))?;
    let address = listener.local_addr().map_err(|error| broke("getsockname", &error))?;
    let mut running = Running::new(address.port());
    let wake = waker(&listener).map_err(|error| broke("dup of a socket", &error))?;
    let waking = running.tally().on_end(wake);
    let guests = place.clone();
    running.thread(place, move |tally| {
        let _waking = waking;
        while !tally.is_ending() {
            let (stream, caller) = listener.accept().map_err(|error| broke("accept", &error))?;
            if !tally.is_ending() && guests.serves(caller.ip()) {
                converse(stream, bytes, tally)?;
            }
        }
        Ok(())
    })?;
    Ok(running)
}

fn converse(mut stream: TcpStream, bytes: usize, tally: &Arc<Tally>) -> Result<(), Failure> {
    stream.set_nodelay(true).map_err(|error| broke("TCP_NODELAY", &error))?;
    let other = stream.try_clone().map_err(|error| broke("dup of a socket", &error))?;
    let _waking = tally.on_end(move || drop(other.shutdown(Shutdown::Both)));
    tally.connections.fetch_add(1, Ordering::Relaxed);
    let mut message = vec![0; bytes];
    // The client's going ends the conversation, in whatever way it goes.
    while stream.read_exact(&mut message).and_then(|()| stream.write_all(&message)).is_ok() {
        tally.messages.fetch_add(1, Ordering::Relaxed);
        tally.received_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        tally.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
    Ok(())
}

/// Over datagrams. Each goes back to where it came from, as long as it is.
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
            if !tally.is_ending() && guests.serves(caller.ip()) {
                socket.send_to(&message[..length], caller).map_err(|error| broke("sendto", &error))?;
                tally.messages.fetch_add(1, Ordering::Relaxed);
                tally.received_bytes.fetch_add(length as u64, Ordering::Relaxed);
                tally.sent_bytes.fetch_add(length as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(running)
}

fn broke(attempt: &str, error: &std::io::Error) -> Failure {
    Failure::Broke(format!("the echo service: {attempt}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::super::{Service, Transport, serve};
    use super::*;

    #[test]
    fn what_is_sent_comes_back_and_is_counted_and_nothing_listens_afterwards() {
        for transport in [Transport::Tcp, Transport::Udp] {
            let running = serve(&Service::Echo { transport, bytes: 3 }, &Place::loopback(None)).unwrap();
            let (port, mut back) = (running.port(), [0; 3]);
            match transport {
                Transport::Tcp => {
                    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
                    stream.write_all(b"abc").unwrap();
                    stream.read_exact(&mut back).unwrap();
                }
                Transport::Udp => {
                    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                    socket.send_to(b"abc", ("127.0.0.1", port)).unwrap();
                    socket.recv_from(&mut back).unwrap();
                }
            }
            assert_eq!(&back, b"abc");
            let report = running.stop();
            assert_eq!((report.messages, report.received_bytes, report.failure), (1, 3, None));
            assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
        }
    }
}
