/** Permits as the guard issues them, for tests of what sends them. */
import { Guard } from '../../src/kernel/wall/guard.ts'
import type { GuardParts, Outbound, PermitTarget } from '../../src/kernel/wall/guard.ts'
import { SYSTEM_TIME } from '../../src/util/clock.ts'

const OPEN_CHANNEL = { kind: 'channel', mode: 'open', historyVisible: true } as const

/** A guard that knows of every chat what `isLatched` says, and otherwise an open channel. */
const guardOf = (isLatched: () => boolean, more: Partial<GuardParts> = {}): Guard =>
  new Guard({
    time: SYSTEM_TIME,
    fresh: () => Promise.resolve(),
    freshForMs: Infinity,
    knownChats: { isLatched, isPrivate: () => false, get: () => undefined },
    modes: { get: () => Promise.resolve(OPEN_CHANNEL) },
    ownsKey: () => true,
    sealsForBot: true,
    readableGroups: 'allow',
    chatMaxAgeMs: 0,
    ...more,
  } as unknown as GuardParts)

/** A permit for the buttons of a message, which nothing ends. */
export const markupPermit = (target: PermitTarget): Outbound =>
  guardOf(() => false).permitMarkup(target, { chatId: 5, markup: { rows: [] } })

/**
 * A permit for readable text, until `holds` is false: the chat was seen protected.
 * @param more `fresh`, and a `time` by which it is called
 */
export async function readablePermit(
  target: PermitTarget,
  holds: () => boolean,
  more: Partial<Pick<GuardParts, 'fresh' | 'time'>> = {},
): Promise<Outbound> {
  const guard = guardOf(() => !holds(), more)
  return guard.permitReadable(await guard.rule(5), target, { chatId: 5, text: 'words' })
}
