//! Instructions of x86-64, decoded.

use crate::apparatus::listing::Round;
use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    Register,
};

/// The number of instructions in `code`, without those that only fill up to an alignment; `None` if the last is cut off.
pub fn count(code: &[u8]) -> Option<u64> {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut count = 0;
    while decoder.can_decode() {
        count += u64::from(decoder.decode().mnemonic() != Mnemonic::Nop);
    }
    (decoder.position() == code.len()).then_some(count)
}

impl Round {
    fn add(&mut self, instruction: &Instruction, facts: &mut InstructionInfoFactory) {
        use Mnemonic::{Movntdq, Prefetcht0, Vmovntpd};
        self.prefetches += u64::from(matches!(instruction.mnemonic(), Prefetcht0));
        self.non_temporal += u64::from(matches!(instruction.mnemonic(), Movntdq | Vmovntpd));
        // The factory knows no size for repeated instructions.
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

/// The instructions before the first `ret`; `None` if there is none in this code.
pub fn kernel(code: &[u8]) -> Option<Vec<Instruction>> {
    let decoder = Decoder::with_ip(64, code, code.as_ptr() as u64, DecoderOptions::NONE);
    let mut kernel = vec![];
    for instruction in decoder {
        match instruction.flow_control() {
            FlowControl::Return => return Some(kernel),
            _ => kernel.push(instruction),
        }
    }
    None
}

fn bodies(kernel: &[Instruction]) -> impl Iterator<Item = &[Instruction]> {
    kernel.iter().enumerate().filter_map(|(last, code)| {
        let conditional = code.flow_control() == FlowControl::ConditionalBranch;
        let first = kernel[..=last].iter().position(|earlier| earlier.ip() == code.near_branch_target());
        first.filter(|_| conditional).map(|first| &kernel[first..=last])
    })
}

pub fn loops(kernel: &[Instruction]) -> Vec<u64> {
    let counted =
        |body: &[Instruction]| body.iter().filter(|code| code.mnemonic() != Mnemonic::Nop).count() as u64;
    bodies(kernel).map(counted).collect()
}

/// One iteration of the loop that counts its bytes down in `rcx`: from the target of the backward jump to that jump, or the one
/// repeated string instruction.
pub fn round(kernel: &[Instruction]) -> Option<Round> {
    let mut loops = bodies(kernel);
    let only = loops.next().filter(|_| loops.next().is_none());
    let body = only.or_else(|| repeated(kernel))?;
    let mut round = Round { advances: advance(body)?, ..Round::default() };
    let mut facts = InstructionInfoFactory::new();
    for instruction in body {
        round.add(instruction, &mut facts);
    }
    Some(round)
}

fn repeated(kernel: &[Instruction]) -> Option<&[Instruction]> {
    let at = kernel.iter().position(Instruction::has_rep_prefix)?;
    Some(&kernel[at..=at])
}

/// The bytes by which an iteration decreases `rcx`.
fn advance(body: &[Instruction]) -> Option<u64> {
    if let [string] = body {
        if string.has_rep_prefix() {
            return Some(string.memory_size().size() as u64);
        }
    }
    let lowers = |code: &&Instruction| {
        matches!(code.code(), Code::Sub_rm64_imm8 | Code::Sub_rm64_imm32)
            && code.op0_register() == Register::RCX
    };
    body.iter().find(lowers).map(|code| code.immediate(1))
}
