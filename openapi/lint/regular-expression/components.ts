interface Visit {
  readonly node: number;
  readonly next: Iterator<number>;
}

/**
 * The strongly connected components of a graph that have a cycle (Tarjan's algorithm, without recursion).
 *
 * @returns the component of each node that lies on a cycle
 */
export function cyclesOf(nodes: Iterable<number>, next: (node: number) => Iterable<number>): ReadonlyMap<number, number> {
  const index = new Map<number, number>();
  const low = new Map<number, number>();
  const open: number[] = [];
  const isOpen = new Set<number>();
  const components = new Map<number, number>();
  const visits: Visit[] = [];
  function enter(node: number): void {
    index.set(node, index.size);
    low.set(node, index.size - 1);
    open.push(node);
    isOpen.add(node);
    visits.push({ node, next: next(node)[Symbol.iterator]() });
  }
  function lower(node: number, to: number | undefined): void {
    low.set(node, Math.min(low.get(node) ?? Infinity, to ?? Infinity));
  }
  function close(node: number): void {
    const members = open.splice(open.lastIndexOf(node));
    for (const member of members) isOpen.delete(member);
    const isCycle = members.length > 1 || [...next(node)].includes(node);
    if (isCycle) for (const member of members) components.set(member, node);
  }
  for (const start of nodes) {
    if (!index.has(start)) enter(start);
    for (let visit = visits.at(-1); visit; visit = visits.at(-1)) {
      const { value, done } = visit.next.next();
      if (done !== true) {
        if (!index.has(value)) enter(value);
        else if (isOpen.has(value)) lower(visit.node, index.get(value));
        continue;
      }
      visits.pop();
      const parent = visits.at(-1);
      if (parent) lower(parent.node, low.get(visit.node));
      if (low.get(visit.node) === index.get(visit.node)) close(visit.node);
    }
  }
  return components;
}
