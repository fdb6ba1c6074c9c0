//! Accesses of an array of `int`, with the index, the sum and the array's address in memory.

use super::{Links, STEP, UNROLLED};
use core::arch::asm;

/// The variables of a loop: the array, its index, the counter, its bound, the sum.
#[repr(C)]
struct Frame {
    array: *mut i32,
    index: i32,
    counter: i32,
    bound: i32,
    sum: i32,
}

impl Frame {
    fn new(array: *mut i32, bound: usize) -> Self {
        Frame { array, index: 0, counter: 0, bound: bound as i32, sum: 0 }
    }
}

/// `for (i = 0; i < loads; i++) index = links[index];` and the index at which it ends.
pub fn follow(links: &Links, loads: u32) -> i32 {
    let mut frame = Frame::new(links.array().as_ptr().cast_mut(), loads as usize);
    // SAFETY: every link is an index of the array, which is only read.
    unsafe {
        asm!(
            "jmp 3f", ".p2align 4", "2:",
            "mov eax, dword ptr [{frame} + 8]", "cdqe", "lea rdx, [rax * 4]",
            "mov rax, qword ptr [{frame}]", "add rax, rdx", "mov eax, dword ptr [rax]",
            "mov dword ptr [{frame} + 8], eax", "add dword ptr [{frame} + 12], 1",
            "3:", "mov eax, dword ptr [{frame} + 12]", "cmp eax, dword ptr [{frame} + 16]", "jl 2b",
            frame = in(reg) &raw mut frame, out("rax") _, out("rdx") _, options(nostack)
        );
    }
    frame.index
}

/// A loop over the lines of an array, with one access per iteration for each pair of `high` and `low`: one, or 256 written out;
/// `access` runs once the element's address is in rax.
macro_rules! over_lines {
    ($frame:ident, 1, $access:literal) => { over_lines!($frame, 1, "0", $access) };
    ($frame:ident, UNROLLED, $access:literal) => {
        over_lines!($frame, UNROLLED, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", $access)
    };
    ($frame:ident, $lines:expr, $numbers:literal, $access:literal) => {
        // SAFETY: indices stay below the bound, of which the caller has seen to it that all are within the array.
        unsafe {
            asm!(
                "jmp 3f", ".p2align 4", "2:",
                concat!(".irp high, ", $numbers), concat!(".irp low, ", $numbers),
                "mov eax, dword ptr [{frame} + 8]", "add eax, 256 * \\high + 16 * \\low", "cdqe",
                "lea rdx, [rax * 4]", "mov rax, qword ptr [{frame}]", "add rax, rdx", $access,
                ".endr", ".endr",
                "add dword ptr [{frame} + 8], {step}",
                "3:", "mov eax, dword ptr [{frame} + 8]", "cmp eax, dword ptr [{frame} + 16]", "jl 2b",
                frame = in(reg) &raw mut $frame, step = const STEP * $lines,
                out("rax") _, out("rdx") _, options(nostack)
            );
        }
    };
}

/// The part of an array that consists of whole steps of so many lines.
fn bounded(array: *mut i32, elements: usize, lines: usize) -> Frame {
    Frame::new(array, elements - elements % (STEP * lines))
}

/// `for (i = 0; i < n; i += 16) sum += array[i];` and the sum.
pub fn read_lines(array: &[i32]) -> i32 {
    let mut frame = bounded(array.as_ptr().cast_mut(), array.len(), 1);
    over_lines!(frame, 1, "mov eax, dword ptr [rax]\nadd dword ptr [{frame} + 20], eax");
    frame.sum
}

/// The same with 256 accesses written out in each iteration.
pub fn read_lines_unrolled(array: &[i32]) -> i32 {
    let mut frame = bounded(array.as_ptr().cast_mut(), array.len(), UNROLLED);
    over_lines!(frame, UNROLLED, "mov eax, dword ptr [rax]\nadd dword ptr [{frame} + 20], eax");
    frame.sum
}

/// `for (i = 0; i < n; i += 16) array[i] = 7;`
pub fn write_lines(array: &mut [i32]) {
    let mut frame = bounded(array.as_mut_ptr(), array.len(), 1);
    over_lines!(frame, 1, "mov dword ptr [rax], 7");
}

/// The same with 256 accesses written out in each iteration.
pub fn write_lines_unrolled(array: &mut [i32]) {
    let mut frame = bounded(array.as_mut_ptr(), array.len(), UNROLLED);
    over_lines!(frame, UNROLLED, "mov dword ptr [rax], 7");
}
