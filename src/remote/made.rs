//! The file that remote reads read: the one that was named, or one made in the folder that was named.

use super::client::{Client, Kind};
use super::{connect_within, path};
use crate::experiment::{Access, Failure, RemoteFile};
use crate::machine::RemoteAddress;
use crate::test_file::Content;
use std::path::Path;
use std::time::Duration;

/// How large a file is made: 32 blocks of a mebibyte, 8192 of four kibibytes.
const WANTED: u64 = 32 << 20;

/// Bytes that are made, or asked for by whoever watches, at once.
const PIECE: u64 = 1 << 20;

/// The least that a file must have, made or named.
pub const LEAST: u64 = 2 << 20;

/// Finds the file that an address names, or makes one of this name in the folder that it names, within a time. Calls
/// `patient` before it makes the file, and with the bytes written after every piece: where it says no, the file stays as
/// long as it is, if that is long enough.
pub fn find_or_make(
    address: &RemoteAddress,
    access: &Access,
    name: &str,
    within: Duration,
    patient: &mut dyn FnMut(u64) -> bool,
) -> Result<RemoteFile, Failure> {
    let mut client = connect_within(address, access, within)?;
    let file =
        |address: RemoteAddress, bytes, own| RemoteFile { address, bytes, own, access: access.clone() };
    match client.kind(&path(address))? {
        Kind::File(bytes) if bytes < LEAST => Err(Failure::Unsupported(format!(
            "{address} has {bytes} bytes; a file of {LEAST} at least is read, or one is made in a folder that is named"
        ))),
        Kind::File(bytes) => Ok(file(address.clone(), bytes, false)),
        Kind::Folder => {
            let place = below(address, name);
            let made = make(client.as_mut(), &place, patient);
            if made.is_err() {
                // What was begun is of no use; where it cannot be removed either, the ledger still knows it.
                let _ = client.remove(&path(&place));
            }
            Ok(file(place.clone(), made?, true))
        }
    }
}

fn make(
    client: &mut dyn Client,
    place: &RemoteAddress,
    patient: &mut dyn FnMut(u64) -> bool,
) -> Result<u64, Failure> {
    let path = path(place);
    patient(0);
    client.create(&path)?;
    let content = Content::of(Path::new(&path));
    let mut done = 0;
    while done < WANTED && (patient(done) || done < LEAST) {
        let piece = content.piece(done, PIECE as usize);
        let most = client.most();
        for (index, part) in piece.chunks(most).enumerate() {
            client.write(done + (index * most) as u64, part)?;
        }
        done += PIECE;
    }
    client.close()?;
    Ok(done)
}

/// Removes a file that was made, within a time.
pub fn remove(address: &RemoteAddress, access: &Access, within: Duration) -> Result<(), Failure> {
    connect_within(address, access, within)?.remove(&path(address))
}

/// Reaches the server and removes a file that may not be there any more; an error where it is not reached.
pub fn swept(address: &RemoteAddress, access: &Access, within: Duration) -> Result<(), Failure> {
    let mut client = connect_within(address, access, within)?;
    let _ = client.remove(&path(address));
    Ok(())
}

/// The address of a file of this name in a folder: whoever makes it writes it down before.
pub fn below(folder: &RemoteAddress, name: &str) -> RemoteAddress {
    match folder {
        RemoteAddress::Mounted(path) => RemoteAddress::Mounted(path.join(name)),
        RemoteAddress::Url(url) => {
            let mut url = url.clone();
            url.path = format!("{}/{name}", url.path.trim_end_matches('/'));
            RemoteAddress::Url(url)
        }
    }
}
