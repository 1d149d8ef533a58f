/**
 * Prepares the database for `npm start` before web and workers start: the release step, then the demo client and its
 * users. It runs within the process of `npm start`, because two more processes would add a second to each start.
 */
import { writeSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { systemClock } from '../../src/concurrency/timing';
import { demoClientFile, readConfig } from '../../src/infra/config';
import { connectMongo } from '../../src/infra/mongo';
import { release } from '../../src/release';
import { createClientAdmin, importUsers } from '../../src/storage/directory';
import { createKeyRing } from '../../src/storage/directory/sealing';
import { hasCode } from './error-code';
import type { Demo } from './first-push';
import { openLog } from './log-file';

const CLIENT_ID = 'demo';
const USERS = [
  { username: 'li.lei', displayName: '李雷' },
  { username: 'han.meimei', displayName: '韩梅梅' },
  { username: 'zhang.san', displayName: '张三' },
];

/**
 * @param env the settings of web and workers
 * @param logFile file for the log of the release step
 */
export async function prepareData(env: NodeJS.ProcessEnv, logFile: string): Promise<Demo> {
  const { fd, close } = openLog(logFile);
  try {
    await release({ env, log: { write: (line) => void writeSync(fd, line) } });
  } finally {
    close();
  }
  return createDemo(env);
}

/** Creates the demo client and its users, and writes the secret of the client into DATA_DIR. */
export async function createDemo(env: NodeJS.ProcessEnv): Promise<Demo> {
  const config = readConfig(env);
  const file = demoClientFile(config);
  const mongo = await connectMongo(config.MONGO_URL);
  try {
    await importUsers(mongo, USERS);
    const admin = createClientAdmin(mongo, createKeyRing(config.SECRET_KEYS), systemClock);
    const exists = (await admin.list()).some(({ clientId }) => clientId === CLIENT_ID);
    const known = await readSecret(file);
    const secret = exists && known ? known : await newSecret(admin, exists);
    await mkdir(config.DATA_DIR, { recursive: true });
    await writeFile(file, JSON.stringify({ clientId: CLIENT_ID, secret }), { mode: 0o600 });
    return { clientId: CLIENT_ID, secret, usernames: USERS.map(({ username }) => username) };
  } finally {
    await mongo.close();
  }
}

type Admin = ReturnType<typeof createClientAdmin>;

async function newSecret(admin: Admin, exists: boolean): Promise<string> {
  if (exists) return (await admin.rotate(CLIENT_ID, 0)).secret;
  const { secret } = await admin.create({ clientId: CLIENT_ID, systemCode: 'DEMO' });
  return secret ?? '';
}

/** @returns undefined if the file does not exist, as at the first start */
async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (hasCode(error, 'ENOENT')) return '{}';
    throw error;
  });
  return JSON.parse(text).secret;
}
