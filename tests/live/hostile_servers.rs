//! File servers that mean harm: each costs its client seconds and little memory, and is told by what it did.

use crate::file_servers::{access, address, drip, framed, nfs, serve, sftp, smb};
use crate::tier::{Outcome, Test, beside};
use fathom::experiment::{Access, Failure, Token};
use fathom::remote::{Client, connect_within, own_file, path};
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &beside![
    servers_that_behave_are_read,
    answers_that_nobody_asked_for_are_not_kept,
    an_answer_that_comes_twice_is_not_kept_twice,
    endless_empty_fragments_are_no_answer,
    a_conversation_ends_however_slowly_it_is_answered,
    a_user_of_smb_is_answered_with_signatures_or_not_at_all,
    no_server_holds_a_run_up_for_long,
    a_file_is_made_within_its_time,
];

/// Longer than any conversation of these tests may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// What becomes of a conversation that opens a file and reads a block; it must end.
fn outcome(at: &str, access: &Access, within: Duration) -> Result<usize, String> {
    let (address, access) = (address(at), access.clone());
    ended(move || {
        let mut client = connect_within(&address, &access, within)?;
        client.open(&path(&address))?;
        read(client.as_mut())
    })
}

fn ended<T: Send + 'static>(
    conversation: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(conversation().map_err(|failure| failure.to_string())));
    receiver.recv_timeout(PATIENCE).expect("the client hangs")
}

fn read(client: &mut dyn Client) -> Result<usize, Failure> {
    let mut block = vec![0; 4096];
    let ticket = client.ask(0, block.len())?;
    client.answer(ticket, &mut block)
}

fn nfs_server(
    answer: impl Fn(&[u8], &mut TcpStream) -> std::io::Result<()> + Clone + Send + 'static,
) -> String {
    format!("nfs://127.0.0.1:{}/srv/file", serve(answer))
}

fn smb_server(
    answer: impl Fn(&[u8], &mut TcpStream) -> std::io::Result<()> + Clone + Send + 'static,
) -> String {
    format!("smb://127.0.0.1:{}/share/file", serve(answer))
}

/// The number of a procedure of NFS, where it is that program's.
fn procedure(request: &[u8]) -> Option<u8> {
    (request[12..16] == 100_003_u32.to_be_bytes()).then_some(request[23])
}

const READ: Option<u8> = Some(6);
const LONG: Duration = Duration::from_secs(60);

fn servers_that_behave_are_read() -> Outcome {
    let at = nfs_server(|request, stream| stream.write_all(&nfs::framed(&nfs::answer(request))));
    assert_eq!(outcome(&at, &access(), LONG), Ok(4096));
    let at = smb_server(|request, stream| stream.write_all(&framed(&smb::answer(request))));
    assert_eq!(outcome(&at, &access(), LONG), Ok(4096));
    let said = [sftp::version(), sftp::limits(1), sftp::handle(2), sftp::data(3, 4096)].concat();
    assert_eq!(over_ssh(&said, "cat >/dev/null").0, Ok(4096));
    Ok(())
}

/// A conversation with a program `ssh` that says this and then does that.
fn over_ssh(said: &[u8], then: &str) -> (Result<usize, String>, Duration) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("said"), said).unwrap();
    let script = format!("cd \"$(dirname \"$0\")\"; cat said; {then}");
    sftp::program(folder.path(), &script);
    let mut access = access();
    access.environment[0].1.insert_str(0, &format!("{}:", folder.path().display()));
    let began = Instant::now();
    (outcome("sftp://server/file", &access, Duration::from_secs(4)), began.elapsed())
}

fn answers_that_nobody_asked_for_are_not_kept() -> Outcome {
    let words = "an unrequested answer";
    let at = nfs_server(|request, stream| {
        if procedure(request) == READ {
            for other in 0..8 {
                let mut unasked = nfs::answer(request);
                unasked[0] ^= 0x80 | other;
                stream.write_all(&nfs::framed(&unasked))?;
            }
        }
        stream.write_all(&nfs::framed(&nfs::answer(request)))
    });
    assert!(outcome(&at, &access(), LONG).is_err_and(|why| why.contains(words)));
    let at = smb_server(|request, stream| {
        let mut unasked = smb::answer(request);
        unasked[31] = 0xff;
        stream.write_all(&framed(&unasked))?;
        stream.write_all(&framed(&smb::answer(request)))
    });
    assert!(outcome(&at, &access(), LONG).is_err_and(|why| why.contains(words)));
    let said = [sftp::version(), sftp::limits(1), sftp::handle(2), sftp::data(77, 4096), sftp::data(3, 4096)]
        .concat();
    assert!(over_ssh(&said, "cat >/dev/null").0.is_err_and(|why| why.contains(words)));
    Ok(())
}

fn an_answer_that_comes_twice_is_not_kept_twice() -> Outcome {
    let at = nfs_server(|request, stream| {
        let answer = nfs::framed(&nfs::answer(request));
        stream.write_all(&answer)?;
        if procedure(request) == READ { Ok(()) } else { stream.write_all(&answer) }
    });
    assert!(outcome(&at, &access(), LONG).is_err_and(|why| why.contains("unrequested")));
    Ok(())
}

