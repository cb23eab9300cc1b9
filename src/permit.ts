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
  /** Asked before every attempt: false once something was learned that forbids it. */
  readonly mayLeave: () => boolean
  readonly #isIssued = true

  constructor(target: PermitTarget, body: Buffer, mayLeave: () => boolean) {
    this.route = target.route
    this.path = target.path
    this.body = body
    this.mayLeave = mayLeave
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
): Outbound {
  return new Permit(target, body, mayLeave)
}

/** True when the guard issued it; the upstream client asks before it sends. */
export const isOutbound = (value: unknown): value is Outbound => Permit.isReal(value)
