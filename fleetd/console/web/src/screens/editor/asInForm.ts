/** A text of fleetd with the names of actions instead of their pointers, and with seconds, as the form has them. */
export const asInForm = (text: string, name: (pointer: string) => string): string =>
  text
    .replace(/(?:\/actions\/\d+)+/g, (pointer) => `“${name(pointer)}”`)
    .replace(/(\d+) ms\b/g, (_, ms: string) => `${Number(ms) / 1000} s`);
