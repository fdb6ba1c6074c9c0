//! A server of sftp 3, told in advance: its clients number their requests from one, so all that it says can stand in a file.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn packet(kind: u8, body: &[&[u8]]) -> Vec<u8> {
    super::framed(&[&[kind][..], &body.concat()].concat())
}

fn counted(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// Version, and that the limits may be asked for.
pub fn version() -> Vec<u8> {
    packet(2, &[&3_u32.to_be_bytes(), &counted(b"limits@openssh.com"), &counted(b"1")])
}

/// The answer to request `id` for the limits: 256 KiB.
pub fn limits(id: u32) -> Vec<u8> {
    let limits: Vec<u8> =
        [262_144_u64, 261_120, 261_120, 0].iter().flat_map(|most| most.to_be_bytes()).collect();
    packet(201, &[&id.to_be_bytes(), &limits])
}

/// The attributes of the file.
pub fn attributes(id: u32) -> Vec<u8> {
    let body = [&5_u32.to_be_bytes()[..], &super::SIZE.to_be_bytes(), &0o100_644_u32.to_be_bytes()];
    packet(105, &[&id.to_be_bytes(), &body.concat()])
}

/// A handle of an open file.
pub fn handle(id: u32) -> Vec<u8> {
    packet(102, &[&id.to_be_bytes(), &counted(b"a handle")])
}

/// So many bytes of the file.
pub fn data(id: u32, bytes: usize) -> Vec<u8> {
    packet(103, &[&id.to_be_bytes(), &counted(&vec![7; bytes])])
}

/// That all is well, or what is not.
pub fn status(id: u32, code: u32, words: &str) -> Vec<u8> {
    packet(101, &[&id.to_be_bytes(), &code.to_be_bytes(), &counted(words.as_bytes()), &counted(b"en")])
}

/// A folder with a program `ssh` that runs this script instead.
pub fn program(folder: &Path, script: &str) {
    let path = folder.join("ssh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}
