import type { Command } from 'commander';
import { findStuck, type StuckPartition } from '../../../src/queue/inspect/stuck';
import type { PartitionView } from '../../../src/queue/inspect/view';
import { withJson } from '../option-values';
import { type Cell, printJson, printTable } from '../print';
import { age, jobState, printStuck } from '../queue-cells';
import type { Tool } from '../tool';

const HEAD = [
  'PARTITION',
  'WAITING',
  'OLDEST',
  'JOB',
  'FOR',
  'STARTS',
  'RECLAIMED',
  'OWNER',
  'FENCED',
];

/** `queue partitions` prints the partitions with their owners. */
export function addQueuePartitions(parent: Command, tool: Tool): void {
  withJson(
    parent
      .command('partitions')
      .description('each partition, its job and its owner')
      .addHelpText(
        'after',
        '\nOwners are processes, by the names that they have in their logs. A fenced owner never finished its\nbatch; the owner after it has ended its transactions.',
      ),
  ).action(async ({ json }: { readonly json?: boolean }) => {
    const { withQueueView } = await import('../queue-view.js');
    const { partitions, stuck } = await withQueueView(tool, (view) => findStuck(view.partitions));
    const whyOf = (partition: number) =>
      stuck.find((one) => one.partition === partition)?.why ?? null;
    const views = partitions.map((view) => ({ ...view, stuck: whyOf(view.partition) }));
    if (json) await printJson(tool.stdout, views);
    else {
      const rows = partitions.map((view) => toRow(view, stuck));
      await printTable(tool.stdout, HEAD, rows);
    }
    printStuck(tool, stuck);
  });
}

function toRow(view: PartitionView, stuck: readonly StuckPartition[]): Cell[] {
  const { partition, waiting, oldestMs, job, owner, fencedOwners } = view;
  return [
    partition,
    waiting,
    age(oldestMs),
    jobState(view, stuck),
    age(job?.forMs ?? null),
    job?.starts ?? null,
    job?.reclaimed ?? null,
    owner,
    fencedOwners.join(', '),
  ];
}
