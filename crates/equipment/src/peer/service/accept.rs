//! Connections that are made only to be closed: each is accepted, greeted with one byte, and closed when its client has
//! closed it.

use super::place::Place;
use super::running::{Running, ServiceTally};
use crate::peer::waking::waker;
use fathom_core::experiment::Failure;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A client that does nothing for this time is dropped, so that others are served.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Begins the service, with one connection at a time: a client that waits for its greeting never finds a backlog.
pub fn begin(place: &Place) -> Result<Running, Failure> {
    let broke = |attempt: &str, error: std::io::Error| {
        Failure::Broke(format!("the accepting service: {attempt}: {error}"))
    };
    let listener = TcpListener::bind(place.any_port()).map_err(|error| broke("bind", error))?;
    let address = listener.local_addr().map_err(|error| broke("getsockname", error))?;
    let mut running = Running::new(address.port());
    let wake = waker(&listener).map_err(|error| broke("dup of a socket", error))?;
    let waking = running.tally().on_end(wake);
    let guests = place.clone();
    running.thread(place, move |tally| {
        let _waking = waking;
        while !tally.is_ending() {
            let (stream, caller) = listener.accept().map_err(|error| broke("accept", error))?;
            if !tally.is_ending() && guests.serves(caller.ip()) {
                serve(&stream, tally);
            }
        }
        Ok(())
    })?;
    Ok(running)
}

fn serve(stream: &TcpStream, tally: &Arc<ServiceTally>) {
    let Ok(other) = stream.try_clone() else { return };
    let waking = tally.on_end(move || drop(other.shutdown(Shutdown::Both)));
    tally.connections.fetch_add(1, Ordering::Relaxed);
    // The stream is closed when its last handle is dropped.
    if greet_and_await_end(stream).is_ok_and(|graceful| graceful) {
        tally.messages.fetch_add(1, Ordering::Relaxed);
    }
    drop(waking);
}

/// Sends the greeting, and waits for the client's end of the stream; false if the client sent other data. A reset is an
/// error.
pub fn greet_and_await_end(mut stream: &TcpStream) -> std::io::Result<bool> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(&[1])?;
    Ok(stream.read(&mut [0])? == 0)
}
