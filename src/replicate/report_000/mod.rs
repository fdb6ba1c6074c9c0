//! Report 000.

use super::Report;

/// The report.
pub const REPORT: Report = Report { id: "000", machine: "", title: "", methodology: "", rows: &[] };
