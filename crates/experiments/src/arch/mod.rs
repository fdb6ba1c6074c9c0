//! All that is written for an architecture in this crate: assembly, and the decoding of it. The folders offer the same items;
//! another architecture is one more of them, with a line here.

/// A function that is written in assembly alone, under a symbol of its own: it has no instruction of the compiler's.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! assembly {
    ($(#[$note:meta])* fn $name:ident($($argument:ty),*) $(-> $result:ty)?; [$($code:expr),*]
        $(, $operand:ident = const $value:expr)*) => {
        core::arch::global_asm!(
            ".pushsection .text",
            ".p2align 6",
            concat!(".globl \"", module_path!(), "::", stringify!($name), "\""),
            concat!(".hidden \"", module_path!(), "::", stringify!($name), "\""),
            concat!(".type \"", module_path!(), "::", stringify!($name), "\", %function"),
            concat!("\"", module_path!(), "::", stringify!($name), "\":"),
            $($code,)*
            concat!(".size \"", module_path!(), "::", stringify!($name), "\", . - \"", module_path!(), "::", stringify!($name), "\""),
            ".popsection",
            $($operand = const $value,)*
        );
        unsafe extern "C" {
            $(#[$note])*
            #[link_name = concat!(module_path!(), "::", stringify!($name))]
            pub fn $name($(_: $argument),*) $(-> $result)?;
        }
    };
}

#[cfg_attr(target_arch = "x86_64", path = "x86_64/mod.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64/mod.rs")]
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), path = "portable/mod.rs")]
mod selected;

pub use selected::{ARGUMENT_REGISTERS, CHASE_SOURCE, EXIT, FORMS, KEEPS_WORK, LOOPS};
pub use selected::{arithmetic, calls, chase, listing, prefetch, stacks, stream};

use fathom_core::experiment::Failure;

/// Refuses work that is written in assembly where there is none of it; `what` it is ends a sentence.
pub fn ensure_assembly(what: &str) -> Result<(), Failure> {
    if selected::ASSEMBLY { Ok(()) } else { Err(Failure::Unsupported(what.to_owned())) }
}

/// An instruction, its number of chains, and its loop of 256 instructions.
pub type ArithmeticLoop = (&'static str, u64, fn(u64));

/// The place of a loop's counter, and so many times sixteen such loops of so many iterations.
pub type Loop = (&'static str, fn(u64, u64));

/// A pair of readings; returns their difference in ticks.
pub type Pair = fn() -> i64;

/// A form of reading the counter, which `cpu/timing_overhead` compares with others.
pub struct CounterForm {
    /// The instructions before and after the work.
    pub name: &'static str,
    /// Two readings back to back.
    pub pair: Pair,
    /// Two readings around [`MULTIPLICATIONS`] dependent multiplications.
    pub around: Pair,
}

/// Length of the work between the readings, in dependent multiplications.
pub const MULTIPLICATIONS: u32 = 64;

/// One loop of calls and the addresses of its code; laid out as the assembly writes it.
#[repr(C)]
pub struct CallKernel {
    /// Runs so many iterations, at least one, and returns the last sum.
    pub run: extern "C" fn(u64) -> u64,
    /// Start and end of the calls.
    pub call: [*const u8; 2],
    /// Start and end of what is called.
    pub callee: [*const u8; 2],
}

// SAFETY: addresses of code, which never changes.
unsafe impl Sync for CallKernel {}

/// State of a user-level thread, which the assembly of both stacks shares; its address is saved on the second.
pub struct State {
    /// Stack pointer of the stack that is not running.
    pub other: usize,
    /// Number of times that the second stack has run.
    pub turns: u64,
}
