/** The demo of `npm start`: a client and a few users to push with. Prints one JSON line. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { systemClock } from '../../src/concurrency/clock';
import { demoClientFile, readConfig } from '../../src/runtime/config';
import { runMain } from '../../src/runtime/lifecycle';
import { createClientAdmin } from '../../src/storage/directory/client-admin';
import { createKeyRing } from '../../src/storage/directory/sealing';
import { importUsers } from '../../src/storage/directory/user-admin';
import { connectMongo } from '../../src/storage/mongo';

const CLIENT_ID = 'demo';
const USERS = [
  { username: 'li.lei', displayName: '李雷' },
  { username: 'han.meimei', displayName: '韩梅梅' },
  { username: 'zhang.san', displayName: '张三' },
];

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const mongo = await connectMongo(config.MONGO_URL);
  await importUsers(mongo, USERS);
  const admin = createClientAdmin(mongo, createKeyRing(config.SECRET_KEYS), systemClock);
  const file = demoClientFile(config);
  const exists = (await admin.list()).some(({ clientId }) => clientId === CLIENT_ID);
  const known = await readSecret(file);
  const secret = exists && known ? known : await newSecret(admin, exists);
  await mongo.close();
  await mkdir(config.DATA_DIR, { recursive: true });
  await writeFile(file, JSON.stringify({ clientId: CLIENT_ID, secret }), { mode: 0o600 });
  const usernames = USERS.map(({ username }) => username);
  process.stdout.write(`${JSON.stringify({ clientId: CLIENT_ID, secret, usernames })}\n`);
}

type Admin = ReturnType<typeof createClientAdmin>;

async function newSecret(admin: Admin, exists: boolean): Promise<string> {
  if (exists) return (await admin.rotate(CLIENT_ID, 0)).secret;
  const { secret } = await admin.create({ clientId: CLIENT_ID, systemCode: 'DEMO' });
  return secret ?? '';
}

/** @returns undefined where there is no such file: the first start */
async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  return JSON.parse(text).secret;
}

runMain(main);
