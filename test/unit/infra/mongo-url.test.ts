/** What a connection string may decide, and what is rejected by name. */
import { mongo } from 'mongoose';
import {
  hasOption,
  mongoUrlProblem,
  serversOf,
  withoutOptionsOfService,
} from '../../../src/infra/mongo-url';

test.each([
  'mongodb://h/db',
  'mongodb+srv://u:p%2F%3F@h/db?retryWrites=true&w=majority',
  'mongodb://a:1,b:2,c:3/db?replicaSet=rs0&journal=true',
  'mongodb://h/db?readPreference=secondaryPreferred&maxStalenessSeconds=120',
])('taken: %s', (url) => {
  expect(mongoUrlProblem(url)).toBeUndefined();
});

test.each([
  ['postgres://h/db', /mongodb:\/\/ or mongodb\+srv:\/\//],
  ['mongodb://h', /name the database/],
  ['mongodb://a,b/?replicaSet=rs', /name the database/],
  ['mongodb+srv://u:secret@h?w=majority', /name the database/],
  ['mongodb://h/db?w=1', /not contain w=1: remove it/],
  ['mongodb://h/db?replicaSet=rs&W=0', /not contain W=0:/],
  ['mongodb://h/db?w=2', /not contain w=2:/],
  ['mongodb://h/db?journal=false', /not contain journal=false:/],
  ['mongodb://h/db?j=false', /not contain j=false:/],
])('rejected by name: %s', (url, problem) => {
  expect(mongoUrlProblem(url)).toMatch(problem);
  expect(mongoUrlProblem(url)).not.toContain('secret');
});

test.each([
  ['readPreference=secondary'],
  ['readPreference=nearest&readPreferenceTags=dc:a&readPreferenceTags=&maxStalenessSeconds=120'],
  ['readConcernLevel=available&wtimeoutMS=5&w=majority'],
])('reads go to the primary, and writes wait for the majority, whatever it says: %s', (said) => {
  const url = withoutOptionsOfService(`mongodb://a,b/db?replicaSet=rs0&${said}&appName=x`);
  const { options } = new mongo.MongoClient(url);
  expect(options.readPreference.mode).toBe('primary');
  expect(options.readConcern).toBeUndefined();
  expect(options.writeConcern).toBeUndefined();
  expect(options).toMatchObject({ dbName: 'db', replicaSet: 'rs0', appName: 'x' });
});

test.each([
  ['mongodb://u:p@ss/w@a:1,b:2/db?replicaSet=rs0', 'a:1,b:2'],
  ['mongodb+srv://cluster.example.com/db', 'cluster.example.com'],
  ['mongodb://127.0.0.1:27017/db?appName=a@b', '127.0.0.1:27017'],
])('its servers can be told without what is secret: %s', (url, servers) => {
  expect(serversOf(url)).toBe(servers);
});

test('an option is found by its name, in whatever case, and by no part of it', () => {
  const url = 'mongodb://u:p@a,b/db?replicaSet=rs0&ConnectTimeoutMS=9000';
  expect(hasOption(url, 'connectTimeoutMS')).toBe(true);
  expect(hasOption(url, 'timeoutMS')).toBe(false);
  expect(hasOption('mongodb://a/connectTimeoutMS', 'connectTimeoutMS')).toBe(false);
});
