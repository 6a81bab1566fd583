"""Package of the Homie workspace."""

from setuptools import find_packages, setup

NAME = "homie_core"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    package_data={NAME: ["py.typed", "*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    license="Apache-2.0",
    description="The protocol of Homie: subtasks, error codes, inventory, names, key paths, episodes.",
)
