//! Messages of a trial's process about a long preparation, before its answer and in the same stream, so that a run is not silent
//! meanwhile. No message is sent during observations.

use std::io::Write;

/// Prefix of a line that is a message, not the answer, which is JSON.
const MARK: &[u8] = b"preparing: ";

/// Sends a message about what this trial does before it observes: text without a line end.
pub fn say(doing: &str) {
    let mut out = std::io::stdout().lock();
    // If nobody reads, the trial was ended.
    let _ = out.write_all(MARK).and_then(|()| writeln!(out, "{doing}"));
}

/// Says that this process waits for its request: by an empty line.
pub fn say_ready() {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(b"\n").and_then(|()| out.flush());
}

/// Removes whole lines from the front of a process's output: passes messages about preparations to the listener, and returns the
/// first line that is an answer.
pub(super) fn hear(received: &mut Vec<u8>, listener: &mut dyn FnMut(&str)) -> Option<Vec<u8>> {
    loop {
        let end = received.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = received.drain(..=end).take(end).collect();
        match line.strip_prefix(MARK) {
            Some(doing) => listener(String::from_utf8_lossy(doing).as_ref()),
            None if line.is_empty() => {}
            None => return Some(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_and_the_answers_are_told_apart_wherever_they_are_torn() {
        let text = b"\npreparing: one\n{\"broke\":\"preparing: no\"}\npreparing: two\n{}\n{\"torn";
        for torn in 0..text.len() {
            let (mut received, mut messages, mut answers) = (vec![], vec![], vec![]);
            for part in [&text[..torn], &text[torn..]] {
                received.extend_from_slice(part);
                while let Some(answer) = hear(&mut received, &mut |doing| messages.push(doing.to_owned())) {
                    answers.push(answer);
                }
            }
            assert_eq!(messages, ["one", "two"], "torn at {torn}");
            assert_eq!(answers, [b"{\"broke\":\"preparing: no\"}".to_vec(), b"{}".to_vec()]);
            assert_eq!(received, b"{\"torn", "what has no end is no answer");
        }
    }
}
