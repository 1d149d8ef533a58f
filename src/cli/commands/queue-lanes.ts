import type { Command } from 'commander';
import { lookForStuck, type StuckLane } from '../../queue/stuck';
import type { LaneView } from '../../queue/view';
import { withJson } from '../option-values';
import { type Cell, printJson, printTable } from '../print';
import { age, turnState } from '../queue/cells';
import { tellStuck } from '../queue/notes';
import { withQueueView } from '../queue/with-view';
import type { Tool } from '../tool';

const HEAD = [
  'LANE',
  'WAITING',
  'OLDEST',
  'TURN',
  'FOR',
  'STARTS',
  'TAKEN OVER',
  'HOLDER',
  'DISPLACED',
];

/** `queue lanes`: who is at work on what. */
export function addQueueLanes(parent: Command, tool: Tool): void {
  withJson(
    parent
      .command('lanes')
      .description('each lane, its turn and who is at work on it')
      .addHelpText('after', '\nHolders are processes, by the names that they have in their logs.'),
  ).action(async ({ json }: { readonly json?: boolean }) => {
    const { lanes, stuck } = await withQueueView(tool, (view) => lookForStuck(view.lanes));
    const whyOf = (lane: number) => stuck.find((one) => one.lane === lane)?.why ?? null;
    const views = lanes.map((view) => ({ ...view, stuck: whyOf(view.lane) }));
    if (json) await printJson(tool.stdout, views);
    else {
      const rows = lanes.map((view) => toRow(view, stuck));
      await printTable(tool.stdout, HEAD, rows);
    }
    tellStuck(tool, stuck);
  });
}

function toRow(view: LaneView, stuck: readonly StuckLane[]): Cell[] {
  const { lane, waiting, oldestMs, turn, holder, displaced } = view;
  return [
    lane,
    waiting,
    age(oldestMs),
    turnState(view, stuck),
    age(turn?.forMs ?? null),
    turn?.starts ?? null,
    turn?.takenOver ?? null,
    holder,
    displaced.join(', '),
  ];
}
