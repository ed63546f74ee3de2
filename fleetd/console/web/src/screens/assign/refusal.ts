/** A robot's reason with the place of the fault in words, such as desk-tour, action 2, Point; its code stays at the end. */
export function refusalText(
  reason: string | undefined,
  field: (name: string) => string,
  action: (n: number) => string,
): string | undefined {
  const found = /^([a-z_]+): \/acts\/([^/:]+)((?:\/actions\/\d+)*)(?:\/([a-z_]+))?: (.*)$/s.exec(reason ?? '');
  if (!found) return reason;
  const [, code, act, path, name, text] = found;
  const actions = [...path!.matchAll(/\d+/g)].map((n) => action(Number(n[0]) + 1));
  return `${[act, ...actions, name && field(name)].filter(Boolean).join(', ')}: ${text} (${code})`;
}
