//! Whoever else answers where the peer should be.

use super::server::peer;
use crate::tier::{Outcome, Test, beside};
use fathom::peer::protocol::{Hello, LONGEST_REPLY, Reply, framed};
use fathom::peer::server::PeerLimits;
use fathom::peer::{PeerAddress, Session, Token};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &beside![
    one_that_does_not_know_the_token_is_found_out,
    one_that_sends_our_own_proof_back_is_found_out,
    one_that_speaks_garbage_is_no_peer,
    one_that_says_nothing_hangs_and_costs_seconds,
    one_of_another_version_is_named,
    one_that_answers_another_question_or_refuses_is_told,
    nobody_at_all_is_told_as_that,
];

/// Somebody who answers each message with the next of these.
pub fn impostor(listener: TcpListener, answers: Vec<Vec<u8>>) -> PeerAddress {
    let there = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = vec![];
        for stream in listener.incoming().map_while(Result::ok) {
            open.push(answer(stream, &answers));
        }
    });
    let token = Token("0123456789abcdef".to_owned());
    PeerAddress { address: there.ip(), also: None, port: there.port(), token, is_virtual: false }
}

fn answer(mut stream: TcpStream, answers: &[Vec<u8>]) -> TcpStream {
    for answer in answers {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(answer);
    }
    stream
}

fn complaint(answers: Vec<Vec<u8>>) -> String {
    let address = impostor(TcpListener::bind("127.0.0.1:0").unwrap(), answers);
    let began = Instant::now();
    let complaint = Session::open(&address).unwrap_err().to_string();
    assert!(began.elapsed() < Duration::from_secs(8), "an impostor costs seconds");
    complaint
}

pub fn reply(reply: &Reply) -> Vec<u8> {
    framed(reply, LONGEST_REPLY).unwrap()
}

fn one_that_does_not_know_the_token_is_found_out() -> Outcome {
    let challenge = reply(&Reply::Challenge(Hello::ours("2".to_owned())));
    let welcome = reply(&Reply::Welcome { proof: "00".repeat(32) });
    assert!(complaint(vec![challenge, welcome]).contains("does not have this run's token"));
    Ok(())
}

fn one_that_sends_our_own_proof_back_is_found_out() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = vec![0; 4096];
        let _ = stream.read(&mut heard);
        stream.write_all(&reply(&Reply::Challenge(Hello::ours("2".to_owned())))).unwrap();
        let length = stream.read(&mut heard).unwrap();
        let text = String::from_utf8_lossy(&heard[4..length]).into_owned();
        let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
        let proof = shown["proof"].as_str().unwrap().to_owned();
        stream.write_all(&reply(&Reply::Welcome { proof })).unwrap();
        let _ = stream.read(&mut heard);
    });
    let token = Token("0123456789abcdef".to_owned());
    let peer = PeerAddress { address: there.ip(), also: None, port: there.port(), token, is_virtual: false };
    assert!(Session::open(&peer).unwrap_err().to_string().contains("does not have this run's token"));
    Ok(())
}

fn one_that_speaks_garbage_is_no_peer() -> Outcome {
    assert!(complaint(vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()]).contains("is not a peer"));
    assert!(complaint(vec![[&[0, 0, 0, 2][..], b"{}"].concat()]).contains("is not a peer"));
    Ok(())
}

fn one_that_says_nothing_hangs_and_costs_seconds() -> Outcome {
    assert!(complaint(vec![]).contains("it hangs"));
    Ok(())
}

fn one_of_another_version_is_named() -> Outcome {
    let other = Hello { protocol: 1, version: "0.0.1".to_owned(), nonce: "2".to_owned() };
    let said = complaint(vec![reply(&Reply::Challenge(other))]);
    assert!(said.contains("0.0.1") && said.contains("use the same on both"), "{said}");
    Ok(())
}

fn one_that_answers_another_question_or_refuses_is_told() -> Outcome {
    assert!(complaint(vec![reply(&Reply::Done)]).contains("another question"));
    let hostile = Reply::Refused { reason: "\u{1b}[31mno\n".repeat(1000) };
    let said = complaint(vec![reply(&hostile)]);
    assert!(said.contains("refuses") && !said.contains('\u{1b}') && said.len() < 600, "{said}");
    Ok(())
}

fn nobody_at_all_is_told_as_that() -> Outcome {
    let (address, end) = peer(PeerLimits { idle: Duration::from_millis(1), ..PeerLimits::default() });
    end.join().unwrap();
    assert!(Session::open(&address).unwrap_err().to_string().contains("nothing listens there"));
    Ok(())
}
