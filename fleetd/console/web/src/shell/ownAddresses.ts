/**
 * The addresses that a screen writes while a person fills its fields. A router that is busy shows an address late, when the
 * screen has written the next one: what it shows then is older than the fields, and must not be read into them.
 */
export class OwnAddresses {
  /** The address that is shown, and after it those that were written and are not shown yet. */
  private own: string[];

  constructor(shown: string) {
    this.own = [shown];
  }

  /** The address that will be shown once the router has caught up. */
  get newest(): string {
    return this.own.at(-1)!;
  }

  write(address: string): void {
    this.own.push(address);
  }

  /** Takes note of the address that is shown now; true if it is of a link or of a button of the browser. */
  isForeign(shown: string): boolean {
    const at = this.own.lastIndexOf(shown);
    this.own = at < 0 ? [shown] : this.own.slice(at);
    return at < 0;
  }
}
