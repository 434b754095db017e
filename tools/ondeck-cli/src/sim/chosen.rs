//! The named locks and workloads that can be simulated, or why one cannot.

use ondeck_lab::select;
use ondeck_lab::workload::{Subject, THROUGHPUT, WorkloadInfo};

use super::Options;
use crate::ending::Error;

/// The named locks; `None` if none is named.
pub(super) fn locks(
    options: &Options,
    subjects: &[Subject],
) -> Result<Option<Vec<Subject>>, Error> {
    let Some(words) = &options.choice.locks else { return Ok(None) };
    for word in words {
        let word = std::slice::from_ref(word);
        if let Err(unknown) = select::locks(subjects, word) {
            let known = select::locks(&Subject::of_every_kind(), word).is_ok();
            return Err(if known {
                not_simulated(&word[0], subjects)
            } else {
                Error::usage(unknown)
            });
        }
    }
    select::locks(subjects, words).map(Some).map_err(Error::usage)
}

fn not_simulated(word: &str, subjects: &[Subject]) -> Error {
    // The portable lock with the same algorithm, such as `rust_std` for `std`.
    let like = format!("_{}", word.trim().to_lowercase().replace('-', "_"));
    let portable = subjects.iter().find(|lock| lock.info.name.ends_with(&like));
    let same = portable.map_or_else(String::new, |lock| {
        format!("`{}`, which is the same algorithm, or ", lock.info.name)
    });
    Error::Usage(format!(
        "`{word}` cannot be simulated: it is another library's and calls the system itself; choose \
         {same}locks of the groups `sources`, `literature` or `own`"
    ))
}

/// The named workloads, or the extent's.
pub(super) fn workloads(options: &Options) -> Result<Vec<WorkloadInfo>, Error> {
    let parts = options.choice.parts()?;
    let Some(words) = &options.choice.workloads else {
        let wanted = |it: &WorkloadInfo| !options.quick || it.name == THROUGHPUT;
        let possible = |it: &WorkloadInfo| it.only_real.is_none() && wanted(it);
        return Ok(parts.workloads.into_iter().filter(possible).collect());
    };
    let named =
        |name: &str| words.iter().any(|word| word.trim().to_lowercase().replace('-', "_") == name);
    let refused = |name: &str, why: &str| {
        let fix = "leave it out of --workloads, or measure it with `ondeck bench`";
        Error::Usage(format!("`{name}` cannot be simulated: {why}; {fix}"))
    };
    let (real, possible): (Vec<_>, Vec<_>) =
        parts.workloads.into_iter().partition(|workload| workload.only_real.is_some());
    for workload in &real {
        if let (true, Some(why)) = (named(workload.name) || possible.is_empty(), workload.only_real)
        {
            return Err(refused(workload.name, why));
        }
    }
    let costs = select::COSTS.0;
    if parts.costs && (named(costs) || possible.is_empty()) {
        return Err(refused(costs, "a simulated machine's costs are in its machine file"));
    }
    Ok(possible)
}
