"""Measure what listing a bucket of very many photos costs; prints a table.

    python scripts/bench_bucket.py --photos 500000 5000000

A server on this machine renders the pages of a bucket as S3's ListObjectsV2 has them, 1,000 keys
each, all below one flat prefix; s3fs lists it (`pip install s3fs`). Then the list that was kept is
read again. Each step has a process of its own.

- Seconds: of the step; and of them the processor's, which are botocore's reading of XML mostly.
- Peak: the most memory of the process (VmHWM) above what it held before the step began, MB.

Linux only, whose /proc it reads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from bench_names import memory

_PAGE = 1000
_KEY = (
    "<Contents><Key>photos/photo_{:08}.jpg</Key><LastModified>2026-01-01T00:00:00.000Z"
    "</LastModified><ETag>&quot;{:032x}&quot;</ETag><Size>100000</Size><StorageClass>STANDARD"
    "</StorageClass></Contents>"
)


def main() -> None:
    """List buckets of all sizes that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--photos", type=int, nargs="+", default=[500_000])
    parser.add_argument("--keep", type=Path, help=argparse.SUPPRESS)  # in a process of its own
    given = parser.parse_args()
    if given.keep:
        print(json.dumps(listed(given.keep)))
        return
    print("| step | photos | s | CPU s | peak, MB |\n|---|---:|---:|---:|---:|")
    for count in given.photos:
        server = ThreadingHTTPServer(("127.0.0.1", 0), bucket_of(count))
        Thread(target=server.serve_forever, daemon=True).start()
        with TemporaryDirectory(prefix="partdino-bucket-") as folder:
            for step in ("list", "read the list that was kept"):
                environment = {
                    **os.environ,
                    "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
                    "AWS_ACCESS_KEY_ID": "none",
                    "AWS_SECRET_ACCESS_KEY": "none",
                }
                command = [sys.executable, __file__, "--keep", folder]
                run = subprocess.run(
                    command, stdout=subprocess.PIPE, text=True, check=True, env=environment
                )
                found = json.loads(run.stdout.splitlines()[-1])
                assert found.pop("images") == count
                numbers = " | ".join(f"{value:.0f}" for value in found.values())
                print(f"| {step} | {count} | {numbers} |", flush=True)
        server.shutdown()


def listed(keep: Path) -> dict[str, float]:
    """List the bucket, or read its list; return how many there are, seconds and memory."""
    import s3fs

    from partdino.images.find import search_images

    s3fs.S3FileSystem().exists("bucket/photos/photo_00000000.jpg")  # botocore's own start
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before, start, busy = memory("VmRSS"), time.perf_counter(), time.process_time()
    images, _ = search_images(["s3://bucket/photos"], keep=keep)
    return {
        "images": len(images),
        "seconds": time.perf_counter() - start,
        "busy": time.process_time() - busy,
        "peak": memory("VmHWM") - before,
    }


def bucket_of(count: int) -> type[BaseHTTPRequestHandler]:
    """Return what answers for a bucket of so many keys."""

    class Bucket(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()

        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            start = int(asked.get("continuation-token", ["0"])[0])
            stop = min(start + _PAGE, count)
            keys = "".join(_KEY.format(number, number) for number in range(start, stop))
            more = f"<NextContinuationToken>{stop}</NextContinuationToken>" if stop < count else ""
            truncated = "true" if more else "false"
            body = (
                '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>bucket</Name>'
                f"<IsTruncated>{truncated}</IsTruncated>{more}{keys}</ListBucketResult>"
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Bucket


if __name__ == "__main__":
    main()
