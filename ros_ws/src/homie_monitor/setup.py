"""Package of the Homie workspace."""

from setuptools import find_packages, setup

NAME = "homie_monitor"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    entry_points={"console_scripts": ["monitor_node = homie_monitor.monitor_node:main"]},
    license="Apache-2.0",
    description="The error-detection monitor of Homie: checks before, during and after a subtask.",
)
