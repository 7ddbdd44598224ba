"""The settings of the API function alone."""

from dataclasses import dataclass

from graveler.aws.environment import FromEnvironment


@dataclass(frozen=True, slots=True, repr=False)
class ApiSettings(FromEnvironment):
    """Of the API function alone; defaults suit the embedded stack. The repr shows no field."""

    # The secret with which a client creates the first administrator, or its ARN in Secrets Manager;
    # without both no client can.
    setup_token: str = ""
    setup_token_arn: str = ""
    # Browsers send a Secure cookie over TLS only; the embedded stack has no TLS.
    secure_cookies: bool = False
    # The host name of the API. Clients sign log-ins by AWS IAM for it; "" refuses such log-ins.
    iam_login_server_id: str = ""
    # The prefix that clients suggest for a new repository's storage namespace.
    namespace_prefix: str = ""
