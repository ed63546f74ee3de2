/** A control with the line of the command line that does the same. */
interface Control {
  dataset: { line?: string; what?: string };
  textContent: string | null;
}

/** The lines of controls, each below its name as a comment of a shell; equal ones once. */
export function linesOf(controls: Iterable<Control>): string[] {
  const lines = [...controls].map(
    (c) => `# ${(c.dataset.what || c.textContent || '').trim()}\n${c.dataset.line ?? ''}`,
  );
  return [...new Set(lines)];
}
