//! Tidy CSV: one row for each workload, lock, number of threads, parameters and metric.

use ondeck_lab::results::Report;

/// The header line, which is an interface.
pub const HEADER: [&str; 10] =
    ["workload", "lock", "threads", "params", "metric", "unit", "median", "p25", "p75", "n"];

/// The additional column of a simulated report: its simulation, as `simulated on epyc, seed 7`.
pub const SIMULATED: &str = "evidence";

/// The report's series and costs as CSV. A cost is a row of workload `costs` without a lock, its
/// operation in `metric`.
///
/// # Errors
///
/// None in practice: writing to memory does not fail.
pub fn render(report: &Report) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let simulated = report.simulation();
    let simulated = simulated.as_deref();
    writer.write_record(HEADER.into_iter().chain(simulated.map(|_| SIMULATED)))?;
    for series in &report.series {
        for metric in &series.metrics {
            let row = [
                &*series.workload,
                &series.lock,
                &series.threads.to_string(),
                &series.params_word(),
                &metric.name,
                &metric.unit,
                &metric.median.to_string(),
                &metric.p25.to_string(),
                &metric.p75.to_string(),
                &metric.n.to_string(),
            ];
            writer.write_record(row.into_iter().chain(simulated))?;
        }
    }
    for cost in report.costs.iter().filter(|cost| cost.refused.is_none()) {
        let row = [
            "costs",
            "",
            "1",
            &format!("group={}", cost.group),
            &cost.operation,
            "ns",
            &cost.median.to_string(),
            &cost.p25.to_string(),
            &cost.p75.to_string(),
            &cost.n.to_string(),
        ];
        writer.write_record(row.into_iter().chain(simulated))?;
    }
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
