/** Requests that no HTTP library would send, written to a socket as they are. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A request line with headers, for a connection that ends with the response. */
export function requestText(line: string, headers: readonly string[] = [], body = ''): string {
  return [line, ...headers, 'Connection: close', '', body].join('\r\n');
}

/** Sends bytes to the host of a URL and reads the response. */
export async function exchange(url: string, bytes: string): Promise<RawResponse> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  // The server may close the connection before it has read everything.
  socket.on('error', () => {});
  socket.write(bytes);
  const response = await text(socket);
  const end = response.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = response.slice(0, end).split('\r\n');
  const headers = lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]);
  return { status: Number(statusLine.split(' ')[1]), headers: new Headers(headers), text: response.slice(end + 4) };
}
