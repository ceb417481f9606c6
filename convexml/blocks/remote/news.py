"""What tasks tell while they run: what they warn of, and how many of their blocks are done."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary, ref

from distributed import Client, Future

from ...progress import Passing, begun


@dataclass
class News:
    """What was told by the tasks of a client.

    Attributes
    ----------
    topic : str
        Where they tell it, before their results, which the client waits for.
    warnings : deque
        Until they are said.
    done : dict
        Blocks that are done, by the key of the task.
    """

    topic: str
    warnings: deque[tuple[str, type[Warning]]] = field(default_factory=deque)
    done: dict[str, int] = field(default_factory=dict)

    def take(self, event: tuple[float, bytes]) -> None:
        """Hear an event: warnings, or a task and the number of its blocks."""
        warnings, done = pickle.loads(event[1])
        self.warnings.extend(warnings)
        self.done.update(done)


_news: WeakKeyDictionary[Client, News] = WeakKeyDictionary()


def news_of(client: Client) -> News:
    """What the tasks of a client tell."""
    if client not in _news:
        _news[client] = News(f"convexml-{client.id}")
        client.subscribe_topic(_news[client].topic, _news[client].take)
    return _news[client]


class Sent:
    """The tasks of one pass that were sent, and the blocks of each; nothing of it is held."""

    def __init__(self, told: Passing, tasks: Sequence[Future], counts: Sequence[int]) -> None:
        self.told, self.counts = told, counts
        self.tasks = [(ref(task), str(task.key)) for task in tasks]

    def count(self, done: Mapping[str, int]) -> int:
        """The blocks that are done; all of those that nobody asks for any more."""
        count = 0
        for (there, key), whole in zip(self.tasks, self.counts, strict=True):
            task = there()
            count += whole if task is None or task.done() else min(done.get(key, 0), whole)
        return count


class UnderWay:
    """Passes whose tasks were sent, told in their order while results are waited for."""

    def __init__(self, client: Client) -> None:
        self.news = news_of(client)
        self.passes: list[Sent] = []

    def begin(self, tasks: Sequence[Future], counts: Sequence[int]) -> None:
        """A pass was sent: tasks, and the number of blocks of each."""
        told = begun(sum(counts))
        if told is not None:
            self.passes.append(Sent(told, tasks, counts))

    def tell(self) -> None:
        """Tell of the first pass that is not at its end."""
        while self.passes:
            first = self.passes[0]
            count = first.count(self.news.done)
            if count < first.told.total:
                first.told.at(count)
                return
            self._end(self.passes.pop(0))

    def end(self) -> None:
        """What was waited for is there."""
        while self.passes and self.passes[0].count({}) == self.passes[0].told.total:
            self._end(self.passes.pop(0))

    def _end(self, each: Sent) -> None:
        each.told.end()
        for _, key in each.tasks:
            self.news.done.pop(key, None)
