/**
 * A permit of the guard: the only thing that the upstream client sends for a send or an edit
 * (DESIGN: The guard). `translate/guard.ts` alone issues permits; a test keeps it so.
 */

/** Where a body goes. */
export interface PermitTarget {
  /** `send` is POST /messages, `edit` is PATCH /messages/{id}. */
  route: 'send' | 'edit'
  /** Path below the API prefix, encoded. */
  path: string
}

class Permit {
  readonly route: PermitTarget['route']
  readonly path: string
  /** The request body, JSON, as it is sent; the same bytes on every retry. */
  readonly body: Buffer
  /**
   * Asked before every attempt, and when it is written: false once something was learned that
   * forbids it.
   * @throws Refusal when it is not known any more
   */
  readonly mayLeave: () => boolean
  /**
   * Called before that: brings what it rests on up to date.
   * @throws Refusal `postern_store_unwritable`
   */
  readonly renew: () => Promise<void>
  readonly #isIssued = true

  constructor(
    target: PermitTarget,
    body: Buffer,
    { mayLeave, renew }: { mayLeave: () => boolean; renew: () => Promise<void> },
  ) {
    this.route = target.route
    this.path = target.path
    this.body = body
    this.mayLeave = mayLeave
    this.renew = renew
  }

  static isReal(value: unknown): boolean {
    return typeof value === 'object' && value !== null && #isIssued in value && value.#isIssued
  }
}

/** A send or an edit that the guard let through. */
export type Outbound = Permit

/** Issues a permit. For the guard alone. */
export function issuePermit(
  target: PermitTarget,
  body: Buffer,
  mayLeave = (): boolean => true,
  renew: () => Promise<void> = () => Promise.resolve(),
): Outbound {
  return new Permit(target, body, { mayLeave, renew })
}

/** True when the guard issued it; the upstream client asks before it sends. */
export const isOutbound = (value: unknown): value is Outbound => Permit.isReal(value)
