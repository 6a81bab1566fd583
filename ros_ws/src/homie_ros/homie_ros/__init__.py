"""What the nodes share: waiting with deadlines, action servers that keep spinning, conversions, hosting of nodes."""
