/** Shows the progress of a run on stderr: as a bar on a terminal, otherwise as a line every two seconds. */
import { type Options, SingleBar } from 'cli-progress';
import { note, printable } from './print';
import type { Tool } from './tool';

export interface ProgressOptions {
  readonly stderr: Tool['stderr'];
  /** Number of things in the whole input; undefined if it is unknown. */
  readonly total: number | undefined;
  /** The word for what is counted, for example `lines`. */
  readonly things: string;
  readonly state: () => ProgressState;
}

export interface ProgressState {
  readonly done: number;
  /** A further text to show, for example `3 failed`. */
  readonly note: string;
  /**
   * The run makes no progress, and another line states why. Then no remaining time and no line of progress is shown.
   */
  readonly isStanding?: boolean;
}

const BAR_INTERVAL = 200;
const LINE_INTERVAL = 2_000;
/** Milliseconds over which the rate is computed, so that it shows the current speed and not that of the whole run. */
const RATE_WINDOW = 10_000;

/** @returns a function that shows the final state and ends the progress */
export function showProgress(options: ProgressOptions): () => void {
  const rate = createRate(options.state().done);
  return options.stderr.isTTY ? showBar(options, rate) : showLines(options, rate);
}

type Rate = (done: number) => number;

function showBar({ stderr, total, state }: ProgressOptions, rate: Rate): () => void {
  const size = total === undefined ? '{value}' : '{bar} {percentage}% {value}/{total}';
  const bar = new SingleBar({
    format: `${size} | {rate}/s | {note}{left}`,
    stream: stderr as Options['stream'],
    hideCursor: true,
    barsize: 30,
  } as Options);
  const look = () => {
    const { done, note: remark, isStanding } = state();
    const perSecond = rate(done);
    const left = isStanding ? 'waiting' : timeLeft(total, done, perSecond);
    return [
      done,
      { rate: Math.round(perSecond), note: printable(remark), left: left && ` | ${left}` },
    ] as const;
  };
  const [done, shown] = look();
  bar.start(total ?? 0, done, shown);
  const timer = setInterval(() => bar.update(...look()), BAR_INTERVAL);
  return () => {
    clearInterval(timer);
    bar.update(...look());
    bar.stop();
  };
}

function showLines({ stderr, total, things, state }: ProgressOptions, rate: Rate): () => void {
  const timer = setInterval(() => {
    const { done, note: remark, isStanding } = state();
    const perSecond = rate(done);
    if (isStanding) return;
    const of = total === undefined ? '' : `/${total}`;
    const left = timeLeft(total, done, perSecond);
    const parts = [`${done}${of} ${things}`, `${Math.round(perSecond)}/s`, remark, left];
    note(stderr, parts.filter(Boolean).join(', '));
  }, LINE_INTERVAL);
  return () => clearInterval(timer);
}

/**
 * @returns a function that takes the number of things done now, and returns the number per second in the last seconds
 */
function createRate(start: number): Rate {
  const samples = [{ at: Date.now(), done: start }];
  return (done) => {
    const now = Date.now();
    samples.push({ at: now, done });
    while (samples.length > 2 && now - (samples[0]?.at ?? now) > RATE_WINDOW) samples.shift();
    const [oldest] = samples;
    if (!oldest || now === oldest.at) return 0;
    return ((done - oldest.done) * 1_000) / (now - oldest.at);
  };
}

function timeLeft(total: number | undefined, done: number, perSecond: number): string {
  if (total === undefined || perSecond === 0 || done >= total) return '';
  const seconds = Math.ceil((total - done) / perSecond);
  if (seconds < 120) return `${seconds} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`;
}
