import type { Cue } from '../../live/performed';
import { begunBetween, runningAt } from './preview';

/** Plays what a cue makes heard, from so many ms after its start; returns how to end it. */
export type Hear = (cue: Cue, from: number) => (() => void) | undefined;

/** A cursor on a timeline that moves by itself while it plays. What begins under it is heard. */
export class Player {
  ms = 0;
  playing = false;
  private cues: readonly Cue[] = [];
  private length = 0;
  private hear: Hear = () => undefined;
  private readonly heard = new Set<() => void>();
  private readonly listeners = new Set<() => void>();
  private frame = 0;

  readonly subscribe = (changed: () => void) => {
    this.listeners.add(changed);
    return () => void this.listeners.delete(changed);
  };

  /** Takes what is played from now on, such as after a change of the draft. */
  load(cues: readonly Cue[], length: number, hear: Hear): void {
    this.cues = cues;
    this.length = length;
    this.hear = hear;
  }

  seek(ms: number): void {
    const goesOn = this.playing;
    this.pause();
    this.ms = Math.max(0, ms);
    if (goesOn && this.ms < this.length) this.play();
    this.tell();
  }

  play(): void {
    if (this.playing || this.length === 0) return;
    if (this.ms >= this.length) this.ms = 0;
    this.playing = true;
    for (const c of runningAt(this.cues, this.ms)) this.begin(c, this.ms - c.start);
    const began = performance.now() - this.ms;
    this.frame = requestAnimationFrame(
      function next(this: Player, now: number) {
        const at = Math.max(this.ms, now - began);
        for (const c of begunBetween(this.cues, this.ms, at)) this.begin(c, at - c.start);
        this.ms = at;
        if (at >= this.length) {
          this.pause();
          this.ms = 0;
        } else this.frame = requestAnimationFrame(next.bind(this));
        this.tell();
      }.bind(this),
    );
    this.tell();
  }

  pause(): void {
    cancelAnimationFrame(this.frame);
    this.playing = false;
    for (const end of this.heard) end();
    this.heard.clear();
    this.tell();
  }

  private begin(c: Cue, from: number): void {
    const end = this.hear(c, from);
    if (end) this.heard.add(end);
  }

  private tell(): void {
    for (const changed of this.listeners) changed();
  }
}

/** Speaks by a voice of the browser for the language; undefined if it has none: the words are only shown then. */
export function speak(cue: Cue): (() => void) | undefined {
  const speech = window.speechSynthesis as SpeechSynthesis | undefined;
  const voice = speech?.getVoices().find((v) => v.lang.split(/[-_]/)[0] === cue.lang.split('-')[0]);
  if (!speech || !voice || !cue.words) return undefined;
  const words = new SpeechSynthesisUtterance(cue.words);
  words.lang = cue.lang;
  words.voice = voice;
  words.rate = Number(cue.action.rate) || 1;
  speech.speak(words);
  return () => speech.cancel();
}

/** Plays a sound from its bytes at an address. */
export function playSound(address: string, cue: Cue, from: number): () => void {
  const audio = new Audio(address);
  audio.volume = Math.min(1, Math.max(0, Number(cue.action.volume ?? 1)));
  audio.loop = cue.action.loop === true;
  audio.currentTime = from / 1000;
  void audio.play().catch(() => undefined); // a browser may forbid it before the first press
  const timer = setTimeout(() => audio.pause(), cue.end - cue.start - from);
  return () => {
    clearTimeout(timer);
    audio.pause();
  };
}
