//! A relay in this process between a run and its peer: it holds every packet for a known time, or drops some datagrams.
//!
//! It forwards the control connections byte for byte, and reads in the peer's answers at which port a service listens, to
//! stand at the same port of its own address before the client does.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::spawn;
use std::time::{Duration, Instant};

pub struct Relay {
    /// Where the peer seems to be.
    pub at: SocketAddr,
    dropped: Arc<AtomicU64>,
}

#[derive(Clone)]
struct Way {
    peer: IpAddr,
    own: IpAddr,
    delay: Duration,
    /// Every so many datagrams towards the peer are dropped.
    drop_every: Option<u64>,
    seen: Arc<AtomicU64>,
    dropped: Arc<AtomicU64>,
}

impl Relay {
    /// Stands at an address of loopback of its own; its threads end with the process.
    pub fn start(peer: SocketAddr, own: IpAddr, delay: Duration, loss: Option<f64>) -> Self {
        let listener = TcpListener::bind((own, peer.port())).unwrap();
        let way = Way {
            peer: peer.ip(),
            own,
            delay,
            drop_every: loss.map(|share| (1.0 / share).round() as u64),
            seen: Arc::default(),
            dropped: Arc::default(),
        };
        let dropped = Arc::clone(&way.dropped);
        spawn(move || {
            for client in listener.incoming().flatten() {
                let way = way.clone();
                spawn(move || way.control(client, peer));
            }
        });
        Relay { at: SocketAddr::new(own, peer.port()), dropped }
    }

    /// Datagrams that were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Way {
    /// A control connection: forwarded at once, and listened to.
    fn control(&self, client: TcpStream, peer: SocketAddr) {
        let server = TcpStream::connect(peer).unwrap();
        let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        spawn(move || {
            let _ = std::io::copy(&mut from_client, &mut to_server);
            let _ = to_server.shutdown(Shutdown::Write);
        });
        let (mut server, mut client) = (server, client);
        let mut buffer = vec![0; 65_536];
        while let Ok(length @ 1..) = server.read(&mut buffer) {
            if let Some(port) = port_in(&buffer[..length]) {
                self.stand_at(port);
            }
            if client.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
    }

    /// Takes the place of a service, whichever protocol it speaks.
    fn stand_at(&self, port: u16) {
        let (listener, socket) = (TcpListener::bind((self.own, port)), UdpSocket::bind((self.own, port)));
        let (stream, datagrams) = (self.clone(), self.clone());
        spawn(move || {
            if let Some(client) = listener.unwrap().incoming().flatten().next() {
                stream.stream(&client, port);
            }
        });
        spawn(move || datagrams.datagrams(&socket.unwrap(), port));
    }

    fn stream(&self, client: &TcpStream, port: u16) {
        let server = TcpStream::connect((self.peer, port)).unwrap();
        for end in [client, &server] {
            end.set_nodelay(true).unwrap();
        }
        for (from, to) in [(client, &server), (&server, client)] {
            let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let held = hold(move |packet: &[u8]| to.write_all(packet).is_ok());
            let delay = self.delay;
            spawn(move || {
                let mut buffer = vec![0; 65_536];
                while let Ok(length @ 1..) = from.read(&mut buffer) {
                    let _ = held.send((Instant::now() + delay, buffer[..length].to_vec()));
                }
                let _ = from.shutdown(Shutdown::Both);
            });
        }
    }

    fn datagrams(&self, socket: &UdpSocket, port: u16) {
        let onwards = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        onwards.connect((self.peer, port)).unwrap();
        let mut buffer = vec![0; 65_536];
        let Ok((length, client)) = socket.recv_from(&mut buffer) else { return };
        let (back, home) = (onwards.try_clone().unwrap(), socket.try_clone().unwrap());
        let delay = self.delay;
        spawn(move || {
            let held = hold(move |packet: &[u8]| home.send_to(packet, client).is_ok());
            let mut buffer = vec![0; 65_536];
            while let Ok(length) = back.recv(&mut buffer) {
                let _ = held.send((Instant::now() + delay, buffer[..length].to_vec()));
            }
        });
        let held = hold(move |packet: &[u8]| onwards.send(packet).is_ok());
        let mut next = Some(length);
        while let Some(length) = next {
            let seen = self.seen.fetch_add(1, Ordering::Relaxed);
            // The fiftieth of every hundred.
            if self.drop_every.is_some_and(|every| seen % every == every / 2) {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            } else {
                let _ = held.send((Instant::now() + delay, buffer[..length].to_vec()));
            }
            next = socket.recv(&mut buffer).ok();
        }
    }
}

/// A thread that lets each packet go when its time has come: it sleeps, and spins for the rest.
fn hold(mut go: impl FnMut(&[u8]) -> bool + Send + 'static) -> Sender<(Instant, Vec<u8>)> {
    let (sender, receiver): (_, Receiver<(Instant, Vec<u8>)>) = channel();
    spawn(move || {
        for (due, packet) in receiver {
            let spun = Duration::from_micros(500);
            std::thread::sleep(due.saturating_duration_since(Instant::now()).saturating_sub(spun));
            while Instant::now() < due {
                std::hint::spin_loop();
            }
            if !go(&packet) {
                return;
            }
        }
    });
    sender
}

/// The port in `{"reply":"started","port":…}`.
fn port_in(bytes: &[u8]) -> Option<u16> {
    let text = String::from_utf8_lossy(bytes);
    let started = text.find("\"started\"").map(|at| &text[at..])?;
    let digits = started.split("\"port\":").nth(1)?;
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
