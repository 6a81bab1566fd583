"""The ``homie`` command.

Exit codes: 0 done, 1 the infrastructure failed, 2 bad input (one line on stderr says what), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from homie_bringup.exit_codes import EXIT_BAD_INPUT, EXIT_INTERRUPTED
from homie_ros.fastdds import set_transport_defaults

BAG = click.Path(path_type=Path)
PAGES = click.Choice(["all", "failed", "none"])


@click.group()
def homie() -> None:
    """Plan household tasks with a multimodal model, carry them out, and score every run."""


@homie.command()
@click.option("--task", default="100", show_default=True, help="Its number or name in the suite, or a YAML file.")
@click.option(
    "--planner",
    default="expert",
    show_default=True,
    help="Backend, e.g. expert, human or replay:PLAN (case_1, a file, or a bag), or a YAML file.",
)
@click.option(
    "--planner-option",
    "planner_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Field of the planner's configuration, e.g. options.temperature=0; may be repeated.",
)
@click.option("--house", default="", help="House instead of the task's own: a name or a YAML file.")
@click.option(
    "--setting", default="background_information", show_default=True, help="Or no_background_information (paper, 3.3)."
)
@click.option(
    "--skills", default="m3", show_default=True, help="Physical skills, or oracle: instant, by the simulator."
)
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="MODEL=NAME",
    help="Your own skill server, skills/NAME/execute, for a model, e.g. RT-1-X=my_server; may be repeated.",
)
@click.option(
    "--success-rates",
    default="",
    help="Chance of each try of an instant skill: go_to=0.9,pick=0.5, or table_4 (paper).",
)
@click.option(
    "--views", default="always", show_default=True, help="Or needed: none for a planner that looks at no pictures."
)
@click.option("--seed", default="0", show_default=True, help="Seed of the world and of the skills' search.")
@click.option("--trial", default="1", show_default=True, help="Number of this trial of the task.")
@click.option("--max-steps", default="20", show_default=True, help="Steps after which the episode stops.")
@click.option("--video-fps", default="5", show_default=True, help="Video pictures per simulated second; 0 for none.")
@click.option("--processes", is_flag=True, help="One process per node.")
@click.option("--attach", is_flag=True, help="Use the nodes that already run in this ROS domain.")
@click.option("--runs", type=BAG, default=Path("runs"), show_default=True, help="Gets a new folder for this run.")
def demo(processes: bool, attach: bool, runs: Path, **values: object) -> None:
    """Run one task from start to report."""
    # ROS and the physics engine are imported when a command needs them: `homie --help` stays quick.
    from rich.console import Console

    from homie_bringup.demo import Layout, run_demo
    from homie_bringup.domain import DomainError
    from homie_bringup.run_folder import RunFolderError
    from homie_bringup.settings import SettingsError, check
    from homie_ros.parameters import ParameterError

    if processes and attach:
        raise click.UsageError("--processes and --attach exclude each other")
    layout = Layout.PROCESSES if processes else Layout.ATTACH if attach else Layout.COMPOSED
    try:
        code = run_demo(check(**values), layout, runs, Console())
    except (SettingsError, RunFolderError, DomainError, ParameterError) as error:
        raise click.UsageError(str(error)) from error
    raise click.exceptions.Exit(code)


@homie.command("eval")
@click.argument("suite", default="")
@click.option("--planner", "planners", multiple=True, metavar="[LABEL=]PLANNER", help="May be repeated.")
@click.option("--planner-option", "planner_options", multiple=True, metavar="NAME=VALUE", help="For every planner.")
@click.option("--tasks", help="all, train, test, or numbers and ranges such as 1-10,84.  [default: all]")
@click.option("--trials", help="Trials of each task, each with its own seed.  [default: 3]")
@click.option("--seed", help="Seed of the whole run.  [default: 0]")
@click.option("--setting", help="background_information or no_background_information.")
@click.option("--skills", help="m3 (physical) or oracle (instant).  [default: m3]")
@click.option("--success-rates", help="Chance of each try of an instant skill: go_to=0.9,pick=0.5, or table_4.")
@click.option("--views", help="needed or always.  [default: needed]")
@click.option("--max-steps", help="Steps after which an episode stops.  [default: 20]")
@click.option("--video-fps", help="Video pictures per simulated second.  [default: 0]")
@click.option("--shard", help="The part of the run that this machine does, e.g. 2/5.")
@click.option("--workers", type=click.IntRange(1, 256), default=2, show_default=True, help="Processes side by side.")
@click.option("--tries", type=click.IntRange(1, 100), default=3, show_default=True, help="Of an episode that breaks.")
@click.option(
    "--worker-memory", type=click.IntRange(200), default=2000, show_default=True, help="Megabytes; then it is replaced."
)
@click.option("--name", default="", help="Of the new folder; by default the time and the suite.")
@click.option("--runs", type=BAG, default=Path("runs"), show_default=True, help="Gets the new folder.")
@click.option(
    "--ray",
    "ray_address",
    default="",
    metavar="ADDRESS",
    help="Workers on the nodes of a Ray cluster: auto, HOST:PORT …",
)
@click.option("--ray-cpus", type=click.FloatRange(0.01), default=1.0, show_default=True, help="That each worker takes.")
@click.option("--ray-bags", type=BAG, help="Bags stay in this folder of their node; by default they are brought here.")
@click.option("--resume", type=BAG, help="Folder of a run to go on with, as it was begun.")
@click.option("--retry-failed", is_flag=True, help="With --resume: try the failed episodes again.")
@click.option("--pages", type=PAGES, default="all", show_default=True, help="Episodes that get a page of their own.")
def evaluate(
    workers: int,
    tries: int,
    worker_memory: int,
    name: str,
    runs: Path,
    ray_address: str,
    ray_cpus: float,
    ray_bags: Path | None,
    resume: Path | None,
    retry_failed: bool,
    pages: str,
    **values: object,
) -> None:
    """Run a suite (emmoe) with one planner or several, and score it."""
    from rich.console import Console

    from homie_bringup.evaluation_command import EvaluationOptions, run_evaluation
    from homie_bringup.ray_cluster import RayOptions
    from homie_bringup.settings import SettingsError
    from homie_eval.episode_pages import Pages

    given = {key: value for key, value in values.items() if value not in (None, (), "")}
    ray = RayOptions(ray_address, ray_cpus, ray_bags) if ray_address else None
    options = EvaluationOptions(workers, tries, worker_memory, name, runs, resume, retry_failed, Pages(pages), ray)
    try:
        code = run_evaluation(options, given, Console())
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    raise click.exceptions.Exit(code)


@homie.command()
@click.argument("form", metavar="FORMAT", type=click.Choice(["emmoe100", "sft", "dpo", "videos", "lerobot"]))
@click.argument("source", type=BAG)
@click.argument("target", type=BAG)
@click.option("--successful", is_flag=True, help="Only episodes with TP = 100 %.")
@click.option("--rewriter", default="", metavar="PLANNER", help="Model that writes texts anew, e.g. openai:gpt-4o.")
@click.option("--rewriter-option", "rewriter_options", multiple=True, metavar="NAME=VALUE", help="For the rewriter.")
@click.option("--variants", type=click.IntRange(0, 20), default=3, show_default=True, help="Rewritings of each text.")
def export(
    form: str,
    source: Path,
    target: Path,
    successful: bool,
    rewriter: str,
    rewriter_options: tuple[str, ...],
    variants: int,
) -> None:
    """Write a run, a bag or an EMMOE-100 folder in a format for training into the new folder TARGET.

    emmoe100, sft and dpo teach a planner; videos and lerobot, an episode each subtask of a physical run, teach skills.
    """
    from rich.console import Console

    from homie_bringup.export_command import run_export
    from homie_bringup.settings import SettingsError

    try:
        run_export(
            form,
            source,
            target,
            Console(),
            successful=successful,
            rewriter=rewriter,
            rewriter_options=rewriter_options,
            variants=variants,
        )
    except SettingsError as error:
        raise click.UsageError(str(error)) from error


@homie.command()
@click.argument("target", type=BAG)
@click.argument("shards", nargs=-1, required=True, type=BAG)
@click.option("--unfinished", is_flag=True, help="Take shards that are not finished; go on with the result.")
def merge(target: Path, shards: tuple[Path, ...], unfinished: bool) -> None:
    """Make one run of all shards of a run, in the new folder TARGET."""
    from rich.console import Console

    from homie_bringup.merge_command import run_merge
    from homie_bringup.settings import SettingsError

    try:
        run_merge(target, shards, Console(), unfinished=unfinished)
    except SettingsError as error:
        raise click.UsageError(str(error)) from error


@homie.command()
@click.argument("paths", nargs=-1, required=True, type=BAG)
@click.option("--as-published", is_flag=True, help="Of runs: also as the published notebooks count.")
@click.option("--emmoe-100", "emmoe100", type=BAG, help="The data set, for run folders of the original HomieBot.")
def score(paths: tuple[Path, ...], as_published: bool, emmoe100: Path | None) -> None:
    """Score bags, run folders, and the original HomieBot's exp/<model>; no ROS is needed."""
    from rich.console import Console

    from homie_bringup.score_command import ScoreError, run_score

    try:
        for path in paths:
            run_score(path, Console(), as_published=as_published, emmoe100=emmoe100)
    except ScoreError as error:
        raise click.UsageError(str(error)) from error


