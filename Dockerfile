# syntax=docker/dockerfile:1
# Two images of one source: `docker build --target manager .` and `docker build --target server .`
#
# The name server's image has what `pip install .` installs: no cloud SDK, no CEL, no compiler, no shell tools of ours.

ARG PYTHON=3.13-slim-trixie

FROM python:${PYTHON} AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends cargo rustc gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml README.md LICENSE MANIFEST.in ./
COPY zonemodel zonemodel
COPY ownership ownership
COPY kube kube
COPY server server
COPY controllers controllers
COPY standalone standalone
COPY cli cli
# The wheel of the product itself, with the native data plane: one that could not be built must fail the image.
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
    && python -c "import sys, zipfile; sys.exit(not any(name.startswith('server/_native') and name.endswith('.so') for name in zipfile.ZipFile(__import__('glob').glob('/wheels/dns_api-*.whl')[0]).namelist()))"

FROM build AS server-packages
RUN python -m venv /opt/dns-api \
    && /opt/dns-api/bin/pip install --no-cache-dir /wheels/dns_api-*.whl

FROM build AS manager-packages
RUN python -m venv /opt/dns-api \
    && /opt/dns-api/bin/pip install --no-cache-dir "$(ls /wheels/dns_api-*.whl)[manager,route53,cloudflare,tracing]"

FROM python:${PYTHON} AS runtime
# The user below has no entry in /etc/passwd, so somebody must say where its home is.
ENV PATH=/opt/dns-api/bin:$PATH \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
LABEL org.opencontainers.image.title="dns-api" \
    org.opencontainers.image.licenses="Apache-2.0"
# Numbers, so that a cluster can tell that it is not root.
USER 65532:65532
WORKDIR /tmp
ENTRYPOINT ["dns-api"]

FROM runtime AS server
COPY --from=server-packages /opt/dns-api /opt/dns-api
EXPOSE 5353/udp 5353/tcp 8080/tcp
CMD ["server", "--listen", ":5353", "--http", ":8080"]

FROM runtime AS manager
COPY --from=manager-packages /opt/dns-api /opt/dns-api
EXPOSE 9443/tcp 8080/tcp
CMD ["manager"]
