//! The works that methods and predictions cite, so that a reader can look them up: a short citation in the text, and the full
//! reference behind its number.

use crate::paper::Text;
use crate::references;

/// The words by which a text cites a work, and the full reference.
const WORKS: &[(&str, &str)] = &[
    ("filesystems/locking.rst", "The Linux kernel's documentation, Documentation/filesystems/locking.rst"),
    (
        "Hofmann et al. 2020",
        "J. Hofmann, C. L. Alappat, G. Hager, D. Fey and G. Wellein, Bridging the Architecture Gap: Abstracting Performance-Relevant \
         Properties of Modern Server Processors, Supercomputing Frontiers and Innovations 7 (2), 2020",
    ),
    (
        "Mann and Whitney 1947",
        "H. B. Mann and D. R. Whitney, On a Test of Whether One of Two Random Variables is Stochastically Larger than the Other, Annals of \
         Mathematical Statistics 18 (1), 1947",
    ),
    (
        "Schenker and Gentleman 2001",
        "N. Schenker and J. F. Gentleman, On Judging the Significance of Differences by Examining the Overlap Between Confidence Intervals, The \
         American Statistician 55 (3), 2001",
    ),
    ("Cochran 1957", "W. G. Cochran, Analysis of Covariance: Its Nature and Uses, Biometrics 13 (3), 1957"),
    (
        "Paoloni 2010",
        "G. Paoloni, How to Benchmark Code Execution Times on Intel IA-32 and IA-64 Instruction Set Architectures, Intel \
         white paper 324264-001, 2010",
    ),
    ("McVoy and Staelin 1996", LMBENCH),
    ("lmbench", LMBENCH),
    (
        "STREAM",
        "J. D. McCalpin, Memory Bandwidth and Machine Balance in Current High Performance Computers, IEEE Computer Society \
         Technical Committee on Computer Architecture (TCCA) Newsletter, December 1995",
    ),
    (
        "Mellor-Crummey & Scott",
        "J. M. Mellor-Crummey and M. L. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, ACM \
         Transactions on Computer Systems 9 (1), 1991",
    ),
    ("Drepper's second mutex", "U. Drepper, Futexes Are Tricky, akkadia.org/drepper/futex.pdf, 2011"),
    (
        "Little's law",
        "J. D. C. Little, A Proof for the Queuing Formula: L = λW, Operations Research 9 (3), 1961",
    ),
    (
        "System V ABI",
        "System V Application Binary Interface, AMD64 Architecture Processor Supplement, gitlab.com/x86-psABIs/x86-64-ABI",
    ),
    ("AAPCS64", "Arm, Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64)"),
    (
        "White 1997",
        "K. P. White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output, Simulation 69 (6), 1997",
    ),
    (
        "Woodruff 1952",
        "R. S. Woodruff, Confidence Intervals for Medians and Other Position Measures, Journal of the American Statistical \
         Association 47, 1952",
    ),
    (
        "Zou 2007",
        "G. Y. Zou, Toward Using Confidence Intervals to Compare Correlations, Psychological Methods 12 (4), 2007",
    ),
    (
        "Wilson 1927",
        "E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, Journal of the American \
         Statistical Association 22, 1927",
    ),
    ("Tukey 1977", "J. W. Tukey, Exploratory Data Analysis, Addison-Wesley, 1977"),
    (
        "Hoefler and Belli 2015",
        "T. Hoefler and R. Belli, Scientific Benchmarking of Parallel Computing Systems, International Conference for High \
         Performance Computing (SC), 2015",
    ),
    ("Fog, Instruction tables", INSTRUCTION_TABLES),
    ("Microarchitecture and Instruction tables", INSTRUCTION_TABLES),
    ("Fog, Instruction tables and Microarchitecture", MICROARCHITECTURE),
    ("Fog, Microarchitecture", MICROARCHITECTURE),
    ("Fog 2022, Microarchitecture", MICROARCHITECTURE),
    (
        "Dall et al.",
        "C. Dall, S.-W. Li, J. T. Lim, J. Nieh and G. Koloventzos, ARM Virtualization: Performance and Architectural \
         Implications, International Symposium on Computer Architecture (ISCA), 2016",
    ),
    (
        "Soares and Stumm",
        "L. Soares and M. Stumm, FlexSC: Flexible System Call Scheduling with Exception-Less System Calls, USENIX Symposium \
         on Operating Systems Design and Implementation (OSDI), 2010",
    ),
    (
        "Li et al. 2007",
        "C. Li, C. Ding and K. Shen, Quantifying the Cost of Context Switch, Workshop on Experimental Computer Science \
         (ExpCS), 2007",
    ),
    (
        "Molka et al.",
        "D. Molka, D. Hackenberg, R. Schöne and M. S. Müller, Memory Performance and Cache Coherency Effects on an Intel \
         Nehalem Multiprocessor System, Parallel Architectures and Compilation Techniques (PACT), 2009",
    ),
    (
        "Cai et al.",
        "Q. Cai, S. Chaudhary, M. Vuppalapati, J. Hwang and R. Agarwal, Understanding Host Network Stack Overheads, ACM \
         SIGCOMM, 2021",
    ),
    (
        "Esmaili-Dokht et al.",
        "P. Esmaili-Dokht et al., A Mess of Memory System Benchmarking, Simulation and Application Profiling, International \
         Symposium on Microarchitecture (MICRO), 2024",
    ),
    (
        "AnandTech",
        "J. De Gelas and I. Cutress, Sizing Up Servers: Intel's Skylake-SP Xeon versus AMD's EPYC 7000, AnandTech, 2017; J. \
         De Gelas, AMD Rome Second Generation EPYC Review, AnandTech, 2019",
    ),
    ("core-to-core-latency", "N. Viennot, core-to-core-latency, github.com/nviennot/core-to-core-latency"),
    ("(58455)", "AMD, Software Optimization Guide for the AMD Zen 5 Microarchitecture, publication 58455"),
    (
        "(56305, 56665)",
        "AMD, Software Optimization Guides for AMD family 17h models 30h and greater, publication 56305, and for AMD family 19h, \
         publication 56665",
    ),
    ("Neoverse N1 Software Optimization Guide", "Arm, Neoverse N1 Software Optimization Guide"),
    ("Lion Cove (Intel Tech Tour 2024)", "Intel, Lunar Lake Architecture, Lion Cove, Intel Tech Tour, 2024"),
    ("clock_getres(2)", "The Linux man-pages project, clock_getres(2)"),
    ("(57647)", "AMD, Software Optimization Guide for the AMD Zen 4 Microarchitecture, publication 57647"),
    (
        "Intel optimization manual",
        "Intel, Intel 64 and IA-32 Architectures Optimization Reference Manual, document 248966",
    ),
    (
        "Optimization Reference Manual",
        "Intel, Intel 64 and IA-32 Architectures Optimization Reference Manual, document 248966",
    ),
    ("Intel SDM", "Intel, Intel 64 and IA-32 Architectures Software Developer's Manual, document 325462"),
    (
        "A Peek at Sapphire Rapids",
        "C. Lam, A Peek at Sapphire Rapids, Chips and Cheese, chipsandcheese.com, 2023",
    ),
    (
        "Maurice et al.",
        "C. Maurice, N. Le Scouarnec, C. Neumann, O. Heen and A. Francillon, Reverse Engineering Intel Last-Level Cache Complex \
         Addressing Using Performance Counters, Research in Attacks, Intrusions, and Defenses (RAID), 2015",
    ),
    ("halt polling", "The Linux kernel's documentation, Documentation/virt/kvm/halt-polling.rst"),
    ("(VM_READAHEAD_PAGES)", "The Linux kernel's source, include/linux/mm.h: VM_READAHEAD_PAGES"),
    ("(fault_around_bytes)", "The Linux kernel's source, mm/memory.c: fault_around_bytes"),
    (
        "a large folio whole",
        "The Linux kernel's source, mm/filemap.c and mm/memory.c: what a fault maps of a folio",
    ),
    ("Stokes", "J. Stokes, Understanding CPU caching and performance, Ars Technica, 2002"),
    ("pti.rst", "The Linux kernel's documentation, Documentation/arch/x86/pti.rst"),
];

