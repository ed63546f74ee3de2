/** What a published story says, as far as it is compared. */
export interface Content {
  story?: { acts?: { act: string }[] };
  acts?: Record<string, unknown>;
}

/** In what two revisions of a story differ. */
export interface Difference {
  added: string[];
  removed: string[];
  /** Acts of both that do something else. */
  changed: string[];
  /** The acts of both come in another order, or a setting of the story or of a step is another. */
  rearranged: boolean;
}

/** Compares what a robot has with what the fleet has. */
export function difference(has: Content, newest: Content): Difference {
  const steps = (c: Content) => (c.story?.acts ?? []).map((s) => s.act);
  const [a, b] = [steps(has), steps(newest)];
  const both = [...new Set(a.filter((x) => b.includes(x)))];
  const same = (x: unknown, y: unknown) => JSON.stringify(x) === JSON.stringify(y);
  const added = [...new Set(b.filter((x) => !a.includes(x)))];
  const removed = [...new Set(a.filter((x) => !b.includes(x)))];
  return {
    added,
    removed,
    changed: both.filter((x) => !same(has.acts?.[x], newest.acts?.[x])),
    rearranged: added.length + removed.length === 0 && !same(has.story, newest.story),
  };
}
