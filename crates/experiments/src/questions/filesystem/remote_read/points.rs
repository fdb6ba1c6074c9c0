//! Points of `filesystem/remote_read`.

use fathom_core::machine::Remote;
use fathom_core::prelude::*;

pub const PROTOCOL: Parameter = Parameter::named(
    "protocol",
    "how the bytes are read: through a protocol's client, a mount of a network file system, or, for \
              comparison, a local file",
);
pub const STATE: Parameter = Parameter::of(
    "state",
    "which cache holds the blocks before they are read, where that can be shown",
    &[NO_DATA, CLIENT_CACHED, SERVER_CACHED, SERVER_COLD, UNPROVED],
);
pub const ORDER: Parameter =
    Parameter::of("order", "the order in which the blocks of the file are read", &[RANDOM, SEQUENTIAL]);
pub const BLOCK: Parameter = Parameter::bytes("block", "bytes of one block, each read whole");
pub const FILE: Parameter = Parameter::bytes(
    "file",
    "bytes read, from the beginning of the file; without this parameter, a part elsewhere in the file",
);
pub const QUEUE_DEPTH: Parameter = Parameter::count(
    "queue_depth",
    "requests in flight: the one whose answer is awaited, and those sent after it",
);

/// State: a request without data.
pub const NO_DATA: &str = "no data";
/// State: the data are in this machine's page cache.
pub const CLIENT_CACHED: &str = "client-cached";
/// State: this machine read the same blocks from the server just before.
pub const SERVER_CACHED: &str = "server-cached";
/// State: the server's page cache was verified to be empty.
pub const SERVER_COLD: &str = "server-cold";
/// State: unknown.
pub const UNPROVED: &str = "server unproved";

/// Protocol of local reads, for comparison.
pub const LOCAL: &str = "local file";
pub const RANDOM: &str = "random";
/// Order: that of the file.
pub const SEQUENTIAL: &str = "sequential";

/// Size of a small block, bytes: a page, and the block of the reports.
pub const SMALL: u64 = 4 << 10;
/// Size of a large block, bytes.
pub const LARGE: u64 = 1 << 20;

/// Requests in flight if there is more than one: the awaited one, and 16 sent after it.
pub const DEEP: u64 = 17;

/// Sizes of the beginnings of the file that are read as files of growing size (R-REP-11): the largest is all of a created file.
pub const FILES: [u64; 4] = [64 << 10, 1 << 20, 8 << 20, 32 << 20];

/// The four combinations of order and block size; the reports have random and sequential ones (R-FS-19, R-FS-25).
const SHAPES: [(&str, u64); 4] = [(RANDOM, SMALL), (SEQUENTIAL, SMALL), (RANDOM, LARGE), (SEQUENTIAL, LARGE)];

pub fn block(through: &str, state: &str, order: &str, bytes: u64) -> Point {
    Point::at(Placement::Free)
        .named(&PROTOCOL, through)
        .named(&STATE, state)
        .named(&ORDER, order)
        .with(&BLOCK, bytes)
        .with(&QUEUE_DEPTH, 1)
}

/// The point of a small block of a file of some size.
pub fn by_size(through: &str, state: &str, order: &str, file: u64) -> Point {
    block(through, state, order, SMALL).with(&FILE, file)
}

/// Points of small blocks of files of every size, sequential and random.
fn by_sizes<'a>(through: &'a str, state: &'a str) -> impl Iterator<Item = Point> + 'a {
    let of_order = move |order| FILES.map(|file| by_size(through, state, order, file));
    [SEQUENTIAL, RANDOM].into_iter().flat_map(of_order)
}

/// The point of an exchange without data.
pub fn no_data(through: &str) -> Point {
    Point::at(Placement::Free).named(&PROTOCOL, through).named(&STATE, NO_DATA)
}

/// Whether the server's cache can be emptied: by programs that run there, or by dropping all caches of this machine if it is the
/// server.
fn empties_its_server(remote: &Remote) -> bool {
    remote.through == "sftp" || remote.is_here()
}

/// Whether a mount can be made to ask its server despite its cache: the kernel's clients get attributes anew on request, and daemons
/// (FUSE) look up a name that nobody has asked for.
fn asks_its_server(through: &str) -> bool {
    matches!(through, "NFS mount" | "SMB mount" | "sshfs mount")
}

/// Every point of a remote file: local reads first, for comparison, because predictions build on them.
pub fn points(remote: &Remote) -> Vec<Point> {
    let through = remote.through.as_str();
    let shaped = |through: &'static str, state: &'static str| {
        SHAPES.map(|(order, bytes)| block(through, state, order, bytes))
    };
    let remotely = |state: &'static str| SHAPES.map(|(order, bytes)| block(through, state, order, bytes));
    let mut points = shaped(LOCAL, CLIENT_CACHED).to_vec();
    points.extend(remotely(CLIENT_CACHED).into_iter().filter(|_| remote.is_mounted()));
    if !remote.is_mounted() || asks_its_server(through) {
        points.push(no_data(through));
    }
    points.extend(remotely(SERVER_CACHED));
    if !remote.is_mounted() {
        let streamed = SHAPES.into_iter().filter(|(order, _)| *order == SEQUENTIAL);
        points.extend(
            streamed
                .map(|(order, bytes)| block(through, SERVER_CACHED, order, bytes).with(&QUEUE_DEPTH, DEEP)),
        );
    }
    let emptied = empties_its_server(remote);
    if emptied {
        points.extend(remotely(SERVER_COLD));
    }
    if remote.is_file() {
        points.extend(remotely(UNPROVED));
    }
    points.extend(by_sizes(LOCAL, CLIENT_CACHED));
    points.extend(by_sizes(through, CLIENT_CACHED).filter(|_| remote.is_mounted()));
    points.extend(by_sizes(through, SERVER_CACHED));
    points.extend(by_sizes(through, SERVER_COLD).filter(|_| emptied));
    points
}
