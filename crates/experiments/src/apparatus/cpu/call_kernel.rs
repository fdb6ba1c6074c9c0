//! Loops of calls for `cpu/procedure_call`: in assembly, so that the executed instructions are known, and listed in a table of
//! addresses so that they can be disassembled in place.
//!
//! The cost of a loop around one call could not be subtracted: next to a dependent chain the loop costs nothing, alone it costs a
//! whole cycle. Sixteen calls per iteration make it negligible.

use crate::apparatus::listing;
use crate::arch::{self, CallKernel};

/// Calls in one iteration of the loop; the assembly repeats the call as often.
pub const CALLS: u64 = 16;

impl CallKernel {
    /// Runs `n` iterations, at least one, and returns the last sum.
    pub fn sum(&self, n: u64) -> u64 {
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
pub fn kernel(form: usize, arguments: usize) -> Option<&'static CallKernel> {
    Some(&arch::calls()?[arguments.min(7)][form.min(4)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_calls_as_often_as_asked_and_adds_its_arguments() {
        for arguments in 0..8 {
            let sum = (arguments * (arguments + 1) / 2) as u64;
            for form in [0, 2, 3, 4] {
                assert_eq!(
                    kernel(form, arguments).unwrap().sum(3),
                    sum,
                    "form {form}, {arguments} arguments"
                );
            }
        }
        assert_eq!(
            kernel(1, 3).unwrap().sum(1000),
            5 * 1000 * CALLS,
            "chained: 2 + 3 added to the last result each time"
        );
    }
}
