//! The atlas that is a part of the program.

use super::entry::Entry;
use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::LazyLock;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/atlas.gz"));

/// The bytes that the atlas takes of the program.
pub const PACKED_BYTES: usize = PACKED.len();

/// The machines of an atlas.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Atlas {
    /// The machines, by their names.
    pub machines: Vec<Entry>,
}

static COMPILED: LazyLock<Atlas> = LazyLock::new(|| unpacked(PACKED));

/// The machines of this program, read at the first request.
pub fn compiled() -> &'static Atlas {
    &COMPILED
}

impl Atlas {
    /// The machine of this name.
    pub fn machine(&self, id: &str) -> Option<&Entry> {
        self.machines.iter().find(|machine| machine.id == id)
    }

    /// The same without a machine.
    #[must_use]
    pub fn without(&self, id: &str) -> Self {
        Atlas { machines: self.machines.iter().filter(|machine| machine.id != id).cloned().collect() }
    }
}

/// # Panics
/// If a file is invalid: they are part of the program, and a test reads all of them.
fn unpacked(packed: &[u8]) -> Atlas {
    let mut text = String::new();
    let read = GzDecoder::new(packed).read_to_string(&mut text);
    let machines = read.map_err(|error| error.to_string());
    let machines = machines.and_then(|_| Entry::parse(&text).map_err(|error| error.to_string()));
    Atlas { machines: machines.unwrap_or_else(|error| panic!("atlas: {error}")) }
}
