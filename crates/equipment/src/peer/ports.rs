//! Ephemeral ports: the number that a trial may use, and the kernel's count of failed connections.

use fathom_core::experiment::Failure;
use std::fs::read_to_string;

/// The most connections of one trial that may leave a port in `TIME_WAIT`.
const MOST_OF_A_TRIAL: u64 = 100;

/// The fewest connections of a useful trial.
const FEWEST_OF_A_TRIAL: u64 = 10;

/// Linux's default range (ip(7)), used if the actual one cannot be read.
const USUAL_RANGE: (u64, u64) = (32_768, 60_999);

/// The number of connections that this trial may end such that their ports wait for late packets (`TIME_WAIT`, a minute on
/// Linux). Half of the machine's ephemeral ports are left to others.
pub fn allowance() -> Result<u64, Failure> {
    Ok(available()?.min(MOST_OF_A_TRIAL))
}

/// The number of ports that all measurements together may still leave waiting.
pub fn available() -> Result<u64, Failure> {
    let (first, last) = range();
    let waiting = waiting();
    let ours = ((last - first) / 2).saturating_sub(waiting);
    if ours < FEWEST_OF_A_TRIAL {
        return Err(Failure::Unsupported(format!(
            "{waiting} ports are in TIME_WAIT, and half of the {} ephemeral ports are left to other programs: try \
             again in a minute",
            last - first
        )));
    }
    Ok(ours)
}

/// The first and the last port that the kernel gives away.
pub fn range() -> (u64, u64) {
    let text = read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [first, last] if first < last => (first, last),
        _ => USUAL_RANGE,
    }
}

fn waiting() -> u64 {
    let text = read_to_string("/proc/net/sockstat").unwrap_or_default();
    let tcp = text.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let mut words = tcp.split_whitespace().skip_while(|word| *word != "tw");
    words.nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The number of connections to a full backlog in this network namespace since its creation; `None` if the kernel does not
/// report it.
pub fn backlog_overflows() -> Option<u64> {
    extended(&read_to_string("/proc/net/netstat").ok()?, "ListenOverflows")
}

/// A number of the `TcpExt` lines, of which one has the names and the next the values.
fn extended(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:")).map(str::split_whitespace);
    let (mut names, mut values) = (lines.next()?, lines.next()?);
    let place = names.position(|word| word == name)?;
    values.nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_found_by_its_name() {
        let text =
            "TcpExt: SyncookiesSent ListenOverflows ListenDrops\nTcpExt: 1 22 333\nIpExt: A\nIpExt: 9\n";
        assert_eq!(extended(text, "ListenOverflows"), Some(22));
        assert_eq!(extended(text, "SyncookiesSent"), Some(1));
        assert_eq!(extended(text, "A"), None);
    }
}
