/** The addresses of the service that serves the site, by the name of the API (own-servers.js). */
export interface OwnServer {
  readonly url: string;
  readonly description: string;
}

declare global {
  var ownServers: Readonly<Record<string, OwnServer>> | undefined;
}

export function ownServer(api: string): OwnServer | undefined {
  return globalThis.ownServers?.[api];
}
