//! The arrays through which a kernel streams, with known contents: read data are summed and compared, and written data are
//! checked afterwards (R-MEM-18: so that neither can be left out).

use super::filled::Filled;
use super::kernel::{Kernel, Kind, PER_LINE};
use fathom_core::experiment::{Failure, ensure};
use std::ops::Range;
use std::rc::Rc;

/// Maximum bytes of one array per call of our own kernels. Larger arrays are passed over in pieces, so that a trial need not be
/// long enough for a whole pass; a line is touched again only after all others. It is also the maximum that is checked of one
/// call's writes.
pub const MOST_PIECE_BYTES: usize = 2 << 20;

/// The factor of scale and triad.
const FACTOR: f64 = 3.0;

/// The value written over checked words.
const SCRIBBLE: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// The arrays of one kernel, one after the other in memory that other kernels use after it, and the kernel's progress.
#[derive(Debug)]
pub struct Arrays {
    kernel: &'static Kernel,
    /// Memory of the array written, followed by the arrays read.
    filled: Rc<Filled>,
    /// Start of the array written and of the arrays read, words. Unused entries repeat the last used one.
    places: [usize; 3],
    piece_words: usize,
    pieces: usize,
    /// The next piece, and the expected result of a pass over it.
    piece: usize,
    returns: u64,
    /// The number of pieces passed over, from the first.
    passed: usize,
    /// The piece last written, and the word written to it.
    written: Option<(usize, u64)>,
    mark: u8,
    pub counts: Counts,
}

/// Cumulative counts of verified work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Bytes moved by passes that returned the expected result.
    pub bytes: u64,
    /// Words checked after they were written.
    pub looked_at: u64,
    /// Checked words with a wrong value.
    pub wrong: u64,
}

/// The length of each array if the arrays of a kind share `total` bytes: whole pages, whole pieces.
fn array_bytes(total: u64, piece: usize, kind: Kind) -> usize {
    let share = (total / kind.arrays()) as usize;
    let unit = if share > piece { piece } else { 4096 };
    (share / unit * unit).max(4096)
}

/// The maximum bytes of each array that a call passes over. Kernels that choose by size how lines are moved get whole arrays.
fn most_piece(kernel: &Kernel) -> usize {
    if kernel.chooses_by_size() { usize::MAX } else { MOST_PIECE_BYTES }
}

/// The words that each look checks of what a kernel writes to arrays of `total` bytes together.
pub fn words_of_a_look(kernel: &Kernel, total: u64) -> u64 {
    let piece = array_bytes(total, most_piece(kernel), kernel.kind).min(MOST_PIECE_BYTES);
    let lines = (piece / 64) as u64 * kernel.kind.stored();
    lines * kernel.used_of_line() / 8
}

impl Arrays {
    /// Arrays of `total` bytes of this memory together (less if they are not of whole pages).
    pub fn new(kernel: &'static Kernel, filled: &Rc<Filled>, total: u64) -> Result<Self, Failure> {
        Arrays::in_pieces(kernel, filled, total, most_piece(kernel))
    }

    /// The same, passed over in pieces of at most `piece` bytes per array: a multiple of a page.
    pub fn in_pieces(
        kernel: &'static Kernel,
        filled: &Rc<Filled>,
        total: u64,
        piece: usize,
    ) -> Result<Self, Failure> {
        let bytes = array_bytes(total, piece, kernel.kind);
        let (words, count) = (bytes / 8, kernel.kind.arrays() as usize);
        ensure(words * count <= filled.words(), "the arrays do not fit into the memory")?;
        filled.lend()?;
        let place = |array: u64| words * count.saturating_sub(1).min(array as usize);
        let mut arrays = Arrays {
            kernel,
            filled: Rc::clone(filled),
            places: [0, place(kernel.kind.stored()), place(2)],
            piece_words: bytes.min(piece) / 8,
            pieces: bytes / bytes.min(piece),
            piece: 0,
            returns: 0,
            passed: 0,
            written: None,
            mark: 0,
            counts: Counts::default(),
        };
        arrays.returns = arrays.returned();
        Ok(arrays)
    }

