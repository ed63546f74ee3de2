/** One line of a comparison: kept, removed or added. */
export interface Line {
  change: ' ' | '-' | '+';
  text: string;
}

const scalar = (v: unknown) => (typeof v === 'string' && /^[\w][\w .,!?'-]*$/.test(v) ? v : JSON.stringify(v));

/** A value as lines that people read, like YAML: a field or an entry of a list in each. */
export function lines(v: unknown, indent = ''): string[] {
  if (Array.isArray(v)) {
    return v.flatMap((e) => {
      const inner = lines(e, `${indent}  `);
      return inner.length > 0 ? [`${indent}- ${inner[0]!.trimStart()}`, ...inner.slice(1)] : [];
    });
  }
  if (v === null || typeof v !== 'object') return [`${indent}${scalar(v)}`];
  return Object.entries(v).flatMap(([k, e]) => {
    if (e === null || typeof e !== 'object') return [`${indent}${k}: ${scalar(e)}`];
    return [`${indent}${k}:`, ...lines(e, `${indent}  `)];
  });
}

/** Compares two lists of lines by their longest common subsequence. */
export function diff(a: readonly string[], b: readonly string[]): Line[] {
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const out: Line[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) (out.push({ change: ' ', text: a[i++]! }), j++);
    else if (j >= b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      out.push({ change: '-', text: a[i++]! });
    else out.push({ change: '+', text: b[j++]! });
  }
  return out;
}

/** Leaves only the changes with a few lines around each. */
export function context(all: readonly Line[], around = 3): (Line | undefined)[] {
  const near = all.map((_, n) => all.slice(Math.max(0, n - around), n + around + 1).some((l) => l.change !== ' '));
  return all.flatMap((l, n) => (near[n] ? [l] : near[n - 1] ? [undefined] : []));
}
