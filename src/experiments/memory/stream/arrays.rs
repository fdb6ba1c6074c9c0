//! The arrays that a kernel streams through, with known contents: what is read is added up and compared, and what was
//! written is looked at again (R-MEM-18: so that neither can be left out).

use super::kernel::{Kernel, Kind, PER_LINE};
use crate::experiment::{Failure, ensure};
use crate::experiments::memory::backing::Backing;
use crate::experiments::memory::pages::{Mapping, Pages};

/// The most of one array that one call of a kernel passes over. Larger arrays are passed over in pieces, so that a trial
/// need not be long enough for a whole pass; a line is touched again only after all others.
pub const MOST_PIECE_BYTES: usize = 2 << 20;

/// What scale and triad multiply with: exact in doubles, as are all products and sums of the small whole numbers in the
/// arrays.
const FACTOR: f64 = 3.0;

/// What stands in the array to be written before anything is written to it, and after it was looked at.
const SCRIBBLE: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// The arrays of one kernel and how far it has come.
#[derive(Debug)]
pub struct Arrays {
    kernel: &'static Kernel,
    /// Holds the arrays one behind the other: the one written, then those read.
    _mapping: Mapping,
    /// What really stands behind them.
    pub backing: Backing,
    first: *mut u64,
    array_words: usize,
    piece_words: usize,
    /// The word that the arrays' contents begin with.
    base: u64,
    /// What a pass over each piece returns.
    returns: Vec<u64>,
    piece: usize,
    /// The piece last written, and the word written to it.
    written: Option<(usize, u64)>,
    mark: u8,
    /// What was counted.
    pub counts: Counts,
}

/// What was verified, ever growing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Bytes moved by passes that returned what they must.
    pub bytes: u64,
    /// Words looked at after they were written.
    pub looked_at: u64,
    /// Of them not what they must be.
    pub wrong: u64,
}

/// The length of each array where `total` bytes are shared by the arrays of a kind: whole pages, whole pieces.
fn array_bytes(total: u64, piece: usize, kind: Kind) -> usize {
    let share = (total / kind.arrays()) as usize;
    let unit = if share > piece { piece } else { 4096 };
    (share / unit * unit).max(4096)
}

impl Arrays {
    /// Arrays of `total` bytes together (a little less where they do not divide evenly), filled, in huge pages where
    /// these can be had: a walk through them waits for no translation.
    pub fn new(kernel: &'static Kernel, total: u64, seed: u64) -> Result<Self, Failure> {
        Arrays::in_pieces(kernel, total, MOST_PIECE_BYTES, seed)
    }

    /// The same, passed over in pieces of so many bytes of each array at most: a multiple of a page.
    pub fn in_pieces(kernel: &'static Kernel, total: u64, piece: usize, seed: u64) -> Result<Self, Failure> {
        let bytes = array_bytes(total, piece, kernel.kind);
        let all = bytes * kernel.kind.arrays() as usize;
        let (mapping, backing) = match Mapping::resident(all, Pages::Huge) {
            Err(Failure::Unsupported(_)) => Mapping::resident(all, Pages::Base),
            outcome => outcome,
        }?;
        let piece_words = bytes.min(piece) / 8;
        let mut arrays = Arrays {
            kernel,
            first: mapping.start().as_ptr().cast(),
            _mapping: mapping,
            backing,
            array_words: bytes / 8,
            piece_words,
            base: seed,
            returns: vec![],
            piece: 0,
            written: None,
            mark: 0,
            counts: Counts::default(),
        };
        arrays.fill();
        arrays.returns = (0..arrays.pieces()).map(|piece| arrays.returned(piece)).collect();
        Ok(arrays)
    }

    /// Bytes that the program moves in one pass over one piece.
    pub fn bytes_per_pass(&self) -> u64 {
        let lines = (self.piece_words / 8) as u64 * self.kernel.kind.arrays();
        lines * self.kernel.used_of_line()
    }

    /// Passes over the next piece, and checks what comes back.
    #[inline]
    pub fn pass(&mut self) -> Result<(), Failure> {
        let at = self.piece * self.piece_words;
        let value = self.value();
        let (to, from, other) = self.places();
        // SAFETY: the piece lies inside arrays of our own, which do not overlap; `runs_here` was asked for the kernel.
        let returned = unsafe {
            (self.kernel.run)(to.add(at), from.add(at), other.add(at), self.piece_words * 8, value)
        };
        ensure(
            returned == self.returns[self.piece],
            "what a kernel read does not add up to what the array holds",
        )?;
        self.written = Some((self.piece, value));
        self.piece = (self.piece + 1) % self.pieces();
        self.counts.bytes += self.bytes_per_pass();
        Ok(())
    }

