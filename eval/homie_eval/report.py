"""The report of a run: one HTML file that needs nothing else, with every step's views, way, words and outcome.

Everything that a model wrote is text in it, never markup; the page runs no script and loads nothing from elsewhere. The
videos lie beside it and are linked by name.
"""

from __future__ import annotations

import base64
import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from homie_core.episode import Step
from homie_core.errors import ErrorCode
from homie_eval.bag import EPISODE_INFO, Bag, BagError, Record
from homie_eval.emmoe.metrics import METRICS, EpisodeScore
from homie_eval.floor import Floor, FloorMap, Way, read_floors
from homie_eval.images import ImageError, from_compressed, to_jpeg
from homie_eval.observations import episode_views
from homie_eval.page import pretty_json, render_page, write_page
from homie_eval.score import ScoredEpisode, format_errors, format_outcome, format_value, score_bag
from homie_eval.spending import format_cost, format_seconds, format_tokens, spending, spending_rows
from homie_eval.video import THIRD_PERSON, VIDEOS

REPORT = "report.html"
TOP_DOWN = "top_down/image_raw/compressed"

_SCENE_TITLES = {TOP_DOWN: "From above", THIRD_PERSON: "Third person"}

_VIDEO_TITLES = {"head.mp4": "Head camera", "third_person.mp4": "Third person"}
_METRIC_TITLES = {
    "SR": "Success",
    "PLWSR": "Path-length weighted success",
    "TP": "Task progress",
    "SRR": "Success re-plan rate",
    "SER": "Success end rate",
    "GC": "Goal conditions",
}
_ERROR_TITLES = {
    ErrorCode.HAND_FULL: "hand full",
    ErrorCode.HAND_EMPTY: "hand empty",
    ErrorCode.CONTAINER_CLOSED: "container closed",
    ErrorCode.NOT_INTERACTIVE: "not interactive",
    ErrorCode.TOO_FAR: "too far",
    ErrorCode.TOO_CLOSE: "too close",
    ErrorCode.NOT_IN_LIST: "not in the list",
    ErrorCode.UNKNOWN_TARGET: "unknown target",
    ErrorCode.TOO_DIFFICULT: "execution failed",
    ErrorCode.OBJECT_MISSING: "object lost",
}

Views = Mapping[str, bytes]
"""The views before one step: JPEG files by name (front, left, back, right)."""


@dataclass(frozen=True, slots=True)
class ReportEpisode:
    """One episode of a report. ``views`` are by step, counted from 1; steps without views have no entry.

    ``scene``: JPEG files of the whole world by title, at the start and the end.
    """

    scored: ScoredEpisode
    views: Mapping[int, Views] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    floor: Floor = field(default_factory=Floor)
    scene: Views = field(default_factory=dict)


def write_report(path: str | Path, folder: Path, run_report: str = "") -> Path:
    """Write the report of a bag into ``folder``, which must exist, and return its path.

    Videos that lie in ``folder`` already (see :func:`homie_eval.video.write_videos`) are shown in it. ``run_report`` is
    the address, relative to ``folder``, of the report of the run that the episode is part of.

    Raises:
        BagError: there is no bag, or it holds no episode that can be scored.
        OSError: the file cannot be written.
    """
    scores = score_bag(path)
    if not scores.episodes:
        raise BagError(f"{path} holds no episode that can be scored: {'; '.join(scores.problems)}")
    with Bag(path) as bag:
        views, floors, scenes = _views(bag), read_floors(bag), _scenes(bag)
    episodes = []
    for scored in scores.episodes:
        id = scored.trajectory.info.episode_id
        episodes.append(_episode(scored, views.get(id, []), floors.get(id, Floor()), scenes.get(id, {})))
    report = folder / REPORT
    videos = [name for name in VIDEOS if (folder / name).is_file()]
    write_page(report, render(episodes, videos, scores.problems, run_report))
    return report


def render(
    episodes: Sequence[ReportEpisode],
    videos: Sequence[str] = (),
    problems: Sequence[str] = (),
    run_report: str = "",
) -> str:
    """The page itself. ``videos`` are names of files beside it, ``run_report`` is where the whole run's report is."""
    return render_page(
        "report.html.j2",
        ["report.css"],
        title=episodes[0].scored.trajectory.info.instruction if len(episodes) == 1 else f"{len(episodes)} episodes",
        episodes=[_page_episode(episode) for episode in episodes],
        videos=[{"name": name, "title": _VIDEO_TITLES[name]} for name in videos],
        problems=list(problems),
        run_report=run_report,
    )


