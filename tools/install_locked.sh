#!/bin/sh
# install_locked.sh ENVIRONMENT FILE [OPTION ...]
# Installs what FILE locks into a virtual environment, and what builds it before.
# uv needs a fifth of pip's time. pip does it where uv can't: an index that only pip's settings name.
set -eu
environment=$1 file=$2
shift 2
python=$environment/bin/python
log=$environment/install.log
pip() {
  "$python" -m pip --disable-pip-version-check install --quiet --progress-bar off --log "$log" --no-deps --no-build-isolation --require-hashes "$@"
}
pip -r requirements/build.txt
"$environment/bin/uv" pip install --python "$python" --no-progress --no-deps --no-build-isolation --require-hashes "$@" -r "$file" 2>> "$log" || {
  echo "uv can't ($log says why); pip does ..."
  pip "$@" -r "$file"
}
