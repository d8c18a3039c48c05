"""What a file is: a guess with reasons, from its bytes, and the options that read it."""
