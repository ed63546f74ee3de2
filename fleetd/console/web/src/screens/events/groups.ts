/** A line of a list: one row, or several that have one cause at several robots. */
export interface Group<T> {
  key: string;
  rows: T[];
}

/**
 * Rows with one cause beside each other, in the order of their first. Rows are of one group while no more than `within` ms
 * lie between two of them, so what happens again hours later is a line of its own.
 */
export function grouped<T>(rows: readonly T[], cause: (row: T) => string, at: (row: T) => number, within: number) {
  const groups: Group<T>[] = [];
  const open = new Map<string, Group<T>>();
  for (const row of rows) {
    const key = cause(row);
    const group = open.get(key);
    if (group && Math.abs(at(group.rows.at(-1)!) - at(row)) <= within) {
      group.rows.push(row);
      continue;
    }
    const next = { key, rows: [row] };
    open.set(key, next);
    groups.push(next);
  }
  // Newer rows come in front, so the last one names the group as long as it is there.
  for (const g of groups) g.key = `${g.key} ${at(g.rows.at(-1)!)}`;
  return groups;
}

const numbered = /^(.*?)(0|[1-9]\d*)$/;

/** Names in a few words: r1, r2 and r3 are r1-r3. Of more than `most` parts it counts the others. */
export function names(all: readonly string[], most = 8): string {
  const of = [...new Set(all)]
    .map((text) => {
      const m = numbered.exec(text);
      return { text, prefix: m?.[1] ?? text, n: m ? Number(m[2]) : -1 };
    })
    .sort((a, b) => (a.prefix < b.prefix ? -1 : a.prefix > b.prefix ? 1 : a.n - b.n));
  const parts: string[] = [];
  let others = 0;
  for (let i = 0; i < of.length;) {
    let end = i + 1;
    while (end < of.length && of[i]!.n >= 0 && of[end]!.prefix === of[i]!.prefix && of[end]!.n === of[end - 1]!.n + 1)
      end++;
    if (end - i < 3) end = i + 1;
    if (parts.length >= most) others += end - i;
    else parts.push(end - i > 1 ? `${of[i]!.text}-${of[end - 1]!.text}` : of[i]!.text);
    i = end;
  }
  return parts.join(', ') + (others > 0 ? ` +${others}` : '');
}
