"""A way across the floor: A* on the occupancy grid for a round base, then straightened."""

from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import NDArray

from homie_core import fetch
from homie_sim.occupancy import Cell, OccupancyGrid

COMFORT = 0.45
"""Clearance from which a way costs nothing extra: the folded arm passes there too."""

_CROWDING_COST = 6.0
_ESCAPE_RADIUS = 0.40
_MOVES = tuple((dr, dc, math.hypot(dr, dc)) for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0))

Point = tuple[float, float]


def plan_path(grid: OccupancyGrid, start: Point, goal: Point, radius: float = fetch.BASE_RADIUS) -> list[Point] | None:
    """Corner points of a way from ``start`` to ``goal``, both included, for a base of ``radius``; None: no way.

    Keeps ``COMFORT`` from obstacles where it can. A start that is too close to something may be left outwards.
    """
    first, last = grid.cell(*start), grid.cell(*goal)
    if first is None or last is None:
        return None
    passable = _passable(grid, first, radius)
    if not passable[last]:
        return None
    cells = _search(grid, passable, first, last)
    if cells is None:
        return None
    points = [start, *(grid.point(cell) for cell in cells[1:-1]), goal]
    return _straighten(grid, points, radius)


def _passable(grid: OccupancyGrid, first: Cell, radius: float) -> NDArray[np.bool_]:
    """Cells with room for the base; round a crowded start also those that are no worse than the start."""
    passable = grid.clearance >= radius
    if not passable[first]:
        rows, columns = np.indices(grid.data.shape)
        near = np.hypot(rows - first[0], columns - first[1]) * grid.resolution <= _ESCAPE_RADIUS
        passable |= near & (grid.clearance >= grid.clearance[first])
    return passable


def _search(grid: OccupancyGrid, passable: NDArray[np.bool_], first: Cell, last: Cell) -> list[Cell] | None:
    """A*; ties are broken by the cells' order, so the result is the same every time."""
    crowding = np.clip((COMFORT - grid.clearance) / COMFORT, 0, 1)
    price = (1 + _CROWDING_COST * crowding).tolist()
    open_cells = passable.tolist()
    rows, columns = grid.data.shape
    cost = {first: 0.0}
    came_from: dict[Cell, Cell] = {}
    queue = [(math.dist(first, last), first)]
    done: set[Cell] = set()
    while queue:
        _, cell = heapq.heappop(queue)
        if cell == last:
            return _trace(came_from, cell)
        if cell in done:
            continue
        done.add(cell)
        for dr, dc, length in _MOVES:
            row, column = cell[0] + dr, cell[1] + dc
            if not (0 <= row < rows and 0 <= column < columns and open_cells[row][column]):
                continue
            new_cost = cost[cell] + length * price[row][column]
            if new_cost < cost.get((row, column), math.inf):
                cost[row, column] = new_cost
                came_from[row, column] = cell
                heapq.heappush(queue, (new_cost + math.dist((row, column), last), (row, column)))
    return None


def _trace(came_from: dict[Cell, Cell], cell: Cell) -> list[Cell]:
    cells = [cell]
    while cell in came_from:
        cell = came_from[cell]
        cells.append(cell)
    return cells[::-1]


def _straighten(grid: OccupancyGrid, points: list[Point], radius: float) -> list[Point]:
    """Leave out corners where the straight line is as roomy as the way round, or comfortable anyway."""
    room = [grid.clearance_at(*point) for point in points]
    kept = [points[0]]
    index = 0
    while index < len(points) - 1:
        index = _farthest(grid, points, room, index, radius)
        kept.append(points[index])
    return kept


def _farthest(grid: OccupancyGrid, points: list[Point], room: list[float], index: int, radius: float) -> int:
    for candidate in range(len(points) - 1, index + 1, -1):
        wanted = min(COMFORT, *room[index : candidate + 1]) if candidate - index > 1 else radius
        if _line_clearance(grid, points[index], points[candidate]) >= wanted - grid.resolution / 2:
            return candidate
    return index + 1


def _line_clearance(grid: OccupancyGrid, start: Point, end: Point) -> float:
    count = max(2, math.ceil(math.dist(start, end) / (0.5 * grid.resolution)))
    steps = np.linspace(0, 1, count)
    return min(
        grid.clearance_at(start[0] + step * (end[0] - start[0]), start[1] + step * (end[1] - start[1]))
        for step in steps.tolist()
    )
