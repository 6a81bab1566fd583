"""Simulated worlds behind one robot interface. The embedded one is MuJoCo with a Fetch."""

from homie_sim.gl import choose_backend

choose_backend()
