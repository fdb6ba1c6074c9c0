//! The loops of the report's bandwidth test.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{
    __m256, _MM_HINT_T2, _mm_prefetch, _mm256_add_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
};

/// `val += array[i]` for every char of the array.
#[inline(never)]
pub fn read_loop(array: &[u8]) -> u32 {
    array.iter().fold(0, |sum: u32, char| sum.wrapping_add(u32::from(*char)))
}

/// The same, eight chars in each iteration, each of which prefetches the char eight further on.
#[inline(never)]
pub fn read_unrolled_prefetching(array: &[u8]) -> u32 {
    let mut sum = 0_u32;
    for eight in array.chunks_exact(8) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a hint, which no address can make go wrong.
        unsafe {
            _mm_prefetch::<_MM_HINT_T2>(eight.as_ptr().wrapping_add(8).cast());
        }
        for char in eight {
            sum = sum.wrapping_add(u32::from(*char));
        }
    }
    sum
}

/// Every 32 bytes added to one vector of eight floats: each addition waits for the one before it.
///
/// # Safety
/// The processor must have AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[allow(unused_unsafe, reason = "before Rust 1.87 these calls are unsafe here too")]
#[inline(never)]
pub unsafe fn read_avx(array: &[u8]) -> f32 {
    // SAFETY: the processor has AVX, as the caller guarantees.
    let mut sum = unsafe { _mm256_setzero_ps() };
    for vector in array.chunks_exact(32) {
        // One chain of additions: a compiler may not split a sum of floats into several.
        // SAFETY: 32 bytes, at whatever address.
        sum = unsafe { _mm256_add_ps(sum, vector.as_ptr().cast::<__m256>().read_unaligned()) };
    }
    let mut floats = [0.0; 8];
    // SAFETY: room for eight floats.
    unsafe { _mm256_storeu_ps(floats.as_mut_ptr(), sum) };
    floats.iter().sum()
}

/// A constant stored into every word.
#[inline(never)]
pub fn write_loop(array: &mut [u8]) {
    let (_, words, _) = {
        // SAFETY: any bytes are a word.
        unsafe { array.align_to_mut::<u64>() }
    };
    for word in words {
        // The bytes of the value differ, so that the compiler does not make a memset of the loop.
        *word = 1;
    }
}

/// A vector of constants stored into every 32 bytes.
///
/// # Safety
/// The processor must have AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
#[allow(unused_unsafe, reason = "before Rust 1.87 these calls are unsafe here too")]
#[inline(never)]
pub unsafe fn write_avx(array: &mut [u8]) {
    // SAFETY: the processor has AVX, as the caller guarantees.
    let ones = unsafe { _mm256_set1_ps(1.0) };
    for vector in array.chunks_exact_mut(32) {
        // SAFETY: 32 bytes, at whatever address.
        unsafe { _mm256_storeu_ps(vector.as_mut_ptr().cast(), ones) };
    }
}

/// The C library's `memset`.
#[inline(never)]
pub fn write_memset(array: &mut [u8]) {
    // SAFETY: the array is as long as it says.
    unsafe { libc::memset(array.as_mut_ptr().cast(), 0x5a, array.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_read_every_byte() {
        let array: Vec<u8> = (0..64_000_u32).map(|byte| (byte % 251) as u8).collect();
        let sum = array.iter().map(|byte| u32::from(*byte)).sum::<u32>();
        assert_eq!(read_loop(&array), sum);
        assert_eq!(read_unrolled_prefetching(&array), sum);
    }

    #[test]
    fn writers_write_every_byte() {
        let mut array = vec![7_u8; 6_400];
        write_memset(&mut array);
        assert!(array.iter().all(|byte| *byte == 0x5a));
        let mut words = vec![u64::MAX; 800];
        // SAFETY: words are bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), 6_400) };
        write_loop(bytes);
        assert!(words.iter().all(|word| *word == 1));
    }
}
