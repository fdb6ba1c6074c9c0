//! Echo: every message is sent back.

use super::place::Place;
use super::running::Running;
use super::stream::{StreamOptions, accept_all};
use crate::experiment::Failure;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::sync::atomic::Ordering;

/// Over streams, each served in a separate thread.
pub fn tcp(bytes: u32, place: &Place) -> Result<Running, Failure> {
    accept_all(StreamOptions { chunk: bytes, buffers: None }, place, move |mut stream, tally| {
        let mut message = vec![0; bytes as usize];
        loop {
            stream.read_exact(&mut message)?;
            stream.write_all(&message)?;
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
    use std::net::TcpStream;
    use std::time::Duration;

    #[test]
    fn clients_are_served_beside_each_other() {
        let service = Service::Echo { transport: Transport::Tcp, bytes: 1 };
        let running = serve(&service, &Place::loopback(None)).unwrap();
        let connect = || {
            let stream = TcpStream::connect(("127.0.0.1", running.port())).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            stream
        };
        let (_first, mut second) = (connect(), connect());
        second.write_all(b"2").unwrap();
        let mut back = [0];
        second.read_exact(&mut back).expect("the second client is answered while the first is silent");
        assert_eq!(&back, b"2");
        assert_eq!(running.stop().connections, 2);
    }

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
