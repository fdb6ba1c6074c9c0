//! Loops of calls for `cpu/procedure_call`: in assembly, so that the executed instructions are known, and listed in a table of
//! addresses so that they can be disassembled in place.
//!
//! The cost of a loop around one call could not be subtracted: next to a dependent chain the loop costs nothing, alone it costs a
//! whole cycle. Sixteen calls per iteration make it negligible.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::apparatus::listing;

#[cfg(target_arch = "aarch64")]
pub use aarch64::ARGUMENT_REGISTERS;
#[cfg(target_arch = "x86_64")]
pub use x86_64::ARGUMENT_REGISTERS;

/// One loop of calls and the addresses of its code; laid out as the assembly of each architecture writes it.
#[repr(C)]
pub struct Kernel {
    run: extern "C" fn(u64) -> u64,
    call: [*const u8; 2],
    callee: [*const u8; 2],
}

// SAFETY: addresses of code, which never changes.
unsafe impl Sync for Kernel {}

/// Calls in one iteration of the loop; the assembly repeats the call as often.
pub const CALLS: u64 = 16;

impl Kernel {
    /// Runs `n` iterations, at least one, and returns the last sum.
    pub fn run(&self, n: u64) -> u64 {
        (self.run)(n.max(1))
    }

    /// Instructions per call, caller's and callee's, by disassembly, averaged over `calls` calls; not an integer if the calls
    /// differ.
    pub fn instructions(&self, calls: u64) -> Option<f64> {
        let count = |[start, end]: [*const u8; 2]| Some(listing::instructions(start, end)? as f64);
        Some(count(self.call)? / calls as f64 + count(self.callee)?)
    }
}

/// The kernel of a form (abi, chained, indirect, spilled, single) with up to seven arguments.
pub fn kernel(form: usize, arguments: usize) -> &'static Kernel {
    &fathom_calls[arguments.min(7)][form.min(4)]
}

unsafe extern "C" {
    safe static fathom_calls: [[Kernel; 5]; 8];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_calls_as_often_as_asked_and_adds_its_arguments() {
        for arguments in 0..8 {
            let sum = (arguments * (arguments + 1) / 2) as u64;
            for form in [0, 2, 3, 4] {
                assert_eq!(kernel(form, arguments).run(3), sum, "form {form}, {arguments} arguments");
            }
        }
        assert_eq!(
            kernel(1, 3).run(1000),
            5 * 1000 * CALLS,
            "chained: 2 + 3 added to the last result each time"
        );
    }
}
