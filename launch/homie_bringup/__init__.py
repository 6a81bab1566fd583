"""The ``homie`` command and the graph of nodes that it and the launch files start."""
