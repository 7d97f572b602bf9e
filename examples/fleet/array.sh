#!/usr/bin/env bash
# A sweep in 50 parts, as a Slurm array: sbatch array.sh. One part again: sbatch --array=7 array.sh
#SBATCH --job-name=sweep
#SBATCH --array=1-50
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=02:00:00
#SBATCH --requeue
set -euo pipefail

exec trading backtest ./bot --sweep --prices btc.csv --candles open \
	--shard auto/50 --out "part-$SLURM_ARRAY_TASK_ID.json"
