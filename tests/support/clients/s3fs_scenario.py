"""s3fs against an S3 endpoint, as a program of its own: its botocore is an older one than ours.

Run as `python s3fs_scenario.py BUCKET`, with ENDPOINT and the key pair in the environment. It
prints what it found as JSON.
"""

import json
import os
import sys
from typing import Any

import pandas as pd
import s3fs


def _scenario(bucket: str) -> dict[str, Any]:
    options = {"endpoint_url": os.environ["ENDPOINT"]}
    system = s3fs.S3FileSystem(**options, use_listings_cache=False)
    root = f"{bucket}/main/s3fs"
    found: dict[str, Any] = {}
    content = os.urandom(1024**2) * 12
    with system.open(f"{root}/large", "wb", block_size=5 * 1024**2) as file:
        file.write(content)
    found["large"] = system.cat(f"{root}/large") == content
    with system.open(f"{root}/large", "rb") as file:
        file.seek(-10, 2)
        found["tail"] = file.read() == content[-10:]
    found["exclusive"] = [_create(system, f"{root}/once", text) for text in (b"1", b"2")]
    found["once"] = system.cat(f"{root}/once").decode()
    system.copy(f"{root}/large", f"{root}/copy")
    system.mv(f"{root}/copy", f"{root}/moved")
    system.touch(f"{root}/a b/ä")
    system.pipe({f"{root}/many/{number}": b"x" for number in range(12)})
    found["found"] = sorted(name.removeprefix(root) for name in system.find(root))[:5]
    found["globbed"] = len(system.glob(f"{root}/many/*"))
    found["branches"] = system.ls(bucket)
    system.setxattr(f"{root}/once", color="red")
    found["metadata"] = system.getxattr(f"{root}/once", "color")
    frame = pd.DataFrame({"n": range(1000)})
    frame.to_parquet(f"s3://{root}/pandas.parquet", storage_options={"client_kwargs": options})
    read = pd.read_parquet(
        f"s3://{root}/pandas.parquet", storage_options={"client_kwargs": options}
    )
    found["pandas"] = int(read["n"].sum())
    system.rm(root, recursive=True)
    found["left"] = system.find(f"{bucket}/main")
    return found


def _create(system: s3fs.S3FileSystem, path: str, content: bytes) -> bool:
    """Return whether the file was created; False if it exists."""
    try:
        with system.open(path, "xb") as file:
            file.write(content)
    except FileExistsError:
        return False
    return True


if __name__ == "__main__":
    print(json.dumps(_scenario(sys.argv[1])))  # noqa: T201 - for the test
