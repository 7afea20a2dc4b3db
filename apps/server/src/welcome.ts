/** Where a started service is and how to use it. */
export interface Started {
  readonly baseUrl: string;
  readonly operatorUrl: string;
  /** Key of a sandbox's demo account; undefined for a live service. */
  readonly apiKey: string | undefined;
  /** The token that the sandbox made for itself; undefined where whoever started it knows it. */
  readonly operatorToken: string | undefined;
  /** Where the store is. */
  readonly data: string;
}

/** What `start` prints. Of a sandbox, the last line is the one that a newcomer pastes. */
export function welcome({ baseUrl, operatorUrl, apiKey, operatorToken, data }: Started): string {
  const lines = [
    `Reseller Infrastructure Service API, ${apiKey === undefined ? 'live' : 'sandbox'}`,
    '',
    `  Base URL  ${baseUrl}`,
    `  Docs      ${baseUrl}/docs/`,
    ...(apiKey === undefined ? [] : [`  API key   ${apiKey}`]),
    `  Operator  ${operatorUrl}`,
    ...(operatorToken === undefined ? [] : [`  Token     ${operatorToken}`]),
    `  Metrics   ${operatorUrl}/metrics`,
    `  Data      ${data}`,
    '',
  ];
  if (apiKey !== undefined) {
    lines.push(
      'Buy a VM; it costs nothing here:',
      '',
      `curl -X PUT ${baseUrl}/vm/create -H 'X-SERVICE-APIKEY: ${apiKey}' -d cores=2 -d mem=4096 -d disk=40 -d os=debian_12 -d hostsystem=nl_ryzen`,
      '',
    );
  }
  return `\n${lines.join('\n')}\n`;
}
