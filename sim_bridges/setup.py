"""Package of the Homie workspace."""

from setuptools import find_packages, setup

NAME = "homie_sim"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    package_data={NAME: ["py.typed", "houses/*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    license="Apache-2.0",
    description="Simulated worlds of Homie behind one robot interface.",
    entry_points={"console_scripts": ["mujoco_bridge_node = homie_sim.mujoco_bridge_node:main"]},
)
