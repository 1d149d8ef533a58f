/** How far a run is, on stderr: a bar on a terminal, a line every two seconds elsewhere. */
import { type Options, SingleBar } from 'cli-progress';
import type { Tool } from '../tool';
import type { Counts } from './tally';

export interface ProgressOptions {
  readonly stderr: Tool['stderr'];
  /** Of the whole input; undefined where nobody can know. */
  readonly total: number | undefined;
  readonly counts: () => Counts;
}

const BAR_INTERVAL = 200;
const LINE_INTERVAL = 2_000;
/** The rate is that of the last seconds, not of the whole run: it shows what happens now. */
const RATE_WINDOW = 10_000;

/** @returns ends it; what is shown last is the final state */
export function showProgress(options: ProgressOptions): () => void {
  const rate = createRate(options.counts().lines);
  return options.stderr.isTTY ? showBar(options, rate) : showLines(options, rate);
}

type Rate = (lines: number) => number;

function showBar({ stderr, total, counts }: ProgressOptions, rate: Rate): () => void {
  const size = total === undefined ? '{value}' : '{bar} {percentage}% {value}/{total}';
  const bar = new SingleBar({
    format: `${size} | {rate}/s | {failed} failed{left}`,
    stream: stderr as Options['stream'],
    hideCursor: true,
    barsize: 30,
  } as Options);
  const state = () => {
    const { lines, failed } = counts();
    const perSecond = rate(lines);
    const left = timeLeft(total, lines, perSecond);
    return [lines, { rate: Math.round(perSecond), failed, left: left && ` | ${left}` }] as const;
  };
  const [lines, shown] = state();
  bar.start(total ?? 0, lines, shown);
  const timer = setInterval(() => bar.update(...state()), BAR_INTERVAL);
  return () => {
    clearInterval(timer);
    bar.update(...state());
    bar.stop();
  };
}

function showLines({ stderr, total, counts }: ProgressOptions, rate: Rate): () => void {
  const timer = setInterval(() => {
    const { lines, failed } = counts();
    const perSecond = rate(lines);
    const of = total === undefined ? '' : `/${total}`;
    const left = timeLeft(total, lines, perSecond);
    const parts = [`${lines}${of} lines`, `${Math.round(perSecond)}/s`, `${failed} failed`, left];
    stderr.write(`${parts.filter(Boolean).join(', ')}\n`);
  }, LINE_INTERVAL);
  return () => clearInterval(timer);
}

/** @returns lines per second over the last seconds, told the lines that are done now */
function createRate(start: number): Rate {
  const samples = [{ at: Date.now(), lines: start }];
  return (lines) => {
    const now = Date.now();
    samples.push({ at: now, lines });
    while (samples.length > 2 && now - (samples[0]?.at ?? now) > RATE_WINDOW) samples.shift();
    const [oldest] = samples;
    if (!oldest || now === oldest.at) return 0;
    return ((lines - oldest.lines) * 1_000) / (now - oldest.at);
  };
}

function timeLeft(total: number | undefined, lines: number, perSecond: number): string {
  if (total === undefined || perSecond === 0 || lines >= total) return '';
  const seconds = Math.ceil((total - lines) / perSecond);
  if (seconds < 120) return `${seconds} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`;
}
