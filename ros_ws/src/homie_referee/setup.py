"""Package of the Homie workspace."""

from setuptools import find_packages, setup

NAME = "homie_referee"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    license="Apache-2.0",
    description="Live referees and the recorder.",
    entry_points={
        "console_scripts": [
            "emmoe_referee_node = homie_referee.emmoe_referee_node:main",
            "recorder_node = homie_referee.recorder_node:main",
        ]
    },
)
