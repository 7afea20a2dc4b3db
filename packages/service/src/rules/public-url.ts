/**
 * Checks a configured base URL and removes its trailing slashes.
 *
 * @throws TypeError if it is not an http or https URL with only a scheme, a host and a path.
 */
export function publicUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const plain =
    url && (url.protocol === 'http:' || url.protocol === 'https:') && !url.search && !url.hash && !url.username && !url.password;
  if (!plain)
    throw new TypeError(
      `The public URL is '${text}'. Set it to the URL at which callers reach the service, such as https://api.example.com, without a query.`,
    );
  let base = url.href;
  while (base.endsWith('/')) base = base.slice(0, -1);
  return base;
}
