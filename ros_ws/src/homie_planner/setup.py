"""Package of the Homie workspace."""

from setuptools import find_packages, setup

NAME = "homie_planner"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    package_data={NAME: ["py.typed", "templates/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={"console_scripts": ["planner_node = homie_planner.planner_node:main"]},
    license="Apache-2.0",
    description="The high-level planner of Homie: backends, prompts, parsing, the episode loop.",
)
