//! The file for remote reads: the named one, or one created in the named folder.

use super::client::{Client, EntryKind};
use super::{connect_within, path};
use crate::test_file::Content;
use fathom_core::experiment::{Access, Failure, RemoteFile};
use fathom_core::machine::RemoteAddress;
use std::path::Path;
use std::time::Duration;

/// Size of a created file, bytes: 32 blocks of a mebibyte, 8192 of four kibibytes.
const WANTED: u64 = 32 << 20;

/// Bytes written between two calls of `patient`.
const PIECE: u64 = 1 << 20;

/// Minimum size of a file, created or named.
pub const LEAST: u64 = 2 << 20;

/// Finds the file at an address, or creates one with this name in the folder at the address, within a time. Calls `patient`
/// before it creates the file, and with the bytes written after every piece: if it returns false, the file keeps its current
/// size, if that is sufficient.
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
        EntryKind::File(bytes) if bytes < LEAST => Err(Failure::Unsupported(format!(
            "{address} has {bytes} bytes; a file of {LEAST} at least is read, or one is made in a folder that is named"
        ))),
        EntryKind::File(bytes) => Ok(file(address.clone(), bytes, false)),
        EntryKind::Folder => {
            let place = below(address, name);
            let result = make(client.as_mut(), &place, patient);
            if result.is_err() {
                // A partial file is useless; if it cannot be removed either, the ledger still lists it.
                let _ = client.remove(&path(&place));
            }
            Ok(file(place.clone(), result?, true))
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

/// Removes a created file, within a time.
pub fn remove(address: &RemoteAddress, access: &Access, within: Duration) -> Result<(), Failure> {
    connect_within(address, access, within)?.remove(&path(address))
}

/// Connects to the server and removes a file that may already be gone; an error if the server cannot be reached.
pub fn swept(address: &RemoteAddress, access: &Access, within: Duration) -> Result<(), Failure> {
    let mut client = connect_within(address, access, within)?;
    let _ = client.remove(&path(address));
    Ok(())
}

/// The address of a file with this name in a folder: its creator records it beforehand.
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
