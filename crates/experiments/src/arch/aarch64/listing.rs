//! Instructions of aarch64, decoded: each has four bytes.

use crate::apparatus::listing::Round;
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Instruction, Opcode, Operand, SIMDSizeCode, SizeCode};

/// The hint without effect.
const NOP: u32 = 0xd503_201f;

/// The bytes of an instruction.
const WORD: usize = 4;

/// The whole words of `code`.
fn words(code: &[u8]) -> impl Iterator<Item = [u8; WORD]> {
    code.chunks_exact(WORD).filter_map(|word| word.first_chunk().copied())
}

fn decode(word: [u8; WORD]) -> Option<Instruction> {
    InstDecoder::default().decode(&mut U8Reader::new(&word)).ok()
}

/// The number of instructions in `code`, without those that only fill up to an alignment; `None` if the last is cut off or a word
/// is not an instruction.
pub fn count(code: &[u8]) -> Option<u64> {
    let decoded = words(code).filter(|word| u32::from_le_bytes(*word) != NOP).map(decode);
    let count = decoded.map(|instruction| instruction.map(|_| 1)).sum::<Option<u64>>()?;
    (code.len() % WORD == 0).then_some(count)
}

/// The instructions before the first `ret`, or before a word that is none; `None` if the code ends before either.
pub fn kernel(code: &[u8]) -> Option<Vec<Instruction>> {
    let mut kernel = vec![];
    for word in words(code) {
        match decode(word) {
            Some(code) if code.opcode != Opcode::RET => kernel.push(code),
            _ => return Some(kernel),
        }
    }
    None
}

fn bodies(kernel: &[Instruction]) -> impl Iterator<Item = &[Instruction]> {
    kernel.iter().enumerate().filter_map(|(last, code)| {
        let first = last.checked_sub(branched_back(code)?)?;
        Some(&kernel[first..=last])
    })
}

pub fn loops(kernel: &[Instruction]) -> Vec<u64> {
    let is_nop = |code: &Instruction| Some(code) == decode(NOP.to_le_bytes()).as_ref();
    let counted = |body: &[Instruction]| body.iter().filter(|code| !is_nop(code)).count() as u64;
    bodies(kernel).map(counted).collect()
}

/// One iteration of the loop that counts its bytes down in `x3`: from the target of the backward branch to that branch.
pub fn round(kernel: &[Instruction]) -> Option<Round> {
    let mut loops = bodies(kernel);
    let body = loops.next().filter(|_| loops.next().is_none())?;
    let mut round = Round { advances: advance(body)?, ..Round::default() };
    body.iter().for_each(|instruction| round.add(instruction));
    Some(round)
}

/// The number of instructions by which a conditional branch goes backwards; `None` for other instructions.
fn branched_back(code: &Instruction) -> Option<usize> {
    let conditional = matches!(code.opcode, Opcode::Bcc(_) | Opcode::CBZ | Opcode::CBNZ);
    let offset = code.operands.iter().find_map(|operand| match operand {
        Operand::PCOffset(bytes) => Some(*bytes),
        _ => None,
    })?;
    (conditional && offset < 0).then(|| offset.unsigned_abs() as usize / 4)
}

/// The bytes by which an iteration decreases `x3`.
fn advance(body: &[Instruction]) -> Option<u64> {
    body.iter().find_map(|code| match (code.opcode, code.operands) {
        (Opcode::SUBS, [Operand::Register(_, 3), _, Operand::Immediate(bytes), _]) => Some(bytes.into()),
        _ => None,
    })
}

impl Round {
    fn add(&mut self, instruction: &Instruction) {
        use Opcode::{LDNP, LDP, LDR, LDUR, PRFM, STNP, STP, STR, STUR};
        let bytes = || registers(instruction).sum::<u64>();
        match instruction.opcode {
            LDR | LDUR | LDP | LDNP => {
                self.loads += 1;
                self.loaded += bytes();
            }
            STR | STUR | STP | STNP => {
                self.stores += 1;
                self.stored += bytes();
                self.non_temporal += u64::from(instruction.opcode == STNP);
            }
            PRFM => self.prefetches += 1,
            _ => {}
        }
    }
}

/// The bytes of each register operand of an instruction; address operands are not counted.
fn registers(instruction: &Instruction) -> impl Iterator<Item = u64> {
    instruction.operands.iter().filter_map(|operand| match operand {
        Operand::Register(SizeCode::X, _) | Operand::SIMDRegister(SIMDSizeCode::D, _) => Some(8),
        Operand::Register(SizeCode::W, _) | Operand::SIMDRegister(SIMDSizeCode::S, _) => Some(4),
        Operand::SIMDRegister(SIMDSizeCode::Q, _) => Some(16),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_vectors_is_one_access_of_thirty_two_bytes() {
        // ldp q16, q17, [x1, #480]; stnp q16, q17, [x0, #32]; stp q0, q1, [x0]
        let mut round = Round::default();
        for word in [0xad4f_4430_u32, 0xac01_4410, 0xad00_0400] {
            round.add(&decode(word.to_le_bytes()).unwrap());
        }
        let expected =
            Round { loads: 1, loaded: 32, stores: 2, stored: 64, non_temporal: 1, ..Round::default() };
        assert_eq!(round, expected);
    }

    #[test]
    fn what_is_no_instruction_is_not_counted_as_one() {
        let nop = NOP.to_le_bytes();
        assert_eq!(count(&nop), Some(0));
        assert_eq!(count(&[nop, 0x9100_0400_u32.to_le_bytes()].concat()), Some(1), "add x0, x0, #1");
        assert_eq!(count(&0x0200_0000_u32.to_le_bytes()), None, "not allocated");
        assert_eq!(count(&nop[..3]), None);
    }
}
