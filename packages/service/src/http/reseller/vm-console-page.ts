/** The page with the console of a VM. The script gets the secret from the fragment of the address, which browsers send to no server. */

export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<script type="module" src="page.js"></script>
</head>
<body>
<header><output role="status">Connecting…</output> <button type="button" disabled>Ctrl+Alt+Del</button></header>
<main aria-label="Screen of the VM"></main>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`;

export const STYLES = `html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; background: #111; color: #eee; font: 14px/1.4 system-ui, sans-serif; }
header { display: flex; gap: 1rem; align-items: center; justify-content: space-between; padding: 0.5rem 1rem; background: #222; }
button { min-height: 2.75rem; padding: 0 1rem; font: inherit; }
main { flex: 1; min-height: 0; }
`;

export const SCRIPT = `import RFB from './novnc/core/rfb.js';

const status = document.querySelector('output');
const button = document.querySelector('button');
const secret = location.hash.slice(1);
// The link opens one session, so the secret has no place in the history.
history.replaceState(null, '', location.pathname);
const address = new URL('session', location.href);
address.protocol = address.protocol.replace('http', 'ws');

if (/^rsw_[A-Za-z0-9]+$/.test(secret)) {
  const channel = new WebSocket(address, ['binary', secret]);
  let opened = false;
  channel.addEventListener('open', () => (opened = true));
  channel.addEventListener('close', ({ reason }) => {
    status.textContent = reason || (opened ? 'The connection has ended.' : 'This link was used or has expired.') + ' Get a new link.';
    button.disabled = true;
  });
  const rfb = new RFB(document.querySelector('main'), channel);
  rfb.scaleViewport = true;
  rfb.addEventListener('connect', () => {
    status.textContent = 'Connected';
    button.disabled = false;
    rfb.focus();
  });
  button.addEventListener('click', () => {
    rfb.sendCtrlAltDel();
    rfb.focus();
  });
} else {
  status.textContent = 'Open the link exactly as POST /vm/{vmid}/console returned it.';
}
`;
