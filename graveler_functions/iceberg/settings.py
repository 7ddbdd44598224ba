"""The settings of the Iceberg function alone."""

from dataclasses import dataclass, field

from graveler.aws.environment import FromEnvironment


@dataclass(frozen=True, slots=True)
class IcebergSettings(FromEnvironment):
    """What clients are told about the store of tables' files."""

    region: str = field(metadata={"variables": ("AWS_REGION", "AWS_DEFAULT_REGION")})
    # Where clients reach the store; "" means AWS itself.
    s3_endpoint: str = field(
        default="", metadata={"variables": ("GRAVELER_S3_PUBLIC_ENDPOINT", "GRAVELER_S3_ENDPOINT")}
    )
    # Give clients that ask for credentials the function's own, if they have logged in with them:
    # for the embedded stack only.
    shares_own_credentials: bool = False
    # The role of whose credentials clients get a part that reaches one table; "" gives none.
    vended_role_arn: str = ""
