"""A consumer group: who owns which partition, who should, and the committed offsets."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from sandcrawler.memory.log import Log
from sandcrawler.runtime.records import Partition


class Member:
    """What a group knows of a member: the partitions that it may get, where it reads on, and what was taken from it."""

    def __init__(self, wanted: AbstractSet[Partition]) -> None:
        self.wanted = wanted
        self.positions: dict[Partition, int] = {}
        self.lost: set[Partition] = set()


class Group:
    """A consumer group: who owns which partition, who should, and the committed offsets."""

    def __init__(self, log: Log) -> None:
        self.committed: dict[Partition, int] = {}
        self.owners: dict[Partition, Member] = {}
        self.members: list[Member] = []
        self._targets: dict[Partition, Member] = {}
        self._log = log

    def rebalance(self) -> None:
        """Decides who should own what: fair shares, the same partition of all topics together, and few that move."""
        self._targets = {}
        wanted = {part: [m for m in self.members if part in m.wanted] for m in self.members for part in m.wanted}
        share: dict[Member, int] = defaultdict(int)
        fair = -(-len(wanted) // max(1, len(self.members)))
        for number in sorted({number for _, number in wanted}):
            together = sorted(part for part in wanted if part[1] == number)
            for members, parts in _by_members(together, wanted):
                owner = self.owners.get(parts[0])
                if owner in members and share[owner] + len(parts) <= max(fair, len(parts)):
                    chosen = owner
                else:
                    chosen = min(members, key=lambda member: (share[member], self.members.index(member)))
                share[chosen] += len(parts)
                self._targets |= dict.fromkeys(parts, chosen)
        self._log.change.notify_all()

    def due(self, member: Member) -> set[Partition]:
        """What the member holds and should give up."""
        return {p for p, owner in self.owners.items() if owner is member and self._targets.get(p) is not member}

    def claim(self, member: Member) -> None:
        """Gives the member what it should own and nobody holds."""
        for part, target in self._targets.items():
            if target is member and part not in self.owners:
                self.owners[part] = member
                member.positions[part] = self.committed.get(part, 0)

    def release(self, member: Member, partitions: AbstractSet[Partition]) -> None:
        """The member holds these no more."""
        for part in partitions:
            if self.owners.get(part) is member:
                del self.owners[part]
            member.positions.pop(part, None)
        self._log.change.notify_all()

    def redirect(self, member: Member, partitions: AbstractSet[Partition]) -> None:
        """From now on these should be owned by another member than this."""
        other = next((other for other in self.members if other is not member), None)
        for part in partitions:
            if self._targets.pop(part, None) and other is not None:
                self._targets[part] = other
        self._log.change.notify_all()

    def seize(self, member: Member, partitions: AbstractSet[Partition]) -> None:
        """Takes partitions from the member, which learns of it at its next poll."""
        taken = {part for part in partitions if self.owners.get(part) is member}
        self.redirect(member, taken)
        self.release(member, taken)
        member.lost |= taken

    def join(self, member: Member) -> None:
        """A new member, which gets its share as the others let go."""
        self.members.append(member)
        self.rebalance()

    def leave(self, member: Member) -> None:
        """The member is gone; the others share what it had."""
        if member in self.members:
            self.members.remove(member)
        self.release(member, set(member.positions))
        self.rebalance()


def _by_members(
    parts: Sequence[Partition], wanted: Mapping[Partition, list[Member]]
) -> list[tuple[list[Member], list[Partition]]]:
    """The partitions that the same members want."""
    groups: list[tuple[list[Member], list[Partition]]] = []
    for part in parts:
        known = next((group for group in groups if group[0] == wanted[part]), None)
        if known is None:
            groups.append((wanted[part], [part]))
        else:
            known[1].append(part)
    return groups
