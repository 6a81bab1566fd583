"""Package of the Homie workspace."""

from setuptools import find_packages, setup

NAME = "homie_eval"

setup(
    name=NAME,
    version="0.1.0",
    packages=find_packages(),
    package_data={NAME: ["py.typed", "templates/*", "emmoe/tasks/*.yaml", "emmoe/plans/*.json"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    license="Apache-2.0",
    description="Benchmarks of Homie: tasks, metrics, reading bags, offline scores, reports and videos.",
)
