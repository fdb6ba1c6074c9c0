//! The pages of the experiments in `docs/`, which are written from the experiments.

use super::golden;
use fathom::report::catalogue;
use std::collections::BTreeSet;
use std::path::Path;

#[test]
fn the_pages_of_experiments_say_what_the_experiments_say() {
    let place = |name: &str| format!("../../docs/experiments/{name}.md");
    golden(&place("README"), &catalogue::index(fathom::experiments::all()));
    let mut expected: BTreeSet<String> = BTreeSet::from(["README".to_owned()]);
    for experiment in fathom::experiments::all() {
        let name = experiment.about().name;
        golden(&place(name), &catalogue::page(experiment));
        expected.insert(name.to_owned());
    }
    // None is left of an experiment that is gone.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/experiments");
    let families = ["", "cpu", "memory", "network", "filesystem"];
    let pages = families.iter().flat_map(|family| {
        let entries = std::fs::read_dir(folder.join(family)).unwrap().flatten();
        let stems =
            entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".md").map(str::to_owned));
        stems
            .map(|stem| if family.is_empty() { stem } else { format!("{family}/{stem}") })
            .collect::<Vec<_>>()
    });
    assert_eq!(pages.collect::<BTreeSet<String>>(), expected);
}
