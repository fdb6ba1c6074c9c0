//! Files and the page cache of this machine's kernel.

use crate::tier::{Outcome, Test, beside, skipped};
use fathom::experiment::Failure;
use fathom::replicate::report_003::filesystem::read_again;
use fathom::test_file::residency::{by_mincore, cached};
use fathom::test_file::{evict, page_bytes};
use std::os::unix::fs::FileExt;

pub const TESTS: &[Test] = &beside![
    what_was_written_is_cached_and_what_was_evicted_is_not,
    a_file_that_report_003_has_read_is_found_in_the_cache,
];

/// Skipped where the file system keeps its files in memory: nothing can be evicted there, and the message says so.
fn what_was_written_is_cached_and_what_was_evicted_is_not() -> Outcome {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&vec![7; 100_000], 0).unwrap();
    let whole = 100_000_u64.next_multiple_of(page_bytes());
    assert_eq!(cached(&file).unwrap().bytes, whole);
    assert_eq!(by_mincore(&file, 0, 100_000).unwrap().bytes, whole);
    if let Err(failure) = evict(&file) {
        assert!(failure.to_string().contains("stay in the page cache"), "{failure}");
        return skipped(failure);
    }
    assert_eq!(cached(&file).unwrap().bytes, 0);
    assert_eq!(by_mincore(&file, 0, 100_000).unwrap().bytes, 0);
    file.read_exact_at(&mut [0; 10], 50_000).unwrap();
    assert!(cached(&file).unwrap().bytes > 0);
    Ok(())
}

fn a_file_that_report_003_has_read_is_found_in_the_cache() -> Outcome {
    super::rdtscp()?;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), vec![7; 1 << 20]).unwrap();
    match read_again(file.as_file(), 1 << 20) {
        Ok(again) => {
            assert!(again.missing == 0 && again.ticks_per_byte > 0.0, "{}", again.missing);
            Ok(())
        }
        Err(Failure::Unsupported(reason)) => {
            assert!(reason.contains("page cache"), "{reason}");
            skipped(reason)
        }
        Err(broke) => panic!("{broke}"),
    }
}
