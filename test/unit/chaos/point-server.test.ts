/** The points at which directed faults halt processes. */
import { type PointServer, startPointServer } from '../../../tools/chaos/point-server';

let points: PointServer;
beforeEach(async () => {
  points = await startPointServer();
});
afterEach(() => points.close());

/** As `points.ts` reports a point. */
const reach = (point: string, pid: number) => fetch(`${points.url}/${point}/${pid}`);

test('a process that reaches a point continues at once if nothing waits for it', async () => {
  expect((await reach('batch-read', 1)).status).toBe(200);
});

test('the next process at a point is halted until it is released, and later ones are not', async () => {
  const next = points.next('batch-read');
  let isReleased = false;
  const reached = reach('batch-read', 1).then(() => isReleased);
  const halted = await next;
  expect(halted.pid).toBe(1);
  await reach('batch-read', 2);
  isReleased = true;
  halted.release();
  expect(await reached).toBe(true);
});

test('other processes and other points do not count', async () => {
  const next = points.next('commit-ended', 2);
  await reach('commit-ended', 1);
  await reach('batch-read', 2);
  const reached = reach('commit-ended', 2);
  (await next).release();
  expect((await reached).status).toBe(200);
});
