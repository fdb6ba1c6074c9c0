//! Connections made only to be ended: each is accepted, greeted with one byte, and closed when its client has ended it.

use super::{Place, Running, Tally};
use crate::experiment::Failure;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A client that does nothing for so long is not waited for, so that others come to their turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// Begins one, serving one connection at a time: a client that waits for its greeting never finds a backlog.
/// `accepted` is called the moment that accept has returned.
pub fn begin(place: &Place, accepted: impl Fn() + Send + 'static) -> Result<Running, Failure> {
    let broke = |attempt: &str, error: std::io::Error| {
        Failure::Broke(format!("the accepting service: {attempt}: {error}"))
    };
    let listener = TcpListener::bind(place.any_port()).map_err(|error| broke("bind", error))?;
    let address = listener.local_addr().map_err(|error| broke("getsockname", error))?;
    let mut running = Running::new(address.port());
    // A thread that waits in accept is woken by being called.
    let waking = running.tally().on_end(move || drop(TcpStream::connect(address)));
    let guests = place.clone();
    running.thread(place, move |tally| {
        let _waking = waking;
        while !tally.is_ending() {
            let (stream, caller) = listener.accept().map_err(|error| broke("accept", error))?;
            accepted();
            if !tally.is_ending() && guests.serves(caller.ip()) {
                tally.connections.fetch_add(1, Ordering::Relaxed);
                // A reset is one of the ways in which a client ends it.
                let _ = see_out(stream, tally);
            }
        }
        Ok(())
    })?;
    Ok(running)
}

/// Greets, waits for the client's end of the stream, and closes.
fn see_out(mut stream: TcpStream, tally: &Arc<Tally>) -> std::io::Result<()> {
    let other = stream.try_clone()?;
    let _waking = tally.on_end(move || drop(other.shutdown(Shutdown::Both)));
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&[1])?;
    if stream.read(&mut [0])? == 0 {
        // Both sides saw the other's end: this was a graceful one.
        tally.messages.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
