/**
 * The path below which a proxy shows this console, such as /troupe; empty if it is at the top. What is built is one folder
 * below it.
 */
export const base = import.meta.env.PROD ? new URL('..', import.meta.url).pathname.slice(0, -1) : '';

/** An address of fleetd, for what neither the router nor the typed client makes. */
export const addressOf = (path: string): string => base + path;
