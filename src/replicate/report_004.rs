//! Report 004: the synopsis of report 000.

use super::Report;

/// The report.
pub const REPORT: Report = Report { id: "004", machine: "", title: "", methodology: "", rows: &[] };
