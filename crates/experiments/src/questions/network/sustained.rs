//! Does a TCP stream keep its rate?

use super::bandwidth;
use crate::apparatus::lasting::{self, COMPARED, FIGURE, LASTING, WINDOW};
use crate::apparatus::network::account::{self, Account};
use crate::apparatus::network::arrival_rate::received_by;
use crate::apparatus::network::path::{LOOPBACK, PATH, PEER, required};
use crate::apparatus::network::sending::WRITE;
use crate::apparatus::network::transfer::{self, TransferOrder};
use fathom_core::prelude::*;
use fathom_core::quantity::Kind;
use fathom_equipment::peer::service::Enough;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

pub struct Sustained;

static ABOUT: About = About {
    name: "network/sustained",
    question: "Does a TCP stream keep its rate?",
    operation: "one byte of payload, moved from one process to another by a long TCP stream",
    method: "One TCP stream in chunks of 128 KiB, as in `bandwidth`, runs for a second. The receiver counts and times the bytes. The first \
             twentieth of the time shows what a short transfer would measure, the second half shows the sustained \
             rate: cloud networks often allow a burst and then limit the rate (a token bucket).",
    caveats: "Limits whose burst lasts for minutes need `--thorough` (20 s), or an even longer time. Over loopback \
              both sides share this machine's processors.",
    version: 1,
    timed: Some(TimedCode {
        of: "the sender",
        source: include_str!("../../apparatus/network/transfer.rs"),
        begins: "fn send_until(",
    }),
    parameters: &[PATH, LASTING, FIGURE],
    trends: &[],
    shown: Shown::by(&[
        MainFigure::of(
            "TCP to the peer, without a pause",
            &[("path", At::PEER), ("figure", At::Name("sustained")), ("lasting", At::Least)],
        ),
        MainFigure::of(
            "TCP over loopback, without a pause",
            &[("path", At::Name("loopback")), ("figure", At::Name("sustained")), ("lasting", At::Least)],
        ),
    ])
    .in_order(|point| point.name(&FIGURE) == WINDOW),
};

const PATHS: [&str; 2] = [LOOPBACK, PEER];
const CHUNK: u32 = 128 << 10;

impl Experiment for Sustained {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn sweep(&self, _: &Machine) -> Vec<Point> {
        PATHS.iter().flat_map(|path| lasting::points(stream(path))).collect()
    }

    fn requires(&self, point: &Point) -> Vec<Requirement> {
        required(point)
    }

    fn effort(&self, point: &Point, _: &Machine) -> Effort {
        lasting::effort(point)
    }

    fn unit(&self, _: &Point) -> Unit {
        Unit::BytesPerSecond
    }

    fn predict(&self, point: &Point, known: &Known) -> Result<Prediction, String> {
        lasting::predicted((&bandwidth::Bandwidth, &bandwidth::usual_point(point.name(&PATH))), known)
    }

    fn bound(&self, _: &Point, known: &Known) -> Option<Bound> {
        let because =
            "the receiver copies every byte, and no core moves more than 64 bytes a cycle".to_owned();
        Some(Bound::of(64e9 / known.shortest_cycle(), because))
    }

    fn figure(&self) -> Option<&'static Parameter> {
        Some(&FIGURE)
    }

    fn touches(&self, _: &Point) -> Vec<Touch> {
        vec![Touch::Sockets]
    }

    fn prepare<'site>(&self, point: &Point, site: &'site Site) -> Result<Workload<'site>, Failure> {
        let lasting = point.number(&LASTING);
        let order = TransferOrder {
            by: WRITE.to_owned(),
            path: point.name(&PATH).to_owned(),
            chunk: CHUNK,
            streams: 1,
            buffers: None,
            enough: Enough { ns: lasting + lasting / 20, bytes: 0 },
            reads_after: Duration::ZERO,
        };
        let account = Rc::new(RefCell::new(Account::new()));
        let recorded = Rc::clone(&account);
        let observe = move || {
            let began = site.stopwatch.now_ns();
            let transfer = transfer::send(&order, site)?;
            recorded.borrow_mut().add(&transfer, site.stopwatch.now_ns() - began);
            let noted = |end| Some((end, received_by(&transfer.arrivals, end)?));
            let progress: Option<Vec<lasting::Progress>> = lasting::ends(lasting as f64).map(noted).collect();
            let progress = progress.ok_or_else(|| {
                Failure::Broke("the stream ended before its time, or nothing of it arrived".to_owned())
            })?;
            Ok(lasting::per_second(&progress))
        };
        Ok(Workload::figures(observe).cold().witnessed(move || account.borrow().witness()))
    }

    fn evidence(&self, _: &Point, observed: &Observed) -> Vec<Check> {
        vec![account::complete(observed)]
    }

    fn findings(&self, known: &Known) -> Vec<Finding> {
        let paths = PATHS.map(|path| (format!("TCP, {path}"), stream(path)));
        let paths = lasting::compared_in(ABOUT.name, paths, Kind::Rate, known);
        let finding = |paths| finding!(Question::Experiment, "A TCP stream {COMPARED}: {paths}.", paths);
        paths.map(finding).into_iter().collect()
    }

    fn least_time(&self, point: &Point) -> Duration {
        Duration::from_nanos(point.number(&LASTING))
    }

    fn time_limit(&self, point: &Point) -> Duration {
        Duration::from_secs(15) + 4 * Duration::from_nanos(point.number(&LASTING))
    }
}

fn stream(path: &str) -> Point {
    Point::at(Placement::AcrossCpus).named(&PATH, path)
}