def _views(bag: Bag) -> dict[str, list[Views]]:
    """The views of each episode in the order of decisions."""
    found: dict[str, list[Views]] = {}
    for episode_id, views in episode_views(bag):
        found.setdefault(episode_id, []).append({name: to_jpeg(picture) for name, picture in views.items()})
    return found


def _scenes(bag: Bag) -> dict[str, Views]:
    """Pictures of the whole world at the start and the end of each episode, by its id and then by title."""
    return {
        id: {
            f"{_SCENE_TITLES[topic]}, {when}": picture
            for topic, records in ends.items()
            for when, picture in _start_and_end(records)
        }
        for id, ends in _first_and_last(bag).items()
    }


def _first_and_last(bag: Bag) -> dict[str, dict[str, list[Record]]]:
    """The first and the last picture after each episode's announcement and before the next reset, by topic."""
    found: dict[str, dict[str, list[Record]]] = {}
    current: dict[str, dict[str, list[Record]]] = {}
    for record in bag.records(EPISODE_INFO, *_SCENE_TITLES):
        suffix = next(suffix for suffix in (EPISODE_INFO, *_SCENE_TITLES) if record.topic.ends_with(suffix))
        namespace = record.topic.namespace(suffix)
        with contextlib.suppress(BagError):  # then the episode is not in the report, or the picture is cut off
            if suffix == EPISODE_INFO:
                current[namespace] = found.setdefault(
                    record.decode().episode_id, {topic: [] for topic in _SCENE_TITLES}
                )
                continue
            ends = current.get(namespace, {}).get(suffix)
            if ends is not None and (not ends or record.header_stamp() >= ends[-1].header_stamp()):
                ends[1:] = [record]
    return found


def _start_and_end(records: Sequence[Record]) -> Iterator[tuple[str, bytes]]:
    """The pictures of a first and a last record that can be read."""
    for when, record in zip(("start", "end"), records, strict=False):
        with contextlib.suppress(BagError, ImageError):
            yield when, to_jpeg(from_compressed(record.decode()))


def _episode(scored: ScoredEpisode, views: Sequence[Views], floor: Floor, scene: Views) -> ReportEpisode:
    steps = scored.trajectory.steps
    problems = []
    if views and len(views) not in (len(steps), len(steps) + 1):
        problems.append(f"{len(views)} observations for {len(steps)} steps: views may belong to another step")
    return ReportEpisode(scored, dict(enumerate(views, start=1)), tuple(problems), floor, scene)


def _page_episode(episode: ReportEpisode) -> dict[str, object]:
    """What the template shows of one episode; every value is plain data."""
    trajectory, score = episode.scored.trajectory, episode.scored.score
    info, result = trajectory.info, trajectory.result
    return {
        "info": info,
        "task": episode.scored.task.id,
        "success": score.success,
        "judged": score.judged,
        "outcome": format_outcome(score),
        "cause": result.cause if result else "",
        "facts": _facts(episode.scored),
        "metrics": _metrics(score),
        "nodes": _nodes(score),
        "goal": [] if score.goal is None else score.goal.verdicts,
        "notes": (*score.problems, *episode.problems),
        "agrees": episode.scored.agrees,
        "map": _page_map(episode.floor),
        "way": _page_way(episode.floor.map, episode.floor.way()),
        "scene": [(title, _data_url(picture)) for title, picture in episode.scene.items()],
        "steps": [
            _page_step(step, episode.views.get(step.index, {}), score) | {"way": way}
            for step, way in zip(trajectory.steps, _page_ways(episode.floor, trajectory.steps), strict=True)
        ],
        "configuration": pretty_json(info.configuration_json),
        "task_json": pretty_json(info.task_json),
        "versions": sorted(info.versions.items()),
    }


