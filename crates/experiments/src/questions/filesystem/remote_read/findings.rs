//! Findings from remote reads: the network's penalty compared with local reads, and with the prediction from its round trip and
//! its bandwidth.

use super::points::{
    CLIENT_CACHED, DEEP, FILES, LARGE, LOCAL, QUEUE_DEPTH, RANDOM, SEQUENTIAL, SERVER_CACHED, SERVER_COLD,
    SMALL, block, by_size, no_data,
};
use fathom_core::machine::Remote;
use fathom_core::prelude::*;
use fathom_core::quantity::declared;

const NAME: &str = "filesystem/remote_read";

pub fn findings(known: &Known) -> Vec<Finding> {
    let Some(remote) = &known.machine.storage.remote else { return vec![] };
    let through = remote.through.as_str();
    let shapes = [(RANDOM, SMALL), (SEQUENTIAL, SMALL), (RANDOM, LARGE), (SEQUENTIAL, LARGE)];
    let penalties = shapes.into_iter().filter_map(|(order, bytes)| penalty(through, order, bytes, known));
    let orders = [SMALL, LARGE].into_iter().filter_map(|bytes| order(through, bytes, known));
    let others = [
        by_file(through, known),
        predicted(through, known),
        bytes_of_large_blocks(through, known),
        in_flight(through, known),
        coldness(through, known),
    ];
    penalties.chain(orders).chain(others.into_iter().flatten()).chain(one_machine(remote)).collect()
}

/// A block in the server's cache.
fn far(through: &str, order: &str, bytes: u64, known: &Known) -> Option<Found> {
    known.found(NAME, &block(through, SERVER_CACHED, order, bytes))
}

/// The same block of a local file in this machine's cache.
fn near(order: &str, bytes: u64, known: &Known) -> Option<Found> {
    known.found(NAME, &block(LOCAL, CLIENT_CACHED, order, bytes))
}

fn penalty(through: &str, order: &str, bytes: u64, known: &Known) -> Option<Finding> {
    let (far, near) = (far(through, order, bytes, known)?, near(order, bytes, known)?);
    let what = format!("{order} {}", declared::size(bytes));
    let comparison = match far.beyond(near) {
        Some(difference) => statement!(
            "the network's penalty is {difference}; the remote block takes {ratio} times as long",
            difference = difference.named(&format!("penalty, {what}")),
            ratio = far.over(near).named(&format!("remote over local, {what}"))
        ),
        None => far.not_beyond(&near).into(),
    };
    Some(finding!(
        Question::Penalty,
        "By {through} a {order} block of {bytes} takes {far} from the server's cache and {near} from this \
         machine's: {comparison}.",
        bytes = declared::size(bytes),
        far = far.named(&format!("remote, {what}")),
        near = near.named(&format!("local, {what}")),
        comparison
    ).about(format!("{order} {bytes}")))
}

/// A random block of the smallest and of the largest file, remote and local.
fn by_file(through: &str, known: &Known) -> Option<Finding> {
    let result = |through, state, file| known.found(NAME, &by_size(through, state, RANDOM, file));
    let (small, large) = (FILES[0], FILES[FILES.len() - 1]);
    let penalty = |file| result(through, SERVER_CACHED, file)?.beyond(result(LOCAL, CLIENT_CACHED, file)?);
    Some(finding!(
        Question::Penalty,
        "By the size of the file the penalty of a random block of {block} by {through} is {least} of {small} \
         and {most} of {large}.",
        block = declared::size(SMALL),
        least = penalty(small)?.named("penalty, smallest file"),
        small = declared::size(small),
        most = penalty(large)?.named("penalty, largest file"),
        large = declared::size(large)
    ))
}

fn order(through: &str, bytes: u64, known: &Known) -> Option<Finding> {
    let random = far(through, RANDOM, bytes, known)?;
    let sequential = far(through, SEQUENTIAL, bytes, known)?;
    let name = format!("random over sequential, {}", declared::size(bytes));
    Some(
        finding!(
            Question::Order,
            "By {through} a block of {bytes} in random over sequential order, {random} over {sequential}: {ratio}.",
            bytes = declared::size(bytes),
            random = random.named(&format!("random, {}", declared::size(bytes))),
            sequential = sequential.named(&format!("sequential, {}", declared::size(bytes))),
            ratio = random.times_as("much", sequential, &name)
        )
        .about(bytes),
    )
}

