//! File servers inside a test, as far as their clients look: each knows one folder with one file. What they answer can be
//! spoilt on its way.

#![allow(dead_code, reason = "every test uses another part of it")]

pub mod nfs;
pub mod sftp;
pub mod smb;

use fathom::experiment::Access;
use fathom::machine::RemoteAddress;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Bytes of the file.
pub const SIZE: u64 = 4 << 20;

/// Listens on loopback and hands every request, which stands behind its length, to `answer` with the connection to answer
/// on; until that says no. The port.
pub fn serve(answer: impl Fn(&[u8], &mut TcpStream) -> std::io::Result<()> + Clone + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || converse(stream, &answer));
        }
    });
    port
}

fn converse(
    mut stream: TcpStream,
    answer: &impl Fn(&[u8], &mut TcpStream) -> std::io::Result<()>,
) -> std::io::Result<()> {
    // Whoever asks nothing for so long asks nothing any more.
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    stream.set_nodelay(true)?;
    loop {
        let mut head = [0; 4];
        stream.read_exact(&mut head)?;
        // The highest bit is a mark of Sun's, not of the length.
        let mut request = vec![0; (u32::from_be_bytes(head) & !(1 << 31)) as usize];
        stream.read_exact(&mut request)?;
        answer(&request, &mut stream)?;
    }
}

/// A message behind its length.
pub fn framed(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_be_bytes(), body].concat()
}

/// Sends all but slowly: a byte at a time.
pub fn drip(bytes: &[u8], every: Duration, stream: &mut TcpStream) -> std::io::Result<()> {
    for byte in bytes {
        stream.write_all(&[*byte])?;
        std::thread::sleep(every);
    }
    Ok(())
}

/// What a test may use of this process: where the programs are.
pub fn access() -> Access {
    let path = std::env::var("PATH").unwrap_or_default();
    Access { environment: vec![("PATH".to_owned(), path)], ..Access::default() }
}

/// An address as a user gives it.
pub fn address(text: &str) -> RemoteAddress {
    text.parse().unwrap()
}
