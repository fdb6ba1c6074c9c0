//! Callers that are not let in, each with words.

use super::server::{peer, where_is};
use crate::tier::{Outcome, Test, beside};
use fathom::peer::protocol::{
    Frames, Hello, LONGEST_REPLY, LONGEST_REQUEST, PROTOCOL, Reply, Request, framed,
};
use fathom::peer::server::PeerLimits;
use fathom::peer::{PeerAddress, Session, Token};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

pub const TESTS: &[Test] = &beside![
    a_wrong_token_opens_nothing,
    another_version_is_refused_with_both_named,
    garbage_is_told_so,
    a_frame_that_is_too_long_is_not_waited_for,
    nothing_is_done_before_the_token_is_shown,
    a_caller_that_says_nothing_is_sent_away,
];

fn short_lived() -> (PeerAddress, impl Sized) {
    peer(PeerLimits { idle: Duration::from_secs(10), ..PeerLimits::default() })
}

/// What a peer answers to these bytes, all of it.
fn answers(peer: &PeerAddress, bytes: &[u8]) -> Vec<Reply> {
    let mut stream = TcpStream::connect(where_is(peer)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    stream.write_all(bytes).unwrap();
    let mut said = vec![];
    stream.read_to_end(&mut said).expect("the peer hangs up in an orderly way");
    let mut frames = Frames::new(LONGEST_REPLY);
    frames.extend(&said);
    std::iter::from_fn(|| frames.take().unwrap()).collect()
}

fn refusal(peer: &PeerAddress, bytes: &[u8]) -> String {
    match answers(peer, bytes).pop() {
        Some(Reply::Refused { reason }) => reason,
        other => panic!("not refused: {other:?}"),
    }
}

fn request(request: &Request) -> Vec<u8> {
    framed(request, LONGEST_REQUEST).unwrap()
}

fn a_wrong_token_opens_nothing() -> Outcome {
    let (address, _end) = short_lived();
    for wrong in ["0123456789abcdeF", "", "0123456789abcdef0"] {
        let wrong = PeerAddress { token: Token(wrong.to_owned()), ..address.clone() };
        let refused = Session::open(&wrong).unwrap_err().to_string();
        assert!(refused.contains("the token is not that of this peer"), "{refused}");
    }
    assert!(Session::open(&address).is_ok(), "the right one still does");
    Ok(())
}

fn another_version_is_refused_with_both_named() -> Outcome {
    let (address, _end) = short_lived();
    let hello = |protocol, version: &str| {
        request(&Request::Hello(Hello { protocol, version: version.to_owned(), nonce: "1".to_owned() }))
    };
    let ours = env!("CARGO_PKG_VERSION");
    let reason = refusal(&address, &hello(PROTOCOL + 1, "9.9.9"));
    assert!(reason.contains("9.9.9") && reason.contains(ours) && reason.contains("use the same"), "{reason}");
    assert!(refusal(&address, &hello(PROTOCOL, "0.0.1")).contains("0.0.1"));
    // What a later version says beside it does not hide that it is later.
    let later =
        format!(r#"{{"request":"hello","protocol":7,"version":"{ours}","nonce":"1","colour":"red"}}"#);
    let frame = [&(later.len() as u32).to_be_bytes(), later.as_bytes()].concat();
    assert!(refusal(&address, &frame).contains("different versions"));
    Ok(())
}

fn garbage_is_told_so() -> Outcome {
    let (address, _end) = short_lived();
    assert!(refusal(&address, b"GET / HTTP/1.1\r\nHost: peer\r\n\r\n").contains("was announced"));
    assert!(refusal(&address, b"SSH-2.0-OpenSSH_9.9\r\n").contains("was announced"));
    assert!(refusal(&address, &[0, 0, 0, 3, b'{', b'x', b'}']).contains("does not speak this protocol"));
    assert!(refusal(&address, &[0, 0, 0, 0]).contains("does not speak this protocol"));
    Ok(())
}

fn a_frame_that_is_too_long_is_not_waited_for() -> Outcome {
    let (address, _end) = short_lived();
    let announced = (LONGEST_REQUEST as u32 + 1).to_be_bytes();
    let reason = refusal(&address, &announced);
    assert!(reason.contains("65537 bytes was announced, and 65536 is the most"), "{reason}");
    Ok(())
}

fn nothing_is_done_before_the_token_is_shown() -> Outcome {
    let (address, _end) = short_lived();
    let start = Request::Start { service: super::server::ECHO, cpu: None };
    assert!(refusal(&address, &request(&start)).contains("first message must be a greeting"));
    let both = [request(&Request::Hello(Hello::ours("1".to_owned()))), request(&start)].concat();
    let answers = answers(&address, &both);
    assert!(matches!(answers[0], Reply::Challenge(_)));
    assert!(matches!(&answers[1], Reply::Refused { reason } if reason.contains("token must be presented")));
    assert_eq!(answers.len(), 2, "{answers:?}");
    Ok(())
}

fn a_caller_that_says_nothing_is_sent_away() -> Outcome {
    let (address, _end) = short_lived();
    let reason = refusal(&address, &[0, 0]);
    assert!(reason.contains("no answer within 5 s"), "{reason}");
    Ok(())
}
