/** ms from which people are warned, and above which nothing is driven, as at fleetd. */
export const warnAt = 300;
export const zeroAt = 800;

/** The latency of driving: from a frame's departure to its echo, with the way from fleetd to the robot and back. */
export class Latency {
  private trip = 0;
  private robot = 0;
  private waiting: number | undefined; // when the oldest frame without an echo was sent
  private sent: number[] = [];

  /** A frame leaves. */
  frame(t: number): void {
    this.sent.push(t);
    this.waiting ??= t;
    if (this.sent.length > 200) this.sent.shift();
  }

  /** The echo of the frame that left at t. */
  echo(t: number, robotMS: number, now: number): void {
    this.trip = now - t;
    this.robot = robotMS;
    this.sent = this.sent.filter((at) => at > t);
    this.waiting = this.sent[0];
  }

  /** ms between this page and fleetd: of the newest echo, or for how long one is missing. */
  toFleetd(now: number): number {
    return this.waiting === undefined ? this.trip : Math.max(this.trip, now - this.waiting);
  }

  /** ms of the whole way. */
  total(now: number): number {
    return this.toFleetd(now) + this.robot;
  }
}
