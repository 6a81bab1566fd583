"""Native skills: what the physical skills achieve, done by the simulator itself without motion.

The same preconditions, errors and final states as the skills on the robot interface, at the speed of the machine: for
studies of planners. The skill server is named ``oracle``.
"""
