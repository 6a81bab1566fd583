"""What the exit code of the ``homie`` command says."""

EXIT_OK = 0
EXIT_INFRASTRUCTURE = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
