"""Prints what this network namespace sends. Needs root.

`dial ADDRESS:PORT` for each new TCP connection and each datagram, `name NAME` for each name that is looked up.
"""

import socket
import struct
import sys
from collections.abc import Iterator

_ETH_P_ALL, _OUTGOING = 0x0003, 4


def main() -> None:
    """Read packets for ever."""
    seen = set()
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL)) as wire:
        while True:
            packet, (_, protocol, kind, *_) = wire.recvfrom(65_535)
            if kind == _OUTGOING:
                for line in _lines(packet, protocol):
                    if line not in seen:
                        seen.add(line)
                        sys.stdout.write(line + "\n")


def _lines(packet: bytes, protocol: int) -> Iterator[str]:
    if protocol == 0x86DD:
        if packet[6] in {6, 17}:
            yield f"dial [{socket.inet_ntop(socket.AF_INET6, packet[24:40])}]"
        return
    if protocol != 0x0800:
        return
    body = packet[(packet[0] & 15) * 4 :]
    target = f"{socket.inet_ntoa(packet[16:20])}:{struct.unpack('!H', body[2:4])[0]}"
    if packet[9] == 6 and body[13] & 0b010010 == 0b000010:  # SYN without ACK
        yield f"dial {target}"
    if packet[9] == 17:
        yield f"dial {target}"
        yield from _name(body[8:])


def _name(query: bytes) -> Iterator[str]:
    # A question to the engine's name server, whatever port it was moved to.
    if len(query) < 17 or query[2] & 0x80 or query[4:6] != b"\0\1":
        return
    labels, at = [], 12
    while at < len(query) and query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii", "replace"))
        at += 1 + query[at]
    yield f"name {'.'.join(labels)}"


main()
