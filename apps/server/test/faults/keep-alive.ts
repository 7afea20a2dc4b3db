/** HTTP clients that keep one connection open, as load balancers and SDKs do. */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

import { onTestFinished } from 'vitest';

export interface KeepAliveClient {
  /**
   * Sends a request, on the open connection if there is one.
   *
   * @throws If the connection ended before the whole response.
   */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<KeepAliveResponse>;
}

export interface KeepAliveResponse {
  readonly status: number;
  readonly body: string;
  /** Whether the server asked to close the connection after the response. */
  readonly closes: boolean;
}

export function clientOf(baseUrl: string): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return {
    get: (path, headers = {}) =>
      new Promise((resolve, reject) => {
        const sent = request(baseUrl + path, { agent, headers }, (response) => {
          const head = { status: response.statusCode ?? 0, closes: response.headers.connection === 'close' };
          text(response).then((body) => resolve({ ...head, body }), reject);
        });
        sent.on('error', reject);
        sent.end();
      }),
  };
}
