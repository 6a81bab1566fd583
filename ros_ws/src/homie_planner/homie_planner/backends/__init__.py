"""The planners that come with the package, one a file."""
