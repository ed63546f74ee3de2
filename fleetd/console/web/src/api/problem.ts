/** One error or warning about a request or a document: where it is, and the way out. */
export interface Finding {
  in?: string;
  /** JSON Pointer (RFC 6901) into the request or document. */
  pointer: string;
  severity: string;
  code: string;
  detail: string;
  hint?: string;
  line?: number;
  column?: number;
}

/** The body of every error answer of fleetd (RFC 9457). */
interface Body {
  type?: string;
  title?: string;
  detail?: string;
  hint?: string;
  errors?: Finding[];
  count?: number;
  confirm?: string;
}

/** A request that fleetd refused or did not answer. Its message and hint are for people. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hint: string,
    readonly findings: Finding[],
    /** What a person must confirm first: how many robots it would affect, and the names to send. */
    readonly needs: { count?: number; confirm?: string } = {},
  ) {
    super(message);
  }

  /** Reads a problem document (RFC 9457); an answer without one becomes a problem too. */
  static async of(response: Response): Promise<Problem> {
    try {
      const body = (await response.clone().json()) as Body;
      const kind = (body.type ?? '').split('/').pop() ?? '';
      return new Problem(
        response.status,
        kind,
        body.detail || body.title || response.statusText,
        body.hint ?? '',
        body.errors ?? [],
        {
          count: body.count,
          confirm: body.confirm,
        },
      );
    } catch {
      return new Problem(response.status, '', `fleetd answered ${response.status} ${response.statusText}`, '', []);
    }
  }

  static unreachable(): Problem {
    return new Problem(
      0,
      'unreachable',
      'fleetd does not answer',
      'check the network, and whether fleetd runs; robots continue without it',
      [],
    );
  }

  get signInRequired(): boolean {
    return this.status === 401;
  }

  /** It would have reached another number of robots than a person agreed to; nothing was done. */
  get numberChanged(): boolean {
    return this.kind === 'count-changed';
  }

  /** fleetd, or a proxy before it, does not answer at the moment: the same request may succeed soon. */
  get transient(): boolean {
    return this.kind === 'unreachable' || this.status >= 500 || this.status === 429;
  }

  get forbidden(): boolean {
    return this.status === 403;
  }
}

/** The problem of any thrown value. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  return new Problem(0, 'page', thrown instanceof Error ? thrown.message : String(thrown), '', []);
}
