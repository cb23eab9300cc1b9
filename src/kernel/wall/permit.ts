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

/** What a permit rests on: asked for by every permit, whatever it lets out. */
export interface PermitGround {
  /**
   * Read before every attempt, and when the body is written: false once something was learned that
   * forbids the body to leave.
   * @throws Refusal when that is not known any more
   */
  holds: () => boolean
  /**
   * Called before `holds`: brings what it rests on up to date.
   * @throws Refusal `postern_store_unwritable`
   */
  renew: () => Promise<void>
}

class Permit {
  readonly route: PermitTarget['route']
  readonly path: string
  /** The request body, JSON, as it is sent; the same bytes on every retry. */
  readonly body: Buffer
  readonly ground: PermitGround
  readonly #isIssued = true

  constructor(target: PermitTarget, body: Buffer, ground: PermitGround) {
    this.route = target.route
    this.path = target.path
    this.body = body
    this.ground = ground
  }

  static isReal(value: unknown): boolean {
    return typeof value === 'object' && value !== null && #isIssued in value && value.#isIssued
  }
}

/** A send or an edit that the guard let through. */
export type Outbound = Permit

/** Issues a permit. For the guard alone. */
export function issuePermit(target: PermitTarget, body: Buffer, ground: PermitGround): Outbound {
  return new Permit(target, body, ground)
}

/** True when the guard issued it; the upstream client asks before it sends. */
export const isOutbound = (value: unknown): value is Outbound => Permit.isReal(value)
