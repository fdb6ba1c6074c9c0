//! Counting our own instructions: kernels stand between two labels, and are disassembled in the running binary, so that
//! what is claimed of them is what the processor executes (R-CPU-11).

/// The number of instructions between two labels of this program; `None` where the code does not end with one.
pub fn instructions(start: *const u8, end: *const u8) -> Option<u64> {
    let length = (end as usize).checked_sub(start as usize)?;
    // SAFETY: both labels stand in one kernel of this program's text, which is readable.
    let code = unsafe { std::slice::from_raw_parts(start, length) };
    let mut decoder = iced_x86::Decoder::new(64, code, iced_x86::DecoderOptions::NONE);
    let mut count = 0;
    while decoder.can_decode() {
        // Alignment between the labels is not the kernel's.
        count += u64::from(decoder.decode().mnemonic() != iced_x86::Mnemonic::Nop);
    }
    (decoder.position() == length).then_some(count)
}