    /// Bytes that the program moves in one pass over one piece.
    pub fn bytes_per_pass(&self) -> u64 {
        let lines = (self.piece_words / 8) as u64 * self.kernel.kind.arrays();
        lines * self.kernel.used_of_line()
    }

    /// Passes over the next piece, and checks its result.
    #[inline]
    pub fn pass(&mut self) -> Result<(), Failure> {
        let at = self.piece * self.piece_words;
        let value = self.value();
        let [to, from, other] = self.places;
        let first = self.filled.first();
        // Even if the pass fails, it may have written there.
        self.passed = self.passed.max(self.piece + 1);
        // SAFETY: the piece is inside arrays lent to us, which do not overlap; `runs_here` was checked for the kernel.
        let returned = unsafe {
            let array = |begin: usize| first.add(begin + at);
            (self.kernel.run)(array(to), array(from), array(other), self.piece_words * 8, value)
        };
        ensure(returned == self.returns, "the sum of what a kernel read differs from the sum of the array")?;
        self.written = Some((self.piece, value));
        self.counts.bytes += self.bytes_per_pass();
        // For arrays of one piece nothing changes: in the nearest cache a pass takes less than a hundred nanoseconds.
        if self.pieces > 1 {
            self.piece = (self.piece + 1) % self.pieces;
            self.returns = self.returned();
        }
        Ok(())
    }

    /// Checks every word of the piece last written (of a large one, a stretch of it) and overwrites it, so that the next check
    /// sees only later writes.
    pub fn look(&mut self) {
        if let (1, Some((piece, value))) = (self.kernel.kind.stored(), self.written) {
            let step = if self.kernel.used_of_line() == 64 { 1 } else { 8 };
            for word in self.stretch(piece).step_by(step) {
                // SAFETY: inside the array that is written, the first in the memory lent to us.
                let value_read = unsafe { std::mem::replace(&mut *self.filled.first().add(word), SCRIBBLE) };
                self.counts.looked_at += 1;
                self.counts.wrong += u64::from(value_read != self.expected(word, value));
            }
        }
    }

    /// The words of a piece to be checked: of a large piece, a stretch drawn with the trial's seed.
    fn stretch(&self, piece: usize) -> Range<usize> {
        let words = self.piece_words.min(MOST_PIECE_BYTES / 8);
        let drawn = self.filled.begin as usize % (self.piece_words / words);
        let begin = piece * self.piece_words + drawn * words;
        begin..begin + words
    }

    /// The word that the next pass writes or multiplies with. Its bytes are equal, because `memset` sets bytes; and each pass
    /// writes a value other than that of the pass before.
    fn value(&mut self) -> u64 {
        match self.kernel.kind {
            Kind::Scale | Kind::Triad => FACTOR.to_bits(),
            Kind::Read | Kind::Write | Kind::Copy => {
                self.mark = self.mark % 127 + 1;
                u64::from_ne_bytes([self.mark; 8])
            }
        }
    }

    /// The expected word at a position of the array written.
    fn expected(&self, word: usize, value: u64) -> u64 {
        let [_, from, other] = self.places.map(|begin| self.filled.content(begin + word));
        match self.kernel.kind {
            Kind::Read | Kind::Copy => from,
            Kind::Write => value,
            Kind::Scale => (FACTOR * f64::from_bits(from)).to_bits(),
            Kind::Triad => (f64::from_bits(from) + FACTOR * f64::from_bits(other)).to_bits(),
        }
    }

