//! The beginning of a TCP stream: until its sender's congestion control has found the limit of the path.
//!
//! BBR (Cardwell et al. 2017, "BBR: congestion-based congestion control", Communications of the ACM 60(2)) begins with a startup phase
//! in which it paces nothing that a sender of this machine could notice, and leaves it when its estimate of the bandwidth grows no
//! more. Where a stream stays on this machine, that takes from ten to more than thirty milliseconds, in which it is two or three
//! times as fast as ever after. The kernel says in which phase it is (`TCP_CC_INFO`).

use fathom_core::statistics::settled_from;
use std::net::TcpStream;
use std::time::Duration;

/// The longest beginning that is waited for: a sender slower than its path shows congestion control no limit.
const LONGEST: Duration = Duration::from_millis(500);

/// The windows into which the shortest stream is divided, and how many of them in a row must find its rate steady.
const WINDOWS: u32 = 40;
const AGREEING_WINDOWS: u32 = 4;

/// The longest stream whose rate becomes steady: two states that last longer are not waited for.
const LONGEST_UNSTEADY: Duration = Duration::from_secs(1);

/// The beginning of one stream, by its sender.
#[derive(Debug)]
pub struct StreamBeginning {
    /// Bytes sent, and the time passed, when it ended; `None` as long as it lasts.
    ended: Option<(u64, Duration)>,
    /// The rates since then, window by window; `None` of a stream that is counted from its first byte.
    rates: Option<Vec<f64>>,
    /// Bytes and time at which the window under way began.
    window: (u64, Duration),
    /// The last windows in a row that found the rate steady.
    agreeing: u32,
}

impl StreamBeginning {
    /// A stream whose beginning is waited for, or one that is counted from its first byte.
    pub fn new(is_waited_for: bool) -> Self {
        StreamBeginning {
            ended: (!is_waited_for).then_some((0, Duration::ZERO)),
            rates: is_waited_for.then(Vec::new),
            window: (0, Duration::ZERO),
            agreeing: 0,
        }
    }

    /// Whether the stream is long enough, with so many bytes and so much time since its beginning at least: once its rate is steady by
    /// its own readings, the rule by which the receiver cuts off a ramp (`statistics/steady.rs`).
    pub fn is_enough(&mut self, (sent, passed): (u64, Duration), least: (u64, Duration)) -> bool {
        let Some((bytes, time)) = self.since(sent, passed) else { return false };
        self.note((bytes, time), least.1 / WINDOWS);
        let is_steady = self.rates.is_none() || self.agreeing >= AGREEING_WINDOWS || time >= LONGEST_UNSTEADY;
        bytes >= least.0 && time >= least.1 && is_steady
    }

    fn note(&mut self, now: (u64, Duration), window: Duration) {
        let Some(rates) = &mut self.rates else { return };
        let passed = now.1.saturating_sub(self.window.1);
        if passed >= window && !passed.is_zero() {
            rates.push((now.0 - self.window.0) as f64 / passed.as_secs_f64());
            self.window = now;
            self.agreeing = if settled_from(rates).is_some() { self.agreeing + 1 } else { 0 };
        }
    }

    /// Looks whether it is over, at this time since the first byte and after so many bytes.
    pub fn look(&mut self, is_searching: impl FnOnce() -> bool, passed: Duration, sent: u64) {
        if self.ended.is_none() && (passed >= LONGEST || !is_searching()) {
            self.ended = Some((sent, passed));
        }
    }

    /// Bytes and time since its end; `None` as long as it lasts.
    pub fn since(&self, sent: u64, passed: Duration) -> Option<(u64, Duration)> {
        let (bytes, time) = self.ended?;
        Some((sent - bytes, passed.saturating_sub(time)))
    }

    /// Bytes sent before its end.
    pub fn bytes(&self) -> u64 {
        self.ended.map_or(0, |(bytes, _)| bytes)
    }
}

/// What the kernel says of BBR (`struct tcp_bbr_info` in `linux/inet_diag.h`): the bandwidth in two halves, the least round-trip time,
/// and the gains of pacing and of the window in units of 1/256.
#[repr(C)]
#[derive(Default)]
struct BbrInfo {
    bandwidth: [u32; 2],
    least_round_trip_us: u32,
    pacing_gain: u32,
    window_gain: u32,
}

/// Twice BBR's unit of gains. Its startup phase has a gain of 2.8 or more, every later one at most 1.25; before the first
/// acknowledgement there is none.
const GAIN_OF_A_SEARCH: u32 = 2 * 256;

/// Whether a sender's congestion control still searches for the limit of the path; false for those that do not say.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn is_searching(stream: &TcpStream) -> bool {
    use std::os::fd::AsRawFd;

    let mut info = BbrInfo::default();
    let mut size = size_of::<BbrInfo>() as libc::socklen_t;
    // SAFETY: the length is that of the buffer, and every byte of it is a valid part of a number.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CC_INFO,
            (&raw mut info).cast(),
            &raw mut size,
        )
    };
    // Others say less (16 bytes of DCTCP and Vegas), or nothing.
    let is_bbr = status == 0 && size as usize == size_of::<BbrInfo>();
    is_bbr && (info.pacing_gain == 0 || info.pacing_gain > GAIN_OF_A_SEARCH)
}

/// Whether a sender's congestion control still searches for the limit of the path; false for those that do not say.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn is_searching(_: &TcpStream) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_counted_from_the_end_of_the_search_or_of_the_patience() {
        let ms = Duration::from_millis;
        let mut beginning = StreamBeginning::new(true);
        beginning.look(|| true, ms(20), 5_000);
        assert_eq!(beginning.since(6_000, ms(25)), None);
        beginning.look(|| false, ms(30), 7_000);
        beginning.look(|| true, ms(40), 9_000);
        assert_eq!((beginning.since(9_500, ms(45)), beginning.bytes()), (Some((2_500, ms(15))), 7_000));
        let mut endless = StreamBeginning::new(true);
        endless.look(|| true, LONGEST, 1_000);
        assert_eq!(endless.bytes(), 1_000);
        assert_eq!(StreamBeginning::new(false).since(10, ms(1)), Some((10, ms(1))));
    }

    /// The length of a stream that is to last 200 ms, and sends so many bytes in each millisecond.
    fn lasts(bytes: impl Fn(u64) -> u64) -> u64 {
        let mut beginning = StreamBeginning::new(true);
        beginning.look(|| false, Duration::ZERO, 0);
        let (mut sent, mut passed) = (0, 0);
        while !beginning.is_enough((sent, Duration::from_millis(passed)), (0, Duration::from_millis(200))) {
            sent += bytes(passed);
            passed += 1;
        }
        passed
    }

    #[test]
    fn a_stream_goes_on_until_its_rate_is_steady() {
        let even = |at: u64| 1_000_000 + at * 7919 % 1000;
        assert_eq!(lasts(even), 200);
        let slower = |at: u64| if at < 110 { 4 * even(at) } else { even(at) };
        assert!(
            (220..260).contains(&lasts(slower)),
            "{}: the lasting state is the longer part",
            lasts(slower)
        );
        assert_eq!(lasts(|at| 1_000_000 + 10_000 * at), 1_000, "what never becomes steady is ended");
    }
}
