//! Report 000's form of a bandwidth test: after every chunk one byte comes back, so every chunk includes a round trip.

use super::transfer::connected;
use fathom_core::prelude::*;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_equipment::peer::Service;
use fathom_equipment::peer::other_side::OtherSide;
use fathom_equipment::peer::service::{Enough, StreamOptions};
use socket2::SockRef;
use std::io::{Error, Read, Write};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Statement: the granted size of the send buffer, bytes.
const SEND_BUFFER: &str = "send_buffer_bytes";
/// Statement: the granted size of the receive buffer, bytes.
const RECEIVE_BUFFER: &str = "receive_buffer_bytes";
/// Witness: chunks transferred and acknowledged.
const CHUNKS: &str = "chunks";

/// Chunks one after the other, waiting for the acknowledgement of each.
pub fn workload<'site>(
    sends: bool,
    path: &str,
    chunk: u32,
    site: &'site Site,
) -> Result<Workload<'site>, Failure> {
    let stream = StreamOptions { chunk, buffers: Some(chunk) };
    let service = if sends {
        Service::Sink { stream, acknowledged: Some(chunk), reads_after_ns: 0 }
    } else {
        Service::Source {
            stream,
            enough: Enough { ns: 0, bytes: 0 },
            acknowledged: true,
            begins_before: false,
        }
    };
    let other = OtherSide::start(&service, path, site)?;
    let mut stream = connected(stream, &other, TIMEOUT).map_err(|error| broke(&error))?;
    let granted = |size: std::io::Result<usize>| size.unwrap_or(0) as f64;
    let socket = SockRef::from(&stream);
    let (send, receive) = (granted(socket.send_buffer_size()), granted(socket.recv_buffer_size()));
    let mut data = vec![1; chunk as usize];
    let moved = std::rc::Rc::new(std::cell::Cell::new(0.0));
    let counted = std::rc::Rc::clone(&moved);
    let act = move |n| {
        let _keep = &other;
        for _ in 0..n {
            if sends {
                stream.write_all(&data).map_err(|error| broke(&error))?;
                let read = stream.read(&mut [0]).map_err(|error| broke(&error))?;
                ensure(read == 1, "the receiver ended the stream")?;
            } else {
                stream.write_all(&[1]).map_err(|error| broke(&error))?;
                stream.read_exact(&mut data).map_err(|error| broke(&error))?;
            }
            moved.set(moved.get() + 1.0);
        }
        Ok(())
    };
    Ok(Workload::each(act)
        .per_iteration(u64::from(chunk))
        .witnessed(move || vec![(CHUNKS, counted.get())])
        .stating(SEND_BUFFER, send)
        .stating(RECEIVE_BUFFER, receive))
}

/// Checks that every chunk was acknowledged and that the granted buffer sizes were read back.
pub fn evidence(chunk: f64, observed: &Observed) -> Vec<Check> {
    let claim = format!(
        "the size of the socket buffers was read back ({} requested)",
        quantities::value(Unit::Bytes, chunk)
    );
    let buffers = match (observed.witness(SEND_BUFFER), observed.witness(RECEIVE_BUFFER)) {
        (Some(send), Some(receive)) => Check::judged(
            claim,
            send > 0.0 && receive > 0.0,
            format!(
                "{} for sending, {} for receiving (sysctl net.core.wmem_max and rmem_max limit them; \
                 the sizes include the kernel's bookkeeping)",
                quantities::value(Unit::Bytes, send),
                quantities::value(Unit::Bytes, receive)
            ),
        ),
        _ => Check::missing(claim),
    };
    let chunks = observed.witness(CHUNKS).map(|chunks| chunks * chunk / observed.operations as f64);
    vec![Check::equal("chunks acknowledged per chunk claimed", chunks, 1.0), buffers]
}

fn broke(error: &Error) -> Failure {
    Failure::Broke(format!("chunks and their acknowledgements: {error}"))
}
