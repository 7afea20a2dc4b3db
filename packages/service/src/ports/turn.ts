/**
 * The turn of a call among those about the same thing: a VM, a domain, a server. A call that was
 * meant later has a higher number, whichever node makes it; the same call made once more has the same.
 *
 * Calls may reach what is behind a port later than they were meant: the service gave one up after
 * its time limit and undid it, or a node was taken for dead and woke up, or a network kept a request.
 * So **whoever writes a port has it refuse what is late**: it keeps the highest number that it has
 * carried out for each thing, as durably as the thing itself, and rejects a call with a lower number
 * without doing anything. Numbers of one thing go on after it was removed, so they are kept then, too.
 * A port that rejects so is never the worse for it: whatever made the newer call has settled what the
 * older one was about.
 *
 * Numbers are positive integers below 2^53, with gaps.
 */
export type Turn = number;