    /// Looks at every word of the piece last written and scribbles over it, so that the next look finds what was written
    /// since.
    pub fn look(&mut self) {
        if let (1, Some((piece, value))) = (self.kernel.kind.stored(), self.written) {
            let (to, step) = (self.places().0, self.kernel.used_of_line());
            let step = if step == 64 { 1 } else { 8 };
            for word in (piece * self.piece_words..(piece + 1) * self.piece_words).step_by(step) {
                // SAFETY: inside the array that is written.
                let found = unsafe { std::mem::replace(&mut *to.add(word), SCRIBBLE) };
                self.counts.looked_at += 1;
                self.counts.wrong += u64::from(found != self.expected(word, value));
            }
        }
    }

    fn pieces(&self) -> usize {
        self.array_words / self.piece_words
    }

    /// The array written and the arrays read. What a kernel does not use points to the first.
    fn places(&self) -> (*mut u64, *const u64, *const u64) {
        let last = self.kernel.kind.arrays() - 1;
        // SAFETY: the mapping holds as many arrays as the kind has.
        let array = |index: u64| unsafe { self.first.add(index.min(last) as usize * self.array_words) };
        (self.first, array(self.kernel.kind.stored()), array(2))
    }

    /// The word that the next pass writes or multiplies with. Its bytes are alike, because `memset` sets bytes; and each
    /// pass writes another than the one before.
    fn value(&mut self) -> u64 {
        match self.kernel.kind {
            Kind::Scale | Kind::Triad => FACTOR.to_bits(),
            Kind::Read | Kind::Write | Kind::Copy => {
                self.mark = self.mark % 127 + 1;
                u64::from_ne_bytes([self.mark; 8])
            }
        }
    }

    /// What stands at a place of the first array that is read; of the second, of triads, twice that.
    fn content(&self, word: usize) -> u64 {
        match self.kernel.kind {
            Kind::Scale | Kind::Triad => ((word % 1024 + 1) as f64).to_bits(),
            Kind::Read | Kind::Write | Kind::Copy => self.base.wrapping_add(word as u64),
        }
    }

    /// What must stand at a place of the array written.
    fn expected(&self, word: usize, value: u64) -> u64 {
        let content = self.content(word);
        match self.kernel.kind {
            Kind::Read | Kind::Copy => content,
            Kind::Write => value,
            Kind::Scale => (FACTOR * f64::from_bits(content)).to_bits(),
            Kind::Triad => (f64::from_bits(content) * (1.0 + 2.0 * FACTOR)).to_bits(),
        }
    }

    fn fill(&mut self) {
        let (to, from, other) = self.places();
        for word in 0..self.array_words {
            let content = self.content(word);
            // SAFETY: inside arrays of our own. What is written last stands where arrays are the same.
            unsafe {
                to.add(word).write(SCRIBBLE);
                other.cast_mut().add(word).write((2.0 * f64::from_bits(content)).to_bits());
                from.cast_mut().add(word).write(content);
            }
        }
    }

    /// What a pass over a piece must return: the sum of the words that it reads, of `rep lods` the last one, else 0.
    fn returned(&self, piece: usize) -> u64 {
        if self.kernel.kind != Kind::Read {
            return 0;
        }
        let mut words = (piece * self.piece_words..(piece + 1) * self.piece_words).map(|at| self.content(at));
        match self.kernel.method {
            "rep lods" => words.next_back().unwrap_or_default(),
            PER_LINE => words.step_by(8).fold(0, u64::wrapping_add),
            _ => words.fold(0, u64::wrapping_add),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::KERNELS;
    use super::*;

    fn runnable() -> impl Iterator<Item = &'static Kernel> {
        KERNELS.iter().filter(|kernel| kernel.runs_here())
    }

    #[test]
    fn every_kernel_does_what_its_name_says_to_every_word() {
        for kernel in runnable() {
            // Five MiB make several pieces of some kinds, one of others; 16 KiB are one page an array of some.
            for total in [16 << 10, 5 << 20] {
                let mut arrays = Arrays::new(kernel, total, 7).unwrap();
                for _ in 0..=arrays.pieces() {
                    arrays.pass().unwrap_or_else(|error| panic!("{kernel:?}: {error}"));
                    arrays.look();
                }
                let counts = arrays.counts;
                assert_eq!(counts.wrong, 0, "{kernel:?}");
                assert_eq!(counts.looked_at > 0, kernel.kind != Kind::Read, "{kernel:?}");
                assert_eq!(counts.bytes, (arrays.pieces() as u64 + 1) * arrays.bytes_per_pass());
            }
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
        let mut arrays = Arrays::new(lazy, 64 << 10, 7).unwrap();
        arrays.pass().unwrap();
        arrays.look();
        assert_eq!((arrays.counts.looked_at, arrays.counts.wrong), (8192, 4096));
        let idle: &'static Kernel = Box::leak(Box::new(Kernel { run: half, ..*kernel_of(Kind::Read) }));
        assert!(Arrays::new(idle, 64 << 10, 7).unwrap().pass().is_err(), "a sum that is none");
    }

    fn kernel_of(kind: Kind) -> &'static Kernel {
        KERNELS.iter().find(|kernel| kernel.kind == kind).unwrap()
    }
}