const INSTRUCTION_TABLES: &str = "A. Fog, Instruction tables: Lists of instruction latencies, throughputs and micro-operation \
    breakdowns for Intel, AMD and VIA CPUs, Technical University of Denmark, 2022, agner.org/optimize";
const LMBENCH: &str = "L. McVoy and C. Staelin, lmbench: Portable Tools for Performance Analysis, USENIX Annual Technical Conference, 1996";
const MICROARCHITECTURE: &str = "A. Fog, The microarchitecture of Intel, AMD and VIA CPUs, Technical University of Denmark, 2022, \
    agner.org/optimize";

/// Prose with the number of every cited work after its citation.
pub(super) fn cited(prose: &str) -> Text {
    match first(prose) {
        Some((end, work)) => Text::prose(&prose[..end]).cite(work).and(cited(&prose[end..])),
        None => Text::prose(prose),
    }
}

/// The end of the first citation of a work, and the work.
fn first(prose: &str) -> Option<(usize, &'static str)> {
    let of_works = WORKS.iter().filter_map(|(name, work)| Some((prose.find(name)? + name.len(), *work)));
    // The number stands behind the whole word: `lmbench's`.
    let of_works = of_works.map(|(end, work)| (end + genitive(&prose[end..]), work));
    let reports = references::sources().iter().filter_map(|source| {
        let name = format!("report {}", source.id);
        Some((prose.find(&name)? + name.len(), source.title.as_str()))
    });
    of_works.chain(reports).min()
}

