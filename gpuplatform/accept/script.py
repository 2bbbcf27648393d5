"""What each pod of the job runs: sshd everywhere, and mpirun with nccl-tests on the first."""

from __future__ import annotations

from typing import Final

__all__ = ["KEYS_PATH", "SAYS", "SCRIPT", "SSH_PORT"]

SSH_PORT: Final = 2222
KEYS_PATH: Final = "/etc/gpuplatform-accept"
SAYS: Final = "gpuplatform-accept:"
"""What the script's own lines in the log start with."""

# Nothing here is an image's own: paths of nccl-tests differ, and so do ports and keys of their sshd. The
# variables of the fabric reach the ranks by name, since sshd gives a session none of them.
SCRIPT: Final = rf"""set -eu
say() {{ echo "{SAYS} $*"; }}
fail() {{ say "$*"; exit 1; }}
first() {{ for found in "$@"; do if [ -x "$found" ]; then echo "$found"; return; fi; done; }}

index=$JOB_COMPLETION_INDEX
key={KEYS_PATH}/id
options="-p {SSH_PORT} -i $key -o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=no"
options="$options -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"

[ -x /usr/sbin/sshd ] || fail "the image has no sshd"
mkdir -p /run/sshd
/usr/sbin/sshd -f /dev/null -h $key -p {SSH_PORT} -o AuthorizedKeysFile={KEYS_PATH}/authorized_keys \
  -o StrictModes=no -o PasswordAuthentication=no -o UsePAM=no -o PidFile=/tmp/gpuplatform-accept.pid

if [ "$index" != 0 ]; then
  say "node $index is ready: $NODE_NAME"
  until [ -e /tmp/gpuplatform-accept.done ]; do sleep 2; done
  exit 0
fi

hosts=""
for i in $(seq 0 $((NODES - 1))); do
  host=$JOB_NAME-$i.$SUBDOMAIN
  waited=0
  until ssh $options "$host" true 2>/dev/null; do
    waited=$((waited + 5))
    [ "$waited" -lt "$PATIENCE" ] || fail "node $i did not answer for $PATIENCE seconds"
    sleep 5
  done
  hosts="$hosts $host"
  echo "$host slots=$GPUS" >>/tmp/hostfile
done
finish() {{ for host in $hosts; do ssh $options "$host" touch /tmp/gpuplatform-accept.done || true; done; }}
trap finish EXIT

if [ -e /usr/local/gib/scripts/set_nccl_env.sh ]; then
  set +u
  . /usr/local/gib/scripts/set_nccl_env.sh
  set -u
fi
mpirun=$(first "$(command -v mpirun || true)" /opt/amazon/openmpi/bin/mpirun /usr/local/mpi/bin/mpirun)
[ -n "$mpirun" ] || fail "the image has no mpirun"
names='^(NCCL|FI|OFI|UCX|CUDA|SHARP)_[A-Za-z0-9_]*|^(LD_LIBRARY_PATH|LD_PRELOAD|PATH)'
exported=$(env | grep -oE "$names" | sed 's/^/-x /')

for collective in $COLLECTIVES; do
  name="$collective"_perf
  test=$(first /opt/nccl-tests/build/$name /third_party/nccl-tests-mpi/build/$name \
    /third_party/nccl-tests/build/$name /usr/local/bin/"$name"_mpi /usr/bin/$name)
  [ -n "$test" ] || fail "the image has no $collective test"
  say "run $collective"
  # An absolute mpirun implies its --prefix on the other nodes.
  "$mpirun" --allow-run-as-root -np $((NODES * GPUS)) --hostfile /tmp/hostfile --map-by ppr:"$GPUS":node \
    --bind-to none --mca plm_rsh_agent "ssh $options" --mca plm_rsh_no_tree_spawn 1 \
    --mca orte_keep_fqdn_hostnames 1 --mca pml ob1 --mca btl self,tcp --mca coll_hcoll_enable 0 \
    --mca btl_tcp_if_include "$NCCL_SOCKET_IFNAME" --mca oob_tcp_if_include "$NCCL_SOCKET_IFNAME" $exported \
    "$test" -b "$MIN_BYTES" -e "$MAX_BYTES" -f 2 -g 1 -w 5 -n 20 -c 1 2>&1
done
say "done"
"""
