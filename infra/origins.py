"""The origins of the web page, and of the buckets that it reads and writes.

A browser lets the page use a bucket on two conditions. The page's policy names the bucket, and the
bucket's CORS rule names the page.
"""

from aws_cdk import Stack

from graveler.aws.s3.signed_requests import HOST_LABEL
from infra.settings import InfraSettings
from infra.settings.rules import CREATE, NONE


def of_page(stack: Stack, settings: InfraSettings) -> tuple[str, ...]:
    """Return the origins of our own page; none if no page is served.

    Without a domain, the address is known only after the storage stack and its rule are deployed.
    The rule then names all APIs of the region, or all of CloudFront. That is safe: CORS gives no
    rights, and the holder of a presigned URL can use it anyway.
    """
    if not settings.has_page:
        return ()
    if settings.domain_name:
        return (f"https://{settings.domain_name}",)
    if settings.cloudfront:
        return ("https://*.cloudfront.net",)
    return (f"https://*.execute-api.{stack.region}.{stack.url_suffix}",)


def of_buckets(stack: Stack, settings: InfraSettings, made: str | None) -> tuple[str, ...]:
    """Return the origins of presigned URLs; made is the name of the storage stack's bucket.

    All buckets are assumed to be in the deployment's region; `bucket_origins` has the others.
    """
    host = f"s3.{stack.region}.{stack.url_suffix}"
    wanted = settings.repository_bucket
    named = [] if wanted in (CREATE, NONE) else [wanted]
    named += [place.bucket for place in (*settings.namespaces, *settings.readable)]
    # CloudFormation's own names have no dots.
    own = (f"https://{made}.{host}",) if wanted == CREATE else ()
    others = (_of_bucket(name, host) for name in dict.fromkeys(named))
    return (*own, *others, *settings.bucket_origins)


def _of_bucket(name: str, host: str) -> str:
    """Return the bucket's origin; with its path if the name cannot be a host's label."""
    return f"https://{name}.{host}" if HOST_LABEL.fullmatch(name) else f"https://{host}/{name}/"
