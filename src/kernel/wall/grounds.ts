/** The grounds on which words leave: how new memory is, and those of calls that were given earlier. */
import { Refusal } from '../../errors.ts'
import type { Time } from '../lookups.ts'

export interface PermitGround {
  /**
   * Called before every attempt, and when the body is written.
   * @throws Refusal once a sighting or a setting forbids the body to leave, or that is not known
   */
  require: () => void
  /** Called before `require`: reads the store. @throws Refusal `postern_store_unwritable` */
  renew: () => Promise<void>
}

/** The part of a permit for a call that was given earlier: its ground is asked last. */
export interface LaterGround extends PermitGround {
  /** As `isForSealed` decided when it was given: then it never leaves readable. */
  isForSealed: boolean
}

/** The ground of a permit for a call that was given earlier. */
export const groundOf = (permit: PermitGround, later: LaterGround): PermitGround => ({
  require: () => {
    permit.require()
    later.require()
  },
  renew: async () => {
    await permit.renew()
    await later.renew()
  },
})

/**
 * Whether words that are given now are for sealed eyes: by the rule for a send that is made now, with
 * its freshness. Where there is none, or not by the `end` of the wait for it, they are.
 */
export async function isForSealed(
  chatId: number,
  guard: { rule: (chatId: number) => Promise<{ body: 'sealed' | 'readable' }> },
  end: Promise<unknown>,
): Promise<boolean> {
  const asked = guard.rule(chatId).then(({ body }) => body === 'sealed')
  return await Promise.race([asked.catch(() => true), end.then(() => true)])
}

/** A reading of the store counts as new for so long, in ms. */
export const JUST_NOW_MS = 500

/**
 * Whether memory is as any sidecar has written it, for one decision. All calls throw Refusal
 * `postern_store_unwritable`.
 */
export class Freshness {
  readonly #fresh: () => Promise<void>
  readonly #time: Time
  #atMs = -Infinity

  /** @param fresh reads what any sidecar has written (`Store.fresh`) */
  constructor(fresh: () => Promise<void>, time: Time) {
    this.#fresh = fresh
    this.#time = time
  }

  /**
   * Reads what any sidecar has written, where the last reading is not new. Call it at the beginning
   * of the decision, and after each wait for the service.
   */
  async renew(): Promise<void> {
    const nowMs = this.#time.monotonicMs()
    if (nowMs - this.#atMs < JUST_NOW_MS) return
    await this.#fresh()
    this.#atMs = nowMs
  }

  /** Refuses after a reading that is too old: the process was stopped, or waited for a connection. */
  requireWithin(ms: number): void {
    if (this.#time.monotonicMs() - this.#atMs < ms) return
    throw new Refusal(
      'postern_store_unwritable',
      'it took too long to send it since the store was asked, and nothing was sent',
    )
  }
}
