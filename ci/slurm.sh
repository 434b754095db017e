#!/usr/bin/env bash
# The commands of docs/campaigns.md for Slurm, as they are on the page, carry out a small campaign on a cluster of one
# node, which is made of Debian's packages and ends with this script: a shard that is killed at its first try is
# queued anew by its own job; one that ends with 1 cancels the merge, and is run again by hand; the merged report then
# has all that one run without shards has. Half a minute.
#
# munged, slurmctld and slurmd are started here, without systemd and without control groups, by the calling user, with
# configurations, keys, sockets and states in a temporary directory. Services of Debian's packages are not started.
source "$(dirname "$0")/common.sh"
source ci/campaign/page.sh
need_packages munge slurmctld slurmd slurm-client python3 || true
for program in munged slurmctld slurmd sbatch; do
    command -v "$program" >/dev/null || skip "$program is not here, and cannot be installed from Debian's packages"
done
cargo build --locked -q -p ondeck-cli
ondeck=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/ondeck
work=$(mktemp -d)
mkdir "$work/bin" "$work/campaign" "$work/state" "$work/spool"
stand_in "$work/bin" "$ondeck"

# end PROGRAM: ends that daemon, by the process id that it has written.
end() {
    local pid
    pid=$(cat "$work/$1.pid" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null || return 0
    for _ in {1..100}; do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}
finish() {
    local status=$?
    if [ "$status" -ne 0 ]; then
        tail -n 30 "$work"/*.log "$work"/campaign/*.out 2>/dev/null || true
    fi
    end slurmd
    end slurmctld
    end munged
    rm -rf "$work"
}
trap finish EXIT

step "a cluster of one node"
user=$(id -un)
node=$(hostname -s)
# Ports that nothing listens at; the kernel names them.
read -r port_of_controller port_of_node < <(python3 - <<'PYTHON'
import socket

sockets = [socket.socket() for _ in range(2)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))
PYTHON
)
head -c 1024 /dev/urandom >"$work/munge.key"
chmod 600 "$work/munge.key"
# Munge wants directories that no other user can write to.
chmod 755 "$work"
munged --key-file "$work/munge.key" --socket "$work/munge.socket" --pid-file "$work/munged.pid" \
    --log-file "$work/munged.log" --seed-file "$work/munge.seed"
export SLURM_CONF=$work/slurm.conf
cat >"$SLURM_CONF" <<CONF
ClusterName=ondeck
SlurmctldHost=$node(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
# A job that is queued anew has to wait until the credential of its first try is no longer valid.
AuthInfo=socket=$work/munge.socket,cred_expire=5
SlurmctldPort=$port_of_controller
SlurmdPort=$port_of_node
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
ReturnToService=2
# The feature that the page asks for.
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) Feature=$(block Slurm 1 | sed -n 's/^#SBATCH --constraint=//p')
PartitionName=all Nodes=$node Default=YES State=UP
CONF
# Nothing here uses control groups. Slurm before 24.05 has no word for that, but its plugin for version 1 then does
# nothing but take note of the folder.
printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=%s/cgroup\n' "$work" >"$work/cgroup.conf"
slurmctld
slurmd

# until_true WHAT SECONDS COMMAND...: waits for a command to succeed.
until_true() {
    local what=$1 end=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || { echo "waited in vain: $what"; squeue || true; exit 1; }
        sleep 0.5
    done
}
# Whether the node takes jobs.
idle() { sinfo --noheader --format=%T | grep -qx idle; }
# Whether all jobs have ended.
no_jobs() { [ -z "$(squeue --noheader 2>&1)" ]; }
until_true "the node takes jobs" 60 idle

step "one run without shards"
eval "$(block Shard 1)"
: "${shards:?the page does not say how many shards there are}" "${measure:?the page does not say what measures}"
# Little enough for a test.
export measure="ondeck $little" PATH=$work/bin:$PATH
# shellcheck disable=SC2086 # several words
"$ondeck" $little --json "$work/whole.json" >"$work/whole.log" 2>&1 || { cat "$work/whole.log"; exit 1; }

# tried: how often each shard has been tried since the last call, as uniq counts.
tried() {
    sort "$work/bin/calls" | uniq -c | sed 's/^ *//'
    rm "$work/bin/calls"
}
block Slurm 1 >"$work/campaign/campaign.sh"
submit=$(block Slurm 2) again=$(block Slurm 3) warning=$(block Merge 2)
cd "$work/campaign"

step "a shard that is killed, and one that ends with 1"
# shellcheck disable=SC2016 # for the stand-in
echo 'kill -KILL $$' >"$work/bin/2.fails"
echo 'exit 1' >"$work/bin/3.fails"
eval "$submit"
until_true "the campaign has ended" 300 no_jobs
expected=$(for shard in $(seq "$shards"); do echo "$((shard == 2 ? 2 : 1)) shard $shard"; done)
expect "the tries" "$expected" "$(tried)"
[ ! -e all.json ] || { echo "a campaign that lacks a shard was merged"; exit 1; }
status=0
ondeck merge shards/*.json --json all.json 2>"$work/said" || status=$?
expect "the exit code of a merge without a shard" 1 "$status"
grep -qF "$warning" "$work/said" || { cat "$work/said"; echo "the page's warning is missing"; exit 1; }

step "that shard again"
rm all.json
eval "$again"
until_true "the shard and the merge have ended" 120 no_jobs
expect "the tries" "1 shard 3" "$(tried)"
cd "$OLDPWD"
python3 ci/campaign/complete.py "$work/campaign/all.json" "$work/whole.json"
