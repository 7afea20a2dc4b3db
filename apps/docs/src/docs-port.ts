/** The port of the documentation site: `DOCS_PORT`, or 4030. @throws Error if it is not a port. */
export function docsPort(): number {
  const text = process.env['DOCS_PORT'] ?? '';
  if (text === '') return 4030;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new Error(`DOCS_PORT is '${text}'. It must be a whole number from 0 to 65535, where 0 picks a free port.`);
  }
  return port;
}
