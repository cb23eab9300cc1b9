/** Calls that were given earlier: the readers of their words, and a ground of their permits. */

/** The ground of a permit. */
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
export function groundOf(permit: PermitGround, later: LaterGround): PermitGround {
  return {
    require: () => {
      permit.require()
      later.require()
    },
    renew: async () => {
      await permit.renew()
      await later.renew()
    },
  }
}

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
