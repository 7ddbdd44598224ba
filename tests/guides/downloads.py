"""What programs of the pages download at first use, from packages and jars that the tests have."""

from importlib.metadata import files
from pathlib import Path

import duckdb

from tests.support.clients.spark_s3a import fetched

_IVY = """\
<ivysettings>
  <settings defaultResolver="jars"/>
  <caches useOrigin="true"/>
  <resolvers>
    <filesystem name="jars"><artifact pattern="{jars}/[artifact]-[revision].jar"/></filesystem>
  </resolvers>
</ivysettings>
"""


def place_downloads(text: str, folder: Path) -> dict[str, str]:
    """Place what a page needs into its folder; return variables that name it."""
    if "duckdb" in text:
        _place_extensions(folder / "home")
    if "spark.jars.packages" not in text:
        return {}
    return _spark_settings(folder, "iceberg" if "iceberg-spark-runtime" in text else "s3a")


def _place_extensions(home: Path) -> None:
    version, platform = duckdb.sql(
        "SELECT version(), (SELECT platform FROM pragma_platform())"
    ).fetchone() or ("", "")
    place = home / ".duckdb" / "extensions" / version / platform
    place.mkdir(parents=True)
    for extension in ("avro", "httpfs", "iceberg"):
        name = f"{extension}.duckdb_extension"
        package = files(f"duckdb-extension-{extension}") or ()
        found = next(path.locate() for path in package if path.name == name)
        (place / name).symlink_to(found)


def _spark_settings(folder: Path, jars: str) -> dict[str, str]:
    """Let Spark resolve its packages from that folder of the cache, without the network."""
    settings = folder / "spark"
    settings.mkdir()
    ivy = settings / "ivysettings.xml"
    ivy.write_text(_IVY.format(jars=fetched(jars)[0].parent))
    (settings / "spark-defaults.conf").write_text(
        f"spark.jars.ivySettings {ivy}\nspark.jars.ivy {settings / 'ivy'}\n"
    )
    return {"SPARK_CONF_DIR": str(settings)}
