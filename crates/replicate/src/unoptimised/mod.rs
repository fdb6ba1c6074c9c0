//! Loops as a compiler writes them without optimisation (`gcc -O0`): every variable is in memory, is loaded before it is used and
//! stored after it has changed. Reports 001 and 002 timed such code.
//!
//! They are in assembly, so that they do not depend on the compiler of this program; on other architectures than x86-64, volatile
//! variables replace it.

/// In an assembler's macro or loop whose number is `k`, the constants 1 to `k` passed in registers (System V ABI). A seventh is for the
/// caller to push.
#[cfg(target_arch = "x86_64")]
macro_rules! pass_in_registers {
    () => {
        concat!(
            ".if \\k > 5; mov r9d, 6; .endif; .if \\k > 4; mov r8d, 5; .endif; .if \\k > 3; mov ecx, 4; .endif;",
            ".if \\k > 2; mov edx, 3; .endif; .if \\k > 1; mov esi, 2; .endif; .if \\k > 0; mov edi, 1; .endif"
        )
    };
}

/// The same for the beginning of a procedure of `k` arguments: those in registers are stored to the frame.
#[cfg(target_arch = "x86_64")]
macro_rules! store_arguments {
    () => {
        concat!(
            "push rbp; mov rbp, rsp;",
            ".if \\k > 0; mov dword ptr [rbp - 4], edi; .endif; .if \\k > 1; mov dword ptr [rbp - 8], esi; .endif;",
            ".if \\k > 2; mov dword ptr [rbp - 12], edx; .endif; .if \\k > 3; mov dword ptr [rbp - 16], ecx; .endif;",
            ".if \\k > 4; mov dword ptr [rbp - 20], r8d; .endif; .if \\k > 5; mov dword ptr [rbp - 24], r9d; .endif"
        )
    };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use {pass_in_registers, store_arguments};

#[cfg(target_arch = "x86_64")]
mod calls;
#[cfg(target_arch = "x86_64")]
mod x86;
#[cfg(target_arch = "x86_64")]
pub use calls::{call, call_once, empty_loop};
#[cfg(target_arch = "x86_64")]
pub use x86::{follow, read_lines, read_lines_unrolled, write_lines, write_lines_unrolled};

#[cfg(not(target_arch = "x86_64"))]
mod portable;
#[cfg(not(target_arch = "x86_64"))]
pub use portable::*;

/// Iterations of the loops of [`empty_loop`] and [`call`].
pub const ROUNDS: u64 = 1000;

/// Elements of an array of `int` in one line of 64 bytes.
pub const STEP: usize = 16;

/// Accesses in one iteration of an unrolled loop.
pub const UNROLLED: usize = 256;

/// An array in which every element is the index of another.
pub struct Links(Vec<i32>);

impl Links {
    /// A ring through every `stride`-th element; all of its steps but the last go forwards.
    pub fn ring(elements: usize, stride: usize) -> Self {
        let mut array = vec![0; elements.max(1)];
        for index in (0..array.len()).step_by(stride.max(1)) {
            let next = index + stride;
            array[index] = if next < elements { next as i32 } else { 0 };
        }
        Links(array)
    }

    fn array(&self) -> &[i32] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unoptimised_chase_follows_every_link() {
        // 0, 3, 6, 9 and back.
        let links = Links::ring(10, 3);
        assert_eq!([1, 3, 4, 1001].map(|loads| follow(&links, loads)), [3, 9, 0, 3]);
        assert_eq!(follow(&Links::ring(2, 5), 7), 0);
    }

    #[test]
    fn one_element_of_each_line_is_read_or_written_and_no_other() {
        let lines = 3 * UNROLLED;
        let mut array = vec![1_i32; lines * STEP];
        array[STEP] = 5;
        array[STEP + 1] = 1000;
        assert_eq!((read_lines(&array), read_lines_unrolled(&array)), (lines as i32 + 4, lines as i32 + 4));
        for write in [write_lines, write_lines_unrolled] {
            array.fill(1);
            write(&mut array);
            let written: Vec<usize> = (0..array.len()).filter(|index| array[*index] != 1).collect();
            assert_eq!(written, (0..array.len()).step_by(STEP).collect::<Vec<_>>());
        }
    }

    #[test]
    fn calls_return_with_any_number_of_arguments() {
        empty_loop();
        (0..8).for_each(|arguments| {
            call(arguments);
            call_once(arguments);
        });
    }
}
