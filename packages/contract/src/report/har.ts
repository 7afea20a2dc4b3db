import type { Entry, Har, Header } from 'har-format';

import type { RecordedExchange } from '../exchange/traffic.ts';
import type { SettledReport } from './baseline.ts';

const UNKNOWN = -1;

/** The creator in the file, by which this program recognises its own recordings. */
export const CREATOR = 'contract';

/** The requests and responses of a run as HAR 1.2, with secrets masked. */
export function toHar({ traffic }: Pick<SettledReport, 'traffic'>): string {
  const har: Har = { log: { version: '1.2', creator: { name: CREATOR, version: '1' }, entries: traffic.map(entryOf) } };
  return `${JSON.stringify(har, null, 2)}\n`;
}

function entryOf(exchange: RecordedExchange): Entry {
  const { at, milliseconds, method, url, requestBody, status, responseBody, contentType } = exchange;
  return {
    startedDateTime: at,
    time: milliseconds,
    comment: `${exchange.operation} ${exchange.purpose} ${exchange.detail}`.trim(),
    request: {
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: headersOf(exchange.requestHeaders),
      queryString: [...new URLSearchParams(url.split('?', 2)[1])].map(([name, value]) => ({ name, value })),
      ...(requestBody === undefined ? {} : { postData: { mimeType: exchange.requestHeaders['content-type'] ?? '', text: requestBody } }),
      headersSize: UNKNOWN,
      bodySize: UNKNOWN,
    },
    response: {
      status,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: headersOf(exchange.responseHeaders),
      content: { size: responseBody.length, mimeType: contentType, text: responseBody },
      redirectURL: '',
      headersSize: UNKNOWN,
      bodySize: UNKNOWN,
    },
    cache: {},
    timings: { send: 0, wait: milliseconds, receive: 0 },
  };
}

function headersOf(headers: Readonly<Record<string, string>>): Header[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}
