"""Package of the Homie workspace."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = "homie_bringup"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", [str(path) for path in sorted(Path("launch").glob("*.launch.py"))]),
    ],
    entry_points={"console_scripts": ["homie = homie_bringup.cli:main"]},
    license="Apache-2.0",
    description="The homie command, the graph of nodes and its launch files.",
)