@homie.command()
@click.argument("path", type=BAG)
@click.option("--out", type=BAG, help="Of a bag: folder for report and videos.  [default: the bag's parent]")
@click.option("--pages", type=PAGES, default="all", show_default=True, help="Of a run: episodes that get a page.")
def report(path: Path, out: Path | None, pages: str) -> None:
    """Make the report and the videos of a bag again, or the report of a run and of its episodes."""
    from rich.console import Console

    from homie_bringup.report_command import run_report
    from homie_bringup.settings import SettingsError
    from homie_eval.episode_pages import Pages

    try:
        run_report(path, out, Pages(pages), Console())
    except SettingsError as error:
        raise click.UsageError(str(error)) from error


@homie.command()
@click.option("--out", type=BAG, default=Path("doctor"), show_default=True, help="Folder for the contact sheets.")
def doctor(out: Path) -> None:
    """Check this machine, draw every house and object, and list what each house holds."""
    from rich.console import Console

    from homie_bringup.doctor import DoctorError, run_doctor

    try:
        code = run_doctor(out, Console())
    except DoctorError as error:
        raise click.UsageError(str(error)) from error
    raise click.exceptions.Exit(code)


@homie.command()
@click.argument("tasks", nargs=-1)
@click.option("--check", is_flag=True, help="See whether each fits its house and can be done.")
def tasks(tasks: tuple[str, ...], check: bool) -> None:
    """List tasks: numbers, names or YAML files; without any the whole suite."""
    from homie_bringup.task_check import check_task
    from homie_eval.emmoe.tasks import TaskError, load_task, shipped_tasks

    for reference in tasks or shipped_tasks():
        try:
            task = load_task(reference)
            if check:
                check_task(task)
        except TaskError as error:
            raise click.UsageError(str(error)) from error
        part, kinds = task.split or "", ", ".join(task.attributes)
        click.echo(f"{task.id:<44}{task.scene:<9}{part:<6}{task.expert_length:>3} steps  {kinds}")


def main() -> None:
    """Run the command; whatever is wrong with the input is one line on stderr and exit code 2."""
    set_transport_defaults()
    try:
        code = homie(prog_name="homie", standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"homie: {error.format_message()}", err=True)
        sys.exit(EXIT_BAD_INPUT)
    except click.Abort:
        sys.exit(EXIT_INTERRUPTED)
    sys.exit(code or 0)


if __name__ == "__main__":
    main()
