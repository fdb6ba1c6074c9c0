//! Pages that this machine's kernel gives, and its account of them.

use crate::tier::{Outcome, Test, beside, skipped};
use fathom::experiment::Failure;
use fathom::replicate::usage::Usage;
use fathom_experiments::apparatus::memory::backing::Backing;
use fathom_experiments::apparatus::memory::fault::stretch::Mapped;
use fathom_experiments::apparatus::memory::pages::{Mapping, Pages};

pub const TESTS: &[Test] = &beside![
    base_pages_are_got_where_they_are_asked_for,
    huge_pages_are_got_or_refused_with_what_to_do,
    a_dropped_mapping_is_gone,
    pages_are_present_when_touched_and_no_more_when_forgotten,
    a_walk_faults_at_every_page_that_no_earlier_fault_has_mapped,
    pages_written_for_the_first_time_are_counted,
];

fn base_pages_are_got_where_they_are_asked_for() -> Outcome {
    let (mapping, backing) = Mapping::resident(5 << 20, Pages::Base).unwrap();
    assert!(mapping.bytes() >= 5 << 20);
    assert_eq!((backing.huge, backing.resident), (0, mapping.bytes() as u64));
    Ok(())
}

fn huge_pages_are_got_or_refused_with_what_to_do() -> Outcome {
    match Mapping::resident(5 << 20, Pages::Huge) {
        Ok((mapping, backing)) => {
            assert_eq!(mapping.bytes() % Pages::Huge.bytes(), 0);
            assert_eq!(mapping.start().as_ptr() as usize % Pages::Huge.bytes(), 0);
            assert_eq!((backing.huge, backing.mapped), (mapping.bytes() as u64, mapping.bytes() as u64));
            Ok(())
        }
        Err(Failure::Unsupported(reason)) => {
            assert!(reason.contains("nr_hugepages") || reason.contains("too long"), "{reason}");
            skipped(reason)
        }
        Err(other) => panic!("{other}"),
    }
}

fn a_dropped_mapping_is_gone() -> Outcome {
    // A length that no other mapping of this process has.
    let (bytes, page) = (257, Pages::Base.bytes());
    let mapping = Mapping::untouched(bytes * page, Pages::Base).unwrap();
    let (address, mapped) = (mapping.start().as_ptr() as usize, (bytes * page) as u64);
    assert_eq!(Backing::of(address).unwrap(), Backing { mapped, resident: 0, huge: 0 });
    drop(mapping);
    assert!(Backing::of(address).map_or(true, |backing| backing.mapped != mapped));
    Ok(())
}

fn pages_are_present_when_touched_and_no_more_when_forgotten() -> Outcome {
    let memory = Mapping::untouched(64 * Pages::Base.bytes(), Pages::Base).unwrap();
    assert_eq!(memory.present_pages().unwrap(), 0);
    memory.read_pages(memory.all_pages());
    assert_eq!(memory.present_pages().unwrap(), memory.pages(), "the page of zeros is present");
    memory.forget().unwrap();
    // SAFETY: our own memory, which may be written.
    unsafe { memory.write_pages(0..1) };
    assert_eq!((memory.present_pages().unwrap(), memory.resident_pages().unwrap()), (1, 1));
    memory.forget().unwrap();
    assert_eq!(memory.present_pages().unwrap(), 0);
    Ok(())
}

fn a_walk_faults_at_every_page_that_no_earlier_fault_has_mapped() -> Outcome {
    let memory = Mapping::untouched(64 * Pages::Base.bytes(), Pages::Base).unwrap();
    let touch = |width: usize| {
        let memory = &memory;
        move |page| {
            memory.read_pages(page..page + width);
            Ok(())
        }
    };
    assert_eq!(memory.faults_of_a_walk(touch(1)).unwrap(), 64);
    assert_eq!(memory.faults_of_a_walk(touch(16)).unwrap(), 4, "as if each fault mapped sixteen");
    Ok(())
}

fn pages_written_for_the_first_time_are_counted() -> Outcome {
    let before = Usage::now();
    let pages: Vec<Vec<u8>> = (0..64).map(|_| vec![1; 1 << 20]).collect();
    std::hint::black_box(&pages);
    // Even in huge pages there are 32 of them.
    assert!(Usage::now().since(before).minor >= 16);
    Ok(())
}
