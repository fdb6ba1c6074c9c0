//! Description of a kernel: its operation, its method, and the bytes that cross the bus for it.

use fathom_core::machine::{Host, Live};

/// The operation on the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Every word is loaded and summed.
    Read,
    /// Every word is stored.
    Write,
    Copy,
    /// `a = s × b`, in doubles.
    Scale,
    /// `a = b + s × c`, in doubles.
    Triad,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Read, Kind::Write, Kind::Copy, Kind::Scale, Kind::Triad];

    /// The name in points and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Copy => "copy",
            Kind::Scale => "scale",
            Kind::Triad => "triad",
        }
    }

    /// Number of arrays read.
    pub fn loaded(self) -> u64 {
        match self {
            Kind::Write => 0,
            Kind::Read | Kind::Copy | Kind::Scale => 1,
            Kind::Triad => 2,
        }
    }

    /// Number of arrays written.
    pub fn stored(self) -> u64 {
        u64::from(self != Kind::Read)
    }

    pub fn arrays(self) -> u64 {
        self.loaded() + self.stored()
    }
}

/// Whether written lines are read first, because a cache may hold a line only as a whole (read-for-ownership, write-allocate).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// Every line is read before it is written.
    Read,
    /// Whole lines go to memory past the caches.
    Avoided,
    /// The core stops reading lines first after some were written completely, one after the other.
    Streamed,
    /// The processor or the library chooses.
    Unknown,
}

/// The origin of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// Our own assembly, which is disassembled. Each load and store has this many bytes.
    Assembly(u64),
    Compiler,
    Library,
}

/// A kernel: its arguments are the array written, the arrays read, the bytes of each, and the word to write or to multiply with.
/// It returns the sum of the words read, or 0.
pub type Pass = unsafe extern "C" fn(Dest, Src, Src, usize, u64) -> u64;

/// The first word of the array written.
pub type Dest = *mut u64;

/// The first word of an array read.
pub type Src = *const u64;

/// One way to stream through arrays.
#[derive(Debug)]
pub struct Kernel {
    pub kind: Kind,
    pub method: &'static str,
    /// The required extension of the instruction set, by its name in Linux.
    pub needs: Option<&'static str>,
    /// The origin of the loop.
    pub maker: Maker,
    /// Whether written lines are read first.
    pub ownership: Ownership,
    pub run: Pass,
}

/// The method that accesses one word of every line.
pub const PER_LINE: &str = "one word per line";

impl Kernel {
    /// A kernel that every processor of its architecture can execute; `usual` is what becomes of lines that it writes, unless the
    /// library chooses.
    pub const fn new(kind: Kind, method: &'static str, maker: Maker, run: Pass, usual: Ownership) -> Self {
        let ownership = if matches!(maker, Maker::Library) { Ownership::Unknown } else { usual };
        Kernel { kind, method, needs: None, maker, ownership, run }
    }

    /// Bytes of every 64-byte line of an array that the program loads or stores.
    pub fn used_of_line(&self) -> u64 {
        if self.method == PER_LINE { 8 } else { 64 }
    }

    /// Whether its instructions request that lines bypass the caches.
    pub fn is_non_temporal(&self) -> bool {
        self.method.contains("non-temporal")
    }

    /// Whether whole lines do bypass the caches on every processor.
    pub fn avoids_caches(&self) -> bool {
        self.ownership == Ownership::Avoided
    }

    /// Whether microcode or the library chooses how lines are moved, by the size of one call.
    pub fn chooses_by_size(&self) -> bool {
        self.ownership == Ownership::Unknown
    }

    /// Bytes that must cross the bus per byte that the program moves, if no cache holds any: the minimum and the maximum, which
    /// differ if the behaviour of processor or library is unknown. A line written is read for ownership (R-MEM-19, R-FIX-35).
    pub fn bus_bytes(&self) -> (f64, f64) {
        let arrays = self.kind.arrays();
        let moved = (arrays * self.used_of_line()) as f64;
        let (without, with) =
            ((arrays * 64) as f64 / moved, ((arrays + self.kind.stored()) * 64) as f64 / moved);
        match self.ownership {
            Ownership::Read => (with, with),
            Ownership::Avoided => (without, without),
            Ownership::Streamed | Ownership::Unknown => (without, with),
        }
    }

    /// Bytes that its disassembled loop loads and stores per line; `None` for loops other than our own assembly.
    pub fn disassembled(&self) -> Option<(u64, u64)> {
        let Maker::Assembly(_) = self.maker else { return None };
        // SAFETY: an assembly kernel returns within a page and calls nothing.
        let round = unsafe { crate::apparatus::listing::round(self.run as *const u8) }?;
        Some((round.per_line(round.loaded)?, round.per_line(round.stored)?))
    }

    /// Whether this process can execute it.
    pub fn runs_here(&self) -> bool {
        self.needs.is_none_or(|extension| Live.executes(extension) == Some(true))
    }
}