    /// The expected result of a pass over the next piece: the sum of the words read, for `rep lods` the last one, else 0.
    fn returned(&self) -> u64 {
        let begin = self.places[1] + self.piece * self.piece_words;
        let read = begin..begin + self.piece_words;
        match (self.kernel.kind, self.kernel.method) {
            (Kind::Read, "rep lods") => self.filled.content(read.end - 1),
            (Kind::Read, PER_LINE) => self.filled.sum(&read, 8),
            (Kind::Read, _) => self.filled.sum(&read, 1),
            _ => 0,
        }
    }
}

impl Drop for Arrays {
    fn drop(&mut self) {
        let overwritten = if self.kernel.kind.stored() > 0 { self.passed * self.piece_words } else { 0 };
        self.filled.take_back(0..overwritten);
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::KERNELS;
    use super::*;

    /// The kernels that every processor of the architecture can execute; those that need an extension are run where there is
    /// one, by the live tests.
    fn runnable() -> impl Iterator<Item = &'static Kernel> {
        KERNELS.iter().filter(|kernel| kernel.needs.is_none())
    }

    #[test]
    fn every_kernel_does_what_its_name_says_to_every_word() {
        let filled = Rc::new(Filled::unasked(5 << 20, 7));
        for kernel in runnable() {
            // Five MiB make several pieces of some kinds, one of others; 16 KiB are one page per array of some.
            for total in [16 << 10, 5 << 20] {
                let mut arrays = Arrays::new(kernel, &filled, total).unwrap();
                for _ in 0..=arrays.pieces {
                    arrays.pass().unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
                    arrays.look();
                }
                let counts = arrays.counts;
                assert_eq!(counts.wrong, 0, "{kernel:?}");
                let looks = arrays.pieces as u64 + 1;
                assert_eq!(
                    counts.looked_at,
                    looks * words_of_a_look(kernel, total),
                    "{kernel:?} in {total} B"
                );
                assert_eq!(counts.bytes, looks * arrays.bytes_per_pass());
                drop(arrays);
                assert_eq!(filled.changed(), 0, "{kernel:?}: what it overwrote is put back for the next");
            }
        }
    }

    #[test]
    fn who_chooses_by_the_size_is_handed_whole_arrays() {
        let filled = Rc::new(Filled::unasked(12 << 20, 7));
        for kernel in runnable() {
            let arrays = Arrays::new(kernel, &filled, 12 << 20).unwrap();
            let is_whole =
                kernel.method.starts_with("mem") || ["rep stos", "rep movs"].contains(&kernel.method);
            assert_eq!(arrays.pieces == 1, is_whole, "{kernel:?}");
            assert_eq!(arrays.stretch(0).len() * 8, MOST_PIECE_BYTES, "{kernel:?}");
        }
    }

    #[test]
    fn a_kernel_that_leaves_words_out_is_found_out() {
        unsafe extern "C" fn half(
            to: *mut u64,
            from: *const u64,
            other: *const u64,
            bytes: usize,
            value: u64,
        ) -> u64 {
            let kernel = Kernel::find("write", "8 words unrolled").unwrap();
            // SAFETY: half of what the caller has promised.
            unsafe { (kernel.run)(to, from, other, bytes / 2, value) }
        }
        let lazy: &'static Kernel = Box::leak(Box::new(Kernel { run: half, ..*kernel_of(Kind::Write) }));
        let filled = Rc::new(Filled::unasked(64 << 10, 7));
        let mut arrays = Arrays::new(lazy, &filled, 64 << 10).unwrap();
        arrays.pass().unwrap();
        arrays.look();
        assert_eq!((arrays.counts.looked_at, arrays.counts.wrong), (8192, 4096));
        let idle: &'static Kernel = Box::leak(Box::new(Kernel { run: half, ..*kernel_of(Kind::Read) }));
        drop(arrays);
        assert!(Arrays::new(idle, &filled, 64 << 10).unwrap().pass().is_err(), "a sum that is none");
    }

    fn kernel_of(kind: Kind) -> &'static Kernel {
        KERNELS.iter().find(|kernel| kernel.kind == kind).unwrap()
    }
}
