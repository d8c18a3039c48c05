"""What stays on the disk between two runs: checkpoints, their container, files that grow."""
