/** The client of a scripted server, closed after its use. */
import { createMatterPushClient } from '../../tools/client/matter-push-client';
import { type ScriptedServer, SECRET } from './scripted-server';

export type ClientOptions = Partial<Parameters<typeof createMatterPushClient>[0]>;
export type Client = ReturnType<typeof createMatterPushClient>;

export const clientOf =
  (server: ScriptedServer) =>
  async <T>(options: ClientOptions, use: (client: Client) => Promise<T>): Promise<T> => {
    const to = { url: server.url, clientId: 'erp', secret: SECRET };
    const client = createMatterPushClient({ ...to, ...options });
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  };
