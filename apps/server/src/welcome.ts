/** Where a started sandbox is and how to use it. */
export interface Started {
  readonly baseUrl: string;
  readonly operatorUrl: string;
  readonly apiKey: string;
  readonly dataDirectory: string;
}

/** What `start` prints. The last line is the one that a newcomer pastes. */
export function welcome({ baseUrl, operatorUrl, apiKey, dataDirectory }: Started): string {
  return `
Reseller Infrastructure Service API, sandbox

  Base URL  ${baseUrl}
  Docs      ${baseUrl}/docs/
  API key   ${apiKey}
  Metrics   ${operatorUrl}/metrics
  Data      ${dataDirectory}

Buy a VM; it costs nothing here:

curl -X PUT ${baseUrl}/vm/create -H 'X-SERVICE-APIKEY: ${apiKey}' -d cores=2 -d mem=4096 -d disk=40 -d os=debian_12 -d hostsystem=nl_ryzen

`;
}
