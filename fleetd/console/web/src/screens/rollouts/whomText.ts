/** Which robots a selector in fleetd's text form selects, for people; what is more than labels or names stays as it is. */
export function whomText(selector: string, everyone: string): string {
  if (selector === '--all') return everyone;
  if (/^(-l [^\s=]+=\S+ ?)+$/.test(selector))
    return [...selector.matchAll(/-l ([^\s=]+)=(\S+)/g)].map(([, key, value]) => `${key} ${value}`).join(', ');
  return /(^|\s)-/.test(selector) ? selector : selector.split(' ').join(', ');
}
