"""What stays on disk between two runs: checkpoints, their container, files that grow."""
