/** Where to go after the sign-in: a path of this console, nothing else. */
export function nextOf(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/';
  const at = new URL(next, 'http://console.invalid');
  if (!next.startsWith('/') || at.origin !== 'http://console.invalid' || at.pathname === '/sign-in') return '/';
  return at.pathname + at.search + at.hash;
}
