//! The machine files that come with the crate.

use ondeck_sim::machine::{MachineFile, Place, bundled_names};

#[test]
fn each_bundled_file_is_right_and_says_where_its_numbers_are_from() {
    let mut count = 0;
    for name in bundled_names() {
        let file = MachineFile::find(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.name(), name);
        for (key, leaf) in file.leaves() {
            assert!(leaf.from.len() > 10, "{name}: {key} is from {:?}", leaf.from);
        }
        count += 1;
    }
    assert!(count > 0, "no machine is bundled");
}

/// Whether the published table has this median for the machine that the source names.
fn in_table(table: &str, from: &str, value: f64) -> bool {
    let said = from.trim_start_matches("median of ");
    let name = said.trim_start_matches("two ").split([',', ':', '(']).next().unwrap_or("").trim();
    table.lines().filter(|line| !line.starts_with('#')).any(|line| {
        let fields: Vec<_> = line.split(',').collect();
        let [machine, .., scope, _, _, _, median, _, _] = fields[..] else { return false };
        machine.contains(name)
            && machine.ends_with("dual") == said.starts_with("two ")
            && !scope.contains("socket")
            && median.parse() == Ok(value)
    })
}

#[test]
fn a_published_latency_is_that_of_its_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/published/core-to-core.csv");
    let table = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut found = 0;
    for name in bundled_names() {
        let file = MachineFile::find(name).unwrap_or_else(|error| panic!("{error}"));
        for (key, leaf) in file.leaves() {
            if leaf.from.starts_with("median of ") {
                let value = leaf.value.number().expect("a latency");
                assert!(
                    in_table(&table, &leaf.from, value),
                    "{name}: {key} = {value}: {}",
                    leaf.from
                );
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found} latencies are of the table");
}

#[test]
fn hardware_threads_are_where_the_file_puts_them() {
    let file = MachineFile::find("epyc-9454p").expect("a bundled machine");
    let (places, transfer) = (&file.costs().places, &file.costs().transfer);
    assert_eq!((places.len(), file.costs().cpu_of_core.len()), (96, 48));
    let seventh = Place { core: 6, cluster: 1, socket: 0, class: 0, sibling: Some(54) };
    assert_eq!((places[6], places[54]), (seventh, Place { sibling: Some(6), ..seventh }));
    let distances = [54, 11, 5].map(|other| file.costs().distance(&seventh, &places[other]));
    assert_eq!(distances, [transfer.smt_sibling, transfer.same_cluster, transfer.same_socket]);
    // One socket: a key that the file omits has the value of the next nearer neighbours.
    assert_eq!(transfer.cross_socket, transfer.same_socket);
}