fn endless_empty_fragments_are_no_answer() -> Outcome {
    let at = nfs_server(|request, stream| {
        if procedure(request) == READ {
            let began = Instant::now();
            while began.elapsed() < PATIENCE * 2 {
                stream.write_all(&[0; 4096])?;
            }
        }
        stream.write_all(&nfs::framed(&nfs::answer(request)))
    });
    let began = Instant::now();
    assert!(outcome(&at, &access(), LONG).is_err_and(|why| why.contains("empty fragment")));
    assert!(began.elapsed() < Duration::from_secs(3));
    Ok(())
}

/// Each of these says something often enough for every single wait.
fn a_conversation_ends_however_slowly_it_is_answered() -> Outcome {
    let (within, every) = (Duration::from_secs(3), Duration::from_millis(100));
    let dripping =
        nfs_server(move |request, stream| drip(&nfs::framed(&nfs::answer(request)), every, stream));
    let fragments = nfs_server(move |request, stream| {
        let answer = nfs::answer(request);
        for byte in &answer {
            stream.write_all(&[0, 0, 0, 1, *byte])?;
            std::thread::sleep(every);
        }
        stream.write_all(&[0x80, 0, 0, 0])
    });
    let pending = smb_server(move |request, stream| {
        let began = Instant::now();
        while request[12] == 8 && began.elapsed() < PATIENCE * 2 {
            stream.write_all(&framed(&smb::message(request, 0x103, &[0; 16])))?;
            std::thread::sleep(Duration::from_millis(1));
        }
        stream.write_all(&framed(&smb::answer(request)))
    });
    for at in [dripping, fragments, pending] {
        let began = Instant::now();
        let why = outcome(&at, &access(), within).unwrap_err();
        assert!(why.contains("the conversation has taken longer than 3 s"), "{at}: {why}");
        assert!(began.elapsed() < Duration::from_secs(9), "{at}: {:?}", began.elapsed());
    }
    // A packet of a thousand bytes, one at a time.
    let announced = [sftp::version(), vec![0, 0, 3, 0xe8, 201]].concat();
    let (outcome, took) = over_ssh(&announced, "while :; do printf '\\0'; sleep 0.1; done");
    assert!(outcome.is_err_and(|why| why.contains("longer than 4 s")));
    assert!(took < Duration::from_secs(10), "{took:?}");
    Ok(())
}

fn a_user_of_smb_is_answered_with_signatures_or_not_at_all() -> Outcome {
    let access = Access { password: Some(Token("pass word".to_owned())), ..access() };
    let as_user = |at: String| at.replace("smb://", "smb://ann@");
    // It says that nothing need be signed, as whoever stands on the way can have it say.
    let at = smb_server(|request, stream| stream.write_all(&framed(&smb::answer(request))));
    let why = outcome(&as_user(at), &access, LONG).unwrap_err();
    assert!(why.contains("not signed by the server"), "{why}");
    for flags in [1, 2] {
        let at = smb_server(move |request, stream| {
            let mut answer = smb::answer(request);
            if request[12] == 1 && answer[8] == 0 {
                answer[smb::HEADER + 2] = flags;
            }
            stream.write_all(&framed(&answer))
        });
        let why = outcome(&as_user(at), &access, LONG).unwrap_err();
        assert!(why.contains("logged user ann in as a guest"), "{why}");
    }
    Ok(())
}

/// The folder that a run would make its file in, on a server that answers every call after four seconds.
fn no_server_holds_a_run_up_for_long() -> Outcome {
    let at = nfs_server(|request, stream| {
        std::thread::sleep(Duration::from_secs(4));
        let mut answer = nfs::answer(request);
        if procedure(request) == Some(1) {
            answer[31] = 2;
        }
        stream.write_all(&nfs::framed(&answer))
    });
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.env("XDG_DATA_HOME", folder.path()).args(["run", "remote_read", "--quick", "--alongside"]);
    command.args(["--budget", "1s", "--remote", &at.replace("/file", "/"), "--output"]);
    command.arg(folder.path().join("run.jsonl")).arg("--dir").arg(folder.path());
    let began = Instant::now();
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while run.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(70) {
            let _ = run.kill();
            let _ = run.wait();
            panic!("the run waits for its server");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn a_file_is_made_within_its_time() -> Outcome {
    let at = nfs_server(|request, stream| {
        let mut answer = nfs::answer(request);
        match procedure(request) {
            Some(1) => answer[31] = 2,
            Some(7) => std::thread::sleep(Duration::from_secs(1)),
            _ => {}
        }
        stream.write_all(&nfs::framed(&answer))
    });
    let began = Instant::now();
    let made = ended(move || {
        let within = Duration::from_secs(4);
        own_file::find_or_make(&address(&at.replace("/file", "/")), &access(), "made", within, &mut |_| true)
    });
    assert!(made.is_err_and(|why| why.contains("longer than 4 s")));
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    Ok(())
}
