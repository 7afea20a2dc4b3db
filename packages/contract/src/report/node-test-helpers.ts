/** The functions that exported tests share. A test contains those that it uses. */
export const HELPERS: readonly { readonly name: string; readonly source: string }[] = [
  {
    name: 'normal',
    source: `// Services may trim texts, and change their case, Unicode form and notation of times.
function normal(value) {
  const text = typeof value === 'string' ? value.normalize('NFC').trim().toLowerCase() : value;
  return typeof text === 'string' && /^\\d{4}-\\d\\d-\\d\\dt/.test(text) ? Date.parse(text) : text;
}
`,
  },
  {
    name: 'namesIn',
    source: `// How many members the text has, also those that JSON.parse drops because their name is repeated.
function namesIn(text) {
  return [...text.matchAll(/"(?:[^"\\\\]|\\\\.)*"(\\s*:)?/g)].filter(([, colon]) => colon !== undefined).length;
}
`,
  },
  {
    name: 'membersOf',
    source: `function membersOf(value) {
  if (typeof value !== 'object' || value === null) return 0;
  const below = Object.values(value).reduce((sum, item) => sum + membersOf(item), 0);
  return below + (Array.isArray(value) ? 0 : Object.keys(value).length);
}
`,
  },
  {
    name: 'isType',
    source: `function isType(value, type) {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  return typeof value === type && value !== null && !Array.isArray(value);
}
`,
  },
  {
    name: 'typed',
    source: `// The value of a header as JSON would write it.
function typed(text) {
  if (text === null) return undefined;
  return /^(?:-?\\d+(?:\\.\\d+)?|true|false)$/.test(text) ? JSON.parse(text) : text;
}
`,
  },
  {
    name: 'at',
    source: `// The value at a JSON pointer.
function at(value, pointer) {
  const names = pointer.split('/').slice(1).map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce((found, name) => (Object.hasOwn(Object(found), name) ? found[name] : undefined), value);
}
`,
  },
  {
    name: 'send',
    source: `async function send({ method, path, headers, body }) {
  const response = await fetch(target.replace(/\\/$/, '') + path, { method, headers, body, redirect: 'manual' });
  const mediaType = (response.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase();
  const result = { status: response.status, isSuccess: response.ok, headers: response.headers, mediaType, text: '' };
  try {
    result.text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
  } catch (error) {
    return { ...result, cut: error.message };
  }
  try {
    return { ...result, json: JSON.parse(result.text.replace(/^\\uFEFF/, '')) };
  } catch {
    return result;
  }
}
`,
  },
];
