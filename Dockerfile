# The embedded stack, `graveler serve`: docs/docker.md. layers/gateway/Dockerfile is that of a deployment's
# S3 gateway. The tag has no digest, so a build gets the newest patches.
FROM python:3.13-slim-bookworm AS build

WORKDIR /source
COPY . .
RUN python -m venv /opt/graveler \
 && /opt/graveler/bin/python -m pip install --no-cache-dir --disable-pip-version-check --only-binary=:all: --constraint=requirements.txt '.[serve]'

FROM python:3.13-slim-bookworm

COPY --from=build /opt/graveler /opt/graveler
# The state, and what the first start fetches: DynamoDB Local's licence forbids an image that contains it.
RUN install -d -o 10001 -g 10001 /data
VOLUME /data
ENV PATH=/opt/graveler/bin:$PATH PYTHONUNBUFFERED=1 GRAVELER_HOST=0.0.0.0 HOME=/data XDG_CACHE_HOME=/data/.cache

USER 10001:10001
EXPOSE 8000 8001
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/_health', timeout=2)"]
CMD ["graveler", "serve", "--data", "/data"]
