/** Runs a read once for all callers that request the same at the same time. */
export type ShareRead = (name: string, read: () => Promise<number>) => Promise<number>;

interface Line {
  running: Promise<number>;
  /** For callers that arrived after the running read had begun, so that they see what was committed before. */
  next: Promise<number> | undefined;
}

export function sharedReads(): ShareRead {
  const lines = new Map<string, Line>();

  function begin(name: string, line: Line | undefined, read: () => Promise<number>): Promise<number> {
    const running = read();
    const begun = line ?? { running, next: undefined };
    begun.running = running;
    begun.next = undefined;
    lines.set(name, begun);
    function end(): void {
      if (begun.running === running && !begun.next) lines.delete(name);
    }
    running.then(end, end);
    return running;
  }

  return (name, read) => {
    const line = lines.get(name);
    if (!line) return begin(name, undefined, read);
    function start() {
      return begin(name, line, read);
    }
    return (line.next ??= line.running.then(start, start));
  };
}
