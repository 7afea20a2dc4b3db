/** Forms with files. The program handles their fields as text, like those of other forms, and converts them when it sends them. */
import { MULTIPART } from '../document/media-type.ts';
import type { RequestBody } from '../document/operation.ts';

const BOUNDARY = 'contract-test-boundary-7f3a9c';

export function isMultipart(body: Pick<RequestBody, 'mediaType'> | undefined): boolean {
  return body?.mediaType === MULTIPART;
}

/** The content type of a request. */
export function contentTypeOf({ mediaType }: Pick<RequestBody, 'mediaType'>): string {
  return mediaType === MULTIPART ? `${MULTIPART}; boundary=${BOUNDARY}` : mediaType;
}

/** File names by the type of the file, for services that look at the name. */
const EXTENSIONS: Readonly<Record<string, string>> = { 'text/plain': 'txt', 'application/octet-stream': 'txt', 'image/svg+xml': 'svg' };

/** The name of the file and the content type of a part; undefined for parts without them. */
export function partHeadOf(
  { fields }: Pick<RequestBody, 'fields'>,
  name: string,
): { readonly filename: string | undefined; readonly type: string | undefined } {
  const field = fields.get(name);
  const type = field?.contentType ?? (field?.isFile === true ? 'application/octet-stream' : undefined);
  if (type === undefined || field?.isFile !== true) return { filename: undefined, type };
  return { filename: `contract-test.${EXTENSIONS[type] ?? type.slice(type.indexOf('/') + 1)}`, type };
}

/** Converts a form to the parts of `multipart/form-data`. A file gets a name. */
export function toMultipart(body: Pick<RequestBody, 'fields'>, form: string): string {
  const parts = [...new URLSearchParams(form)].map(([name, value]) => {
    const { filename, type } = partHeadOf(body, name);
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const head = `Content-Disposition: form-data; name="${escapedName(name)}"${file}${type === undefined ? '' : `\r\nContent-Type: ${type}`}`;
    return `--${BOUNDARY}\r\n${head}\r\n\r\n${value}\r\n`;
  });
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}

/** Converts the parts that `toMultipart` wrote to a form again. */
export function fromMultipart(text: string): string {
  const pairs = text
    .split(`--${BOUNDARY}`)
    .slice(1, -1)
    .map((part): [string, string] => {
      const [head = '', ...rest] = part.split('\r\n\r\n');
      const name = /name="([^"]*)"/.exec(head)?.[1] ?? '';
      return [unquoted(name), rest.join('\r\n\r\n').slice(0, -2)];
    });
  return new URLSearchParams(pairs).toString();
}

/** Escapes a name as browsers do. */
function escapedName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function unquoted(name: string): string {
  return name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');
}
