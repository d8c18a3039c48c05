"""Total arithmetic and exact sums: functions that steps call, compiled or interpreted."""
