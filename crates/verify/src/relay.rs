//! A relay in this process between a run and its peer: it delays every packet by a known time, some datagrams longer, and
//! drops some.
//!
//! It forwards the control connections byte for byte, and reads from the peer's answers the port of each service, at which
//! it then listens on its own address before the client connects.

use super::rig::Arranged;
use fathom_engine::run::{Peering, Reach};
use fathom_equipment::peer::Token;
use fathom_equipment::peer::proof::chance;
use fathom_equipment::peer::server::{PeerEnd, PeerLimits, Server};
use fathom_equipment::peer::shared::PeerShared;
use std::io;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::spawn;
use std::time::{Duration, Instant};

/// A relay at its own loopback address; its threads end with the process.
pub struct Relay {
    /// The address at which the peer appears.
    pub at: SocketAddr,
    dropped: Arc<AtomicU64>,
}

/// The treatment of datagrams on their way to the peer, in addition to the common delay.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unreliable {
    /// Every n-th datagram, and its additional delay.
    pub late: Option<(u64, Duration)>,
    /// Every n-th datagram is dropped.
    pub drop_every: Option<u64>,
}

#[derive(Clone)]
struct Way {
    peer: IpAddr,
    own: IpAddr,
    delay: Duration,
    datagrams: Unreliable,
    datagrams_so_far: Arc<AtomicU64>,
    dropped: Arc<AtomicU64>,
}

impl Relay {
    /// Starts a relay at this address, at the port of the peer, which delays every packet by `delay`.
    pub fn start(peer: SocketAddr, own: IpAddr, delay: Duration, datagrams: Unreliable) -> io::Result<Self> {
        let listener = TcpListener::bind((own, peer.port()))?;
        let way = Way {
            peer: peer.ip(),
            own,
            delay,
            datagrams,
            datagrams_so_far: Arc::default(),
            dropped: Arc::default(),
        };
        let dropped = Arc::clone(&way.dropped);
        spawn(move || {
            for client in listener.incoming().flatten() {
                let way = way.clone();
                spawn(move || way.control(&client, peer));
            }
        });
        Ok(Relay { at: SocketAddr::new(own, peer.port()), dropped })
    }

    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Way {
    /// Forwards a control connection without delay, and reads it.
    fn control(&self, client: &TcpStream, peer: SocketAddr) -> io::Result<()> {
        let mut server = TcpStream::connect(peer)?;
        let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
        spawn(move || {
            let _ = io::copy(&mut from_client, &mut to_server);
            let _ = to_server.shutdown(Shutdown::Write);
        });
        let mut client = client;
        let mut buffer = vec![0; 65_536];
        while let Ok(length @ 1..) = server.read(&mut buffer) {
            if let Some(port) = port_in(&buffer[..length]) {
                self.stand_at(port);
            }
            if client.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        client.shutdown(Shutdown::Both)
    }

    /// Listens at the port of a service, for both protocols.
    fn stand_at(&self, port: u16) {
        let (listener, socket) = (TcpListener::bind((self.own, port)), UdpSocket::bind((self.own, port)));
        let (stream, datagrams) = (self.clone(), self.clone());
        spawn(move || {
            let client = listener?.accept()?.0;
            stream.stream(&client, port)
        });
        spawn(move || datagrams.datagrams(&socket?, port));
    }

    fn stream(&self, client: &TcpStream, port: u16) -> io::Result<()> {
        let server = TcpStream::connect((self.peer, port))?;
        for end in [client, &server] {
            end.set_nodelay(true)?;
        }
        for (from, to) in [(client, &server), (&server, client)] {
            let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
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
        Ok(())
    }

    fn datagrams(&self, socket: &UdpSocket, port: u16) -> io::Result<()> {
        let onwards = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        onwards.connect((self.peer, port))?;
        let mut buffer = vec![0; 65_536];
        let (length, client) = socket.recv_from(&mut buffer)?;
        let (back, home) = (onwards.try_clone()?, socket.try_clone()?);
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
            let number = self.datagrams_so_far.fetch_add(1, Ordering::Relaxed);
            // The middle one of every n datagrams.
            let is_one_in = |every: u64| number % every == every / 2;
            if self.datagrams.drop_every.is_some_and(is_one_in) {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            } else {
                let late = self.datagrams.late.filter(|(every, _)| is_one_in(*every));
                let delay = delay + late.map_or(Duration::ZERO, |(_, longer)| longer);
                let _ = held.send((Instant::now() + delay, buffer[..length].to_vec()));
            }
            next = socket.recv(&mut buffer).ok();
        }
        Ok(())
    }
}

/// A thread that forwards each packet at its time: it sleeps, and spins for the rest.
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

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The second host; it ends when this is dropped.
struct SecondHost(Arc<PeerShared>);

impl Drop for SecondHost {
    fn drop(&mut self) {
        self.0.end(PeerEnd::Abandoned);
    }
}

/// A second host, and the relay at this address in front of it.
pub fn host_behind(
    relay: IpAddr,
    delay: Duration,
    datagrams: Unreliable,
) -> Result<(Arranged, Relay), String> {
    let failed = |error: io::Error| format!("a second host on loopback: {error}");
    let token = Token(chance(32).map_err(failed)?);
    let server =
        Server::bind(&[SocketAddr::new(PEER, 0)], token.clone(), PeerLimits::default()).map_err(failed)?;
    let address = server.addresses().map_err(failed)?[0];
    let host = SecondHost(server.shared());
    spawn(move || server.run());
    let relay = Relay::start(address, relay, delay, datagrams).map_err(failed)?;
    let reach = Reach { spec: relay.at.to_string(), address: None, token: Some(token) };
    let peering = Peering::reach(&reach).map_err(|error| format!("{error:#}"))?;
    Ok((Arranged { peering: Some(peering), ..Arranged::holding(host) }, relay))
}