def _facts(scored: ScoredEpisode) -> list[tuple[str, str]]:
    info, result = scored.trajectory.info, scored.trajectory.result
    facts = [
        ("Planner", info.planner),
        ("Setting", info.setting.replace("_", " ")),
        ("Scene", info.scene),
        ("Seed, trial", f"{info.seed}, {info.trial}"),
        ("Steps", f"{scored.score.steps} of at most {info.max_steps}, expert {scored.task.expert_length}"),
        ("Errors", format_errors(scored.score.errors)),
    ]
    if result is not None:
        facts.append(
            ("Time", f"{format_seconds(result.wall_seconds)} wall, {format_seconds(result.sim_seconds)} simulated")
        )
    facts += [(name.capitalize(), text) for name, text in spending_rows(spending(scored.trajectory.steps))]
    return facts


def _metrics(score: EpisodeScore) -> list[dict[str, object]]:
    values = score.values
    return [
        {
            "name": name,
            "title": _METRIC_TITLES[name],
            "text": format_value(values[name]) if values[name].defined else "n/a",
            "share": values[name].number if values[name].defined else None,
            "reason": values[name].reason,
        }
        for name in METRICS
    ]


def _nodes(score: EpisodeScore) -> list[dict[str, object]]:
    """The nodes of the best key path, each with the step that matched it, if one did."""
    progress = score.progress
    matched = [*progress.steps, *([None] * (len(progress.path) - len(progress.steps)))]
    return [{"text": node.brackets(), "step": step} for node, step in zip(progress.path, matched, strict=True)]


def _page_step(step: Step, views: Views, score: EpisodeScore) -> dict[str, object]:
    matched = score.progress.steps
    code = step.error_code
    return {
        "index": step.index,
        "subtask": step.subtask,
        "handled": [id for id in (step.target_id, step.destination_id) if id],
        "note": step.note,
        "success": step.success,
        "code": "" if code is None else code.value,
        "code_title": "" if code is None else _ERROR_TITLES[code],
        "node": matched.index(step.index) + 1 if step.index in matched else None,
        "analysis": step.analysis,
        "feedback": step.feedback,
        "before": step.inventory_before,
        "after": step.inventory_after,
        "attempts": step.attempts,
        "planner_time": format_seconds(step.planner_wall_seconds),
        "execution_time": format_seconds(step.execution_wall_seconds),
        "sim_time": format_seconds(step.sim_seconds),
        "spent": _spent(step),
        "prompt": step.prompt,
        "raw_output": step.raw_output,
        "views": [(name, _data_url(data)) for name, data in views.items()],
    }


def _spent(step: Step) -> list[str]:
    """What planning one step took, in words; an unknown cost is told once, with the episode's facts."""
    spent = spending([step])
    if spent is None:
        return []
    words = [f"tokens {format_tokens(spent)}"]
    if spent.requests:
        words.append(f"{spent.requests} {'request' if spent.requests == 1 else 'requests'}")
    if spent.cost_usd is not None:
        words.append(format_cost(spent))
    return words


def _page_map(floor: Floor) -> dict[str, object] | None:
    """What all drawings of one episode's floor share."""
    if floor.map is None:
        return None
    return {"view_box": floor.map.view_box, "obstacles": floor.map.obstacles(), "radius": floor.map.robot_radius}


def _page_ways(floor: Floor, steps: Sequence[Step]) -> list[dict[str, object] | None]:
    """The way of each step; a step begins where the one before ended."""
    begins = [0, *(step.stamp for step in steps)]
    return [_page_way(floor.map, floor.way(begin, step.stamp)) for begin, step in zip(begins, steps, strict=False)]


def _page_way(floor: FloorMap | None, way: Way | None) -> dict[str, object] | None:
    """SVG paths of one drawing, where the base was at its start and its end, and a sentence for it."""
    if floor is None or way is None:
        return None
    pieces = [(floor.line((pose.x, pose.y) for pose in poses), leap) for poses, leap in way.stretches()]
    return {
        "driven": "".join(line for line, leap in pieces if not leap),
        "leaps": "".join(line for line, leap in pieces if leap),
        "planned": "".join(floor.line(plan.corners) for plan in way.plans),
        "start": floor.place(way.poses[0].x, way.poses[0].y) if way.moved else None,
        "end": floor.place(way.poses[-1].x, way.poses[-1].y),
        "turn": -math.degrees(way.poses[-1].yaw),
        "text": _way_text(way),
    }


def _way_text(way: Way) -> str:
    if not way.moved:
        return "the base stood still"
    if any(leap for _, leap in way.stretches()):
        return "the base was put elsewhere (dotted)"
    return f"{way.length:.1f} m driven"


def _data_url(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