/// The length of the ending of a name in the genitive.
fn genitive(rest: &str) -> usize {
    const ENDING: &str = "'s";
    if rest.starts_with(ENDING) { ENDING.len() } else { 0 }
}

/// The works that a citation of a prediction names; none, if it gives a reason of its own.
pub(super) fn numbers(text: &str) -> Vec<&'static str> {
    let (mut works, mut rest): (Vec<&str>, &str) = (vec![], text);
    while let Some((end, work)) = first(rest) {
        works.push(work);
        rest = &rest[end..];
    }
    works
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Piece;

    fn works(text: &Text) -> usize {
        text.pieces().iter().filter(|piece| matches!(piece, Piece::Cite(_))).count()
    }

    #[test]
    fn every_work_that_is_named_is_cited_once_where_it_is_named() {
        assert_eq!(works(&cited("as `x` (Zou 2007) after Paoloni 2010, and Zou 2007")), 3);
        assert_eq!(cited("nobody").pieces().len(), 1);
    }

    #[test]
    fn works_that_methods_name_without_a_year_are_cited_behind_the_whole_word() {
        let text = cited("as in lmbench's loop and in STREAM, with a queue lock (Mellor-Crummey & Scott)");
        assert_eq!(works(&text), 3);
        let first = text.pieces().first();
        assert_eq!(first, Text::prose("as in lmbench's").pieces().first(), "{first:?}");
    }

    #[test]
    fn a_published_figure_names_its_work_or_gives_a_reason() {
        let fence = cited("Fog, Instruction tables, 2022: LFENCE 4 to 8 cycles");
        assert!(works(&fence) == 1 && fence.pieces().contains(&Piece::Cite(INSTRUCTION_TABLES.to_owned())));
        let both = cited("report 000: some 100 cycles (Soares and Stumm, OSDI 2010)");
        assert_eq!(works(&both), 2);
        assert_eq!(works(&cited("a data sheet of a drive")), 0, "a reason is no work");
        assert!(numbers("a data sheet of a drive").is_empty());
    }
}
