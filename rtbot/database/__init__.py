"""A Datalog program as a database: facts, commits, derivations, fact files, checkpoints."""
