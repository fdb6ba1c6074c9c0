//! Reading our own instructions: kernels are disassembled in the running binary, so that what is claimed of them is what the
//! processor executes (R-CPU-11).

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register,
};

/// The number of instructions between two labels of this program; `None` where the code does not end with one.
pub fn instructions(start: *const u8, end: *const u8) -> Option<u64> {
    let length = (end as usize).checked_sub(start as usize)?;
    // SAFETY: both labels stand in one kernel of this program's text, which is readable.
    let code = unsafe { std::slice::from_raw_parts(start, length) };
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut count = 0;
    while decoder.can_decode() {
        // Alignment between the labels is not the kernel's.
        count += u64::from(decoder.decode().mnemonic() != Mnemonic::Nop);
    }
    (decoder.position() == length).then_some(count)
}

/// What one time round a kernel's loop moves between registers and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Round {
    /// Bytes of an array that one round goes on by.
    pub advances: u64,
    /// Load instructions, and the bytes that they load together.
    pub loads: u64,
    /// Bytes loaded.
    pub loaded: u64,
    /// Store instructions.
    pub stores: u64,
    /// Bytes stored.
    pub stored: u64,
    /// Of the stores those that go around the caches.
    pub non_temporal: u64,
    /// Prefetch instructions.
    pub prefetches: u64,
}

impl Round {
    /// A count of this round for every 64 bytes that it goes on by; `None` where that is no whole number.
    pub fn per_line(&self, count: u64) -> Option<u64> {
        let of_lines = count * 64;
        (self.advances > 0 && of_lines.is_multiple_of(self.advances)).then(|| of_lines / self.advances)
    }

    fn add(&mut self, instruction: &Instruction, facts: &mut InstructionInfoFactory) {
        use Mnemonic::{Movntdq, Prefetcht0, Vmovntpd};
        self.prefetches += u64::from(matches!(instruction.mnemonic(), Prefetcht0));
        self.non_temporal += u64::from(matches!(instruction.mnemonic(), Movntdq | Vmovntpd));
        // Of a repeated instruction the factory knows no size.
        let bytes = instruction.memory_size().size() as u64;
        for memory in facts.info(instruction).used_memory() {
            match memory.access() {
                OpAccess::Read | OpAccess::CondRead => {
                    self.loads += 1;
                    self.loaded += bytes;
                }
                OpAccess::Write | OpAccess::CondWrite => {
                    self.stores += 1;
                    self.stored += bytes;
                }
                _ => {}
            }
        }
    }
}

/// Bytes of code after which a kernel must have returned.
const LONGEST_KERNEL: usize = 4096;

/// One round of the only loop of a kernel that begins at `start` and counts its bytes down in `rcx`: from the target of
/// the jump backwards to that jump, or the one repeated string instruction. `None` where there is no such loop.
///
/// # Safety
///
/// `start` is the first instruction of a function of this program that returns within 4096 bytes, and calls nothing.
pub unsafe fn round(start: *const u8) -> Option<Round> {
    // SAFETY: as promised; decoding ends at the `ret`.
    let code = unsafe { std::slice::from_raw_parts(start, LONGEST_KERNEL) };
    let decoder = Decoder::with_ip(64, code, start as u64, DecoderOptions::NONE);
    let kernel: Vec<Instruction> =
        decoder.into_iter().take_while(|code| code.flow_control() != FlowControl::Return).collect();
    let body = jumped_over(&kernel).or_else(|| repeated(&kernel))?;
    let mut round = Round { advances: advance(body)?, ..Round::default() };
    let mut facts = InstructionInfoFactory::new();
    for instruction in body {
        round.add(instruction, &mut facts);
    }
    Some(round)
}

/// The instructions of the one backward jump's loop.
fn jumped_over(kernel: &[Instruction]) -> Option<&[Instruction]> {
    let is_loop = |code: &Instruction| {
        code.flow_control() == FlowControl::ConditionalBranch && code.near_branch_target() < code.ip()
    };
    let mut loops = kernel.iter().enumerate().filter(|(_, code)| is_loop(code));
    let (last, jump) = loops.next()?;
    let first = kernel.iter().position(|code| code.ip() == jump.near_branch_target())?;
    loops.next().is_none().then(|| &kernel[first..=last])
}

/// The one repeated string instruction.
fn repeated(kernel: &[Instruction]) -> Option<&[Instruction]> {
    let at = kernel.iter().position(Instruction::has_rep_prefix)?;
    Some(&kernel[at..=at])
}

/// By how much a round lowers `rcx`, in bytes.
fn advance(body: &[Instruction]) -> Option<u64> {
    if let [string] = body
        && string.has_rep_prefix()
    {
        return Some(string.memory_size().size() as u64);
    }
    let lowers = |code: &&Instruction| {
        matches!(code.code(), Code::Sub_rm64_imm8 | Code::Sub_rm64_imm32)
            && code.op0_register() == Register::RCX
    };
    body.iter().find(lowers).map(|code| code.immediate(1))
}
