"""What the test deploys: its ports and settings, and what a client sees of it."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import yaml
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from pydantic import SecretStr

from sandcrawler.config import Config
from sandcrawler.demo.server import Access, Web
from sandcrawler.kafka import unread
from sandcrawler.names import Topic
from sandcrawler.stack.ports import choose
from sandcrawler.workers import WORKERS as WIRING
from tests.ansible.controller import Controller, Run
from tests.ansible.machine import Machine

PORTS = (
    *("kafka_port", "kafka_controller_port", "postgresql_port"),
    *("seaweedfs_s3_port", "seaweedfs_s3_grpc_port", "seaweedfs_master_port", "seaweedfs_master_grpc_port"),
    *("seaweedfs_filer_port", "seaweedfs_filer_grpc_port", "seaweedfs_volume_port", "seaweedfs_volume_grpc_port"),
)
WORKERS = {
    "ingest": {"ingest": 2},
    "persist": {"persist-results": 2, "persist-html-teixml": 1, "persist-xml-doc": 1, "persist-pdf-text": 1},
}
# instance → worker
INSTANCES = {
    worker if number == 1 else f"{worker}-{number}": worker
    for workers in WORKERS.values()
    for worker, count in workers.items()
    for number in range(1, count + 1)
}
# systemd's names for two of its messages.
STOPPING, STARTED = "de5b426a63be47a7b6ac3eaac82e2f6f", "39f53479d3a045ac8e11786248231fbf"


@dataclass
class Deployment:
    """A machine, who deploys to it, the web that its workers see, and the runs of the playbook by what they were."""

    machine: Machine
    controller: Controller
    web: Web
    log: list[Access]
    settings: Mapping[str, Any]
    runs: dict[str, Run] = field(default_factory=dict)

    def config(self) -> Config:
        """A client's settings, with the secrets of the operator's vault."""
        vault = self.controller.run("../.venv/bin/ansible-vault view inventories/mine/group_vars/all/vault.yml")
        secrets = yaml.safe_load(vault.output)
        database = f"127.0.0.1:{self.settings['postgresql_port']}/sandcrawler"
        return Config(
            env="prod",
            kafka_brokers=f"127.0.0.1:{self.settings['kafka_port']}",
            postgres_url=f"postgresql://sandcrawler:{quote(secrets['vault_postgresql_password'], safe='')}@{database}",
            s3_url=f"http://127.0.0.1:{self.settings['seaweedfs_s3_port']}",
            s3_access_key=secrets["vault_s3_access_key"],
            s3_secret_key=SecretStr(secrets["vault_s3_secret_key"]),
        )

    def unit(self, instance: str) -> dict[str, str]:
        """systemd's properties of an instance."""
        shown = self.machine.run("systemctl", "show", f"sandcrawler@{instance}.service").stdout
        return {name: value for name, _, value in (line.partition("=") for line in shown.splitlines())}

    def away(self, since: float) -> list[tuple[float, float, str]]:
        """When each instance was away after this time (Unix seconds): from, to, instance; in order."""
        lines = self.machine.journal("--output=json", f"--since=@{since:.0f}", "_PID=1").splitlines()
        gone: dict[str, float] = {}
        times = []
        for entry in map(json.loads, lines):
            name = entry.get("UNIT", "").removeprefix("sandcrawler@").removesuffix(".service")
            moment = int(entry["__REALTIME_TIMESTAMP"]) / 1e6
            if name in INSTANCES and entry.get("MESSAGE_ID") == STOPPING:
                gone[name] = moment
            elif name in gone and entry.get("MESSAGE_ID") == STARTED:
                times.append((gone.pop(name), moment, name))
        assert not gone, f"stopped and not started again: {gone}"
        return sorted(times)


def variables(web: Web) -> dict[str, Any]:
    """What the test's inventory says beside the README's: free ports, two instances, and the way to the test's web."""
    ports: list[Any] = choose(len(PORTS), set())
    return {
        **dict(zip(PORTS, ports, strict=True)),
        "sandcrawler_workers": WORKERS,
        "sandcrawler_metrics_port": 0,
        "sandcrawler_settings": {
            "fetch_connect_to": web.connect_to,
            "fetch_allow_addresses": "127.0.0.0/8",
            "fetch_host_gap": 0,
            "fetch_host_parallel": 8,
            "extract_processes": 1,
        },
        # Servers and seven workers share a test's machine.
        "kafka_heap": "512m",
        "postgresql_memory": 1024,
        "seaweedfs_free_space": "1GiB",
    }


def lag(config: Config, worker: str) -> int:
    """How many partitions a worker's group has not read to their end yet.

    Not by `list_consumer_group_offsets`: it ends the process where the group's coordinator has moved or is not there
    yet (librdkafka's issue 5040).
    """
    return sum(len(unread(config, worker, topic.named(config.env))) for topic in WIRING[worker].reads)


def results(config: Config) -> Counter[str]:
    """How many results the topic holds of each URL, repeats too (until it is compacted)."""
    topic = Topic.RESULTS.named(config.env)
    consumer = Consumer(
        {"bootstrap.servers": config.kafka_brokers or "", "group.id": "results", "enable.auto.commit": False}
    )
    counts: Counter[str] = Counter()
    try:
        ends = {
            number: consumer.get_watermark_offsets(TopicPartition(topic, number))[1]
            for number in consumer.list_topics(topic, timeout=60).topics[topic].partitions
        }
        left = {number: end for number, end in ends.items() if end}
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in left])
        while left:
            message = consumer.poll(60)
            assert message is not None, f"no message for 60 s; left: {left}"
            assert not message.error(), message.error()
            counts[(message.key() or b"").decode().partition(":")[2]] += 1
            number = message.partition()
            if number is not None and (message.offset() or 0) + 1 >= left.get(number, 0):
                left.pop(number, None)
    finally:
        consumer.close()
    return counts