/// The penalty of a small block compared with one exchange without data plus its bytes at the rate of a deep queue, or for a
/// mount at the rate of large sequential blocks.
fn predicted(through: &str, known: &Known) -> Option<Finding> {
    let round_trip = known.found(NAME, &no_data(through))?;
    let in_flight = block(through, SERVER_CACHED, SEQUENTIAL, LARGE).with(&QUEUE_DEPTH, DEEP);
    let (streamed, rate) = match known.found(NAME, &in_flight) {
        Some(streamed) => (streamed, "at the rate of several requests in flight"),
        None => (far(through, SEQUENTIAL, LARGE, known)?, "at the rate of large blocks in sequence"),
    };
    let expected = round_trip.plus(streamed.scaled(SMALL as f64 / LARGE as f64));
    let penalty = far(through, RANDOM, SMALL, known)?.beyond(near(RANDOM, SMALL, known)?)?;
    let comparison = match penalty.differs_from(&expected) {
        _ if penalty.is_like(&expected) => statement!("round trip and bandwidth account for it"),
        Some(false) => statement!("the two are not significantly different"),
        _ if penalty.value > expected.value => statement!(
            "{difference} more: the work of the server and the client on the file",
            difference = penalty.minus(expected).named("penalty less prediction")
        ),
        _ => statement!(
            "{difference} less",
            difference = expected.minus(penalty).named("prediction less penalty")
        ),
    };
    Some(finding!(
        Question::Penalty,
        "Of a random block of {small} the round trip (an exchange without data, {round_trip}) and the bytes, \
         {rate}, predict {expected}; the penalty is {penalty}: {comparison}.",
        small = declared::size(SMALL),
        round_trip = round_trip.named("exchange without data"),
        expected = expected.named("penalty predicted"),
        penalty = penalty.named("penalty found"),
        comparison
    ))
}

fn bytes_of_large_blocks(through: &str, known: &Known) -> Option<Finding> {
    let large = far(through, SEQUENTIAL, LARGE, known)?;
    let rate = large.inverse(LARGE as f64 * 1e9, Unit::BytesPerSecond);
    Some(finding!(
        Question::Penalty,
        "A block of {large}, one request at a time, comes at {rate}.",
        large = declared::size(LARGE),
        rate = rate.named("rate, one request at a time")
    ))
}

fn in_flight(through: &str, known: &Known) -> Option<Finding> {
    let one = block(through, SERVER_CACHED, SEQUENTIAL, SMALL);
    let many = one.clone().with(&QUEUE_DEPTH, DEEP);
    let (one, many) = (known.found(NAME, &one)?, known.found(NAME, &many)?);
    Some(finding!(
        Question::Penalty,
        "With {DEEP} requests in flight a sequential block of {small} takes {many} instead of {one}. One at \
         a time: {ratio}.",
        small = declared::size(SMALL),
        many = many.named("block, several requests in flight"),
        one = one.named("block, one request at a time"),
        ratio = one.times_as("long", many, "one at a time over several in flight")
    ))
}

fn coldness(through: &str, known: &Known) -> Option<Finding> {
    let cold = known.found(NAME, &block(through, SERVER_COLD, RANDOM, SMALL))?;
    let cached = far(through, RANDOM, SMALL, known)?;
    let cold_against_cached = match cold.beyond(cached) {
        Some(difference) => statement!(
            "From the server's disk a random block of {small} takes {difference} more than from its cache.",
            small = declared::size(SMALL),
            difference = difference.named("server's disk less its cache")
        ),
        None => "Between the server's cache and its disk, no significant difference is visible behind the variation of the \
                 network."
            .into(),
    };
    Some(finding!(Question::Penalty, "{cold_against_cached}", cold_against_cached))
}

fn one_machine(remote: &Remote) -> Option<Finding> {
    let finding = || {
        finding!(
            Question::Penalty,
            "The server is this machine: these figures include no wire, and both sides share its processors."
        )
    };
    remote.is_here().then(finding)
}
