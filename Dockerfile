FROM python:3.11-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /build
RUN python -m venv /opt/venv
COPY requirements/build.txt requirements/demo.txt requirements/
# What builds pcst-fast and this package is locked by its hash too, and stays out of the image.
RUN /opt/venv/bin/pip install --no-cache-dir --require-hashes --no-deps --target /build/tools -r requirements/build.txt
ENV PYTHONPATH=/build/tools
RUN /opt/venv/bin/pip install --no-cache-dir --require-hashes --no-deps --no-build-isolation --no-binary pcst-fast -r requirements/demo.txt
COPY pyproject.toml README.md LICENSE ./
COPY graph_service graph_service
COPY loaders loaders
COPY queries queries
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim-bookworm
RUN useradd --create-home --uid 10001 service
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1
USER service
RUN mkdir -p /home/service/.cache
WORKDIR /home/service
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=10s --retries=5 --start-period=20s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/ready', timeout=6)"]
ENTRYPOINT ["graph-service"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
