/**
 * The packages with Node's binaries name their platform as text ("os": "linux"), where pnpm reads only lists. Without the list it would
 * install the binaries of every system.
 */
function readPackage(manifest) {
  if (!/^node-(?:bin-)?(?:linux|darwin|win)-/.test(manifest.name)) return manifest;
  return { ...manifest, os: [manifest.os].flat(), cpu: [manifest.cpu].flat() };
}

export const hooks = { readPackage };
