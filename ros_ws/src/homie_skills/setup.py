"""Package of the Homie workspace."""

from setuptools import find_packages, setup

NAME = "homie_skills"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={
        "console_scripts": [
            "executor_node = homie_skills.executor_node:main",
            "m3_node = homie_skills.m3_node:main",
        ]
    },
    license="Apache-2.0",
    description="Low-level skills of Homie: the executor of subtasks and the skill servers that carry them out.",
)
