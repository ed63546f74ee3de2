/** Why the provider's sign-in was refused, by the reason in the address; nothing without a known one. */
export function refusalOf(refusals: Record<string, string>, search: string): string | undefined {
  const reason = new URLSearchParams(search).get('refused');
  return reason !== null && Object.hasOwn(refusals, reason) ? refusals[reason] : undefined;
}
