//! What file servers answer: their clients say what is wrong, and soon.

use super::input::Input;
use crate::file_servers::{access, address};
use fathom::experiment::{Access, Failure};
use fathom::remote::{connect_within, path};
use std::io::{Error, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer than any of these conversations may take.
const WITHIN: Duration = Duration::from_secs(10);

/// Everything that a client can be asked for.
fn converse(at: &str, access: &Access) -> Result<(), Failure> {
    let address = address(at);
    let mut client = connect_within(&address, access, WITHIN)?;
    let path = path(&address);
    client.kind(&path)?;
    client.open(&path)?;
    client.exchange()?;
    let mut block = vec![0; 4096];
    let tickets = [client.ask(0, block.len())?, client.ask(4096, block.len())?];
    for ticket in tickets.into_iter().rev() {
        if client.answer(ticket, &mut block)? > block.len() {
            return Err(Failure::Broke("more than the block holds".to_owned()));
        }
    }
    client.create(&path)?;
    client.write(0, &block)?;
    client.close()?;
    client.remove(&path)
}

/// What is wrong with the outcome: a proper conversation must succeed, and any other must end, with words.
fn judged(outcome: Result<(), Failure>, proper: bool, took: Duration) -> Result<(), String> {
    match outcome {
        Err(failure) if proper => Err(format!("a proper conversation fails: {failure}")),
        Err(failure) if failure.to_string().is_empty() => Err("a failure without a word".to_owned()),
        _ if took > WITHIN * 2 => Err(format!("it took {took:?}")),
        _ => Ok(()),
    }
}

/// The input of the conversation under way, which the server's threads draw from.
type Shared = Arc<Mutex<Input>>;

/// A case of a protocol over TCP whose server answers with `answer`, in the frames of `framed`.
fn over_tcp(
    scheme: &str,
    answer: fn(&[u8]) -> Vec<u8>,
    framed: fn(&[u8]) -> Vec<u8>,
) -> impl Fn(&mut Input) -> Result<(), String> + use<> {
    let shared: Shared = Arc::new(Mutex::new(Input::of(vec![])));
    let input = Arc::clone(&shared);
    let port = crate::file_servers::serve(move |request, stream| {
        spoilt(&answer(request), framed, &mut input.lock().unwrap(), stream)
    });
    let at = format!("{scheme}://127.0.0.1:{port}/srv/file");
    move |input| {
        let bytes: Vec<u8> = input.rest();
        let proper = bytes.is_empty();
        *shared.lock().unwrap() = Input::of(bytes);
        let began = Instant::now();
        judged(converse(&at, &access()), proper, began.elapsed())
    }
}

/// Answers as it should be, in another order of its bytes, or in broken frames; after these it hangs up, for what is
/// announced and never comes is waited for.
fn spoilt(
    answer: &[u8],
    framed: fn(&[u8]) -> Vec<u8>,
    input: &mut Input,
    stream: &mut TcpStream,
) -> std::io::Result<()> {
    match input.below(8) {
        0..5 => stream.write_all(&framed(answer)),
        5 | 6 => stream.write_all(&framed(&input.spoil(answer.to_vec()))),
        _ => {
            stream.write_all(&input.spoil(framed(answer)))?;
            stream.shutdown(Shutdown::Both)?;
            Err(Error::other("hung up"))
        }
    }
}

pub fn nfs() -> impl Fn(&mut Input) -> Result<(), String> {
    over_tcp("nfs", crate::file_servers::nfs::answer, crate::file_servers::nfs::framed)
}

#[cfg(feature = "smb")]
pub fn smb() -> impl Fn(&mut Input) -> Result<(), String> {
    over_tcp("smb", crate::file_servers::smb::answer, crate::file_servers::framed)
}

/// All that an sftp server says in such a conversation.
fn said() -> Vec<Vec<u8>> {
    use crate::file_servers::sftp::{attributes, data, handle, limits, status, version};
    vec![
        version(),
        limits(1),
        attributes(2),
        handle(3),
        attributes(4),
        data(6, 4096),
        data(5, 4096),
        handle(7),
        status(8, 0, ""),
        status(9, 0, ""),
        status(10, 0, ""),
    ]
}

/// Over a program `ssh` that says it all at once. It listens on where the conversation is to succeed, and else hangs up: what
/// is announced and never comes is waited for.
pub fn sftp() -> impl Fn(&mut Input) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    crate::file_servers::sftp::program(
        folder.path(),
        "cd \"${0%/*}\"; cat said; [ -e hangs-up ] || exec cat >/dev/null",
    );
    let mut access = access();
    access.environment[0].1.insert_str(0, &format!("{}:", folder.path().display()));
    move |input| {
        let bytes = input.rest();
        let (proper, mut input) = (bytes.is_empty(), Input::of(bytes));
        let note = folder.path().join("hangs-up");
        let noted = if proper { std::fs::remove_file(note) } else { std::fs::write(note, "") };
        let said: Vec<u8> = said()
            .into_iter()
            .flat_map(|packet| if input.below(4) == 1 { input.spoil(packet) } else { packet })
            .collect();
        // It may not have been there.
        drop(noted);
        std::fs::write(folder.path().join("said"), said).unwrap();
        let began = Instant::now();
        judged(converse("sftp://server/srv/file", &access), proper, began.elapsed())
    }
}
