/**
 * The document of a page, with the server of the page as its first address. It replaces the server with the same description.
 * The browser loads this file unchanged, before the page's own script.
 */
// oxlint-disable-next-line no-unused-vars -- The page's script calls it.
function withOwnServer(specification, page) {
  const own = globalThis.ownServers[page];
  if (own === undefined) return specification;
  const others = specification.servers.filter(({ url, description }) => url !== own.url && description !== own.description);
  return { ...specification, servers: [own, ...others] };
}
