"""What every part shares: errors and their codes, hints, times, batches of rows."""
