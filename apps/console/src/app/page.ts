/** Pages that are loaded when they are opened. */
import { lazy } from 'react';
import type { ComponentType } from 'react';

const RETRY_MS = 1_000;

interface Loaded<Props> {
  readonly default: ComponentType<Props>;
}

/**
 * A page whose module cannot be loaded, because the service is away or was upgraded, comes back with a reload of the document: a browser
 * remembers that an import failed, and fails the next one without a request. Nothing typed is lost, because the page was about to open.
 */
export function page<Props>(load: () => Promise<Loaded<Props>>) {
  return lazy(async () => {
    try {
      const loaded = await load();
      markReloaded(false);
      return loaded;
    } catch (error) {
      // The document is fresh, so the service does not have the page.
      if (isReloaded()) throw error;
      await untilReachable();
      markReloaded(true);
      globalThis.location.reload();
      // React shows the fallback until the document is replaced.
      return new Promise<Loaded<Props>>(() => {});
    }
  });
}

/** The state of the entry in the history survives a reload, and another page has another entry. */
function isReloaded(): boolean {
  return Object(globalThis.history.state).isReloaded === true;
}

function markReloaded(isMarked: boolean): void {
  if (isReloaded() !== isMarked) globalThis.history.replaceState({ ...Object(globalThis.history.state), isReloaded: isMarked }, '');
}

async function untilReachable(): Promise<void> {
  while (!(await isReachable())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

async function isReachable(): Promise<boolean> {
  try {
    const { ok } = await fetch(globalThis.location.pathname, { cache: 'no-store' });
    return ok;
  } catch {
    return false;
  }
}
