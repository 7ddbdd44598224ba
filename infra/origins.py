"""Where browsers go: the origins of the web page, and of the buckets that it reads and writes.

A browser lets the page use a bucket only if the page's policy names the bucket, and the bucket's
CORS rule the page.
"""

from aws_cdk import Stack

from graveler.aws.s3.signed_requests import HOST_LABEL
from infra.settings import Settings
from infra.settings.rules import CREATE, NONE


def of_page(stack: Stack, settings: Settings) -> tuple[str, ...]:
    """Return the origins of our own page; none if no page is served.

    Without a domain, the address is made with the service stack, after the storage stack and its
    rule. The rule then names all APIs of the region, or all of CloudFront. That lets in nobody:
    CORS gives no rights, and what a presigned URL gives, its holder has anyway.
    """
    if not settings.has_page:
        return ()
    if settings.domain_name:
        return (f"https://{settings.domain_name}",)
    if settings.cloudfront:
        return ("https://*.cloudfront.net",)
    return (f"https://*.execute-api.{stack.region}.{stack.url_suffix}",)


def of_buckets(stack: Stack, settings: Settings, made: str | None) -> tuple[str, ...]:
    """Return where presigned URLs lead; made is the name of the storage stack's bucket.

    The buckets are taken to be in the deployment's region; `bucket_origins` has the others.
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
    """Return the origin of the bucket; for a name that is no label of a host, its path as well."""
    return f"https://{name}.{host}" if HOST_LABEL.fullmatch(name) else f"https://{host}/{name}/"
