import type { Proof, Section } from './spec/statements.ts'
import type { Stage, Way } from './stage.ts'

/** What a case cannot do without. A live account has the first two at most. */
export type Need =
  /** A private chat that the bot may write into. */
  | 'private chat'
  /** A group that the bot may write into. */
  | 'group'
  /** People who write, press, block and leave, and whose phones are read. */
  | 'people'
  /** Rooms made to measure, and other bots. */
  | 'rooms'
  /** The owner's console, and an account whose token, key, commands and webhook may change. */
  | 'owner'
  /** Time that can be moved, and rate windows that may be used up. */
  | 'clock'
  /** A service for which the host names resolve as in ways/host-names.ts. */
  | 'host names'

/** One rule of the specification, tested by the calls of a bot. */
export interface Case {
  /** What holds, in a plain sentence. */
  name: string
  /** Its heading in the specification. */
  section: Section
  /** The sentences and table rows that it shows to hold. */
  proves: readonly Proof[]
  needs: readonly Need[]
  /** Ways in which alone it can be played, and why. */
  only?: { ways: readonly Way[]; because: string }
  /** `local`: webhooks may be at addresses of this machine. */
  webhooks?: 'local'
  /** @throws AssertionError when it does not hold */
  run(stage: Stage): Promise<void>
}

type RunInChat = (stage: Stage, chatId: number) => Promise<void>
const inChat =
  (chatOf: (stage: Stage) => Promise<number>) =>
  (run: RunInChat): Case['run'] =>
  async (stage) =>
    await run(stage, await chatOf(stage))

/** A run in the group that the bot may write into. */
export const inGroup = inChat((stage) => stage.group())
/** A run in the private chat that the bot may write into. */
export const inPrivateChat = inChat((stage) => stage.privateChat())
/** A run in a group of its own. */
export const inRoom = inChat((stage) => stage.room())

/** Cases under one heading, by their names. */
export function casesOf(
  section: Section,
  cases: Record<string, Omit<Case, 'name' | 'section' | 'needs'> & { needs?: readonly Need[] }>,
): readonly Case[] {
  return Object.entries(cases).map(([name, one]) => ({ needs: [], ...one, name, section }))
}

/** Why a case is not played in a way, or null. */
export function whyNot(one: Case, way: Way, has: ReadonlySet<Need>): string | null {
  if (one.only !== undefined && !one.only.ways.includes(way)) return one.only.because
  const missing = one.needs.filter((need) => !has.has(need))
  return missing.length === 0 ? null : `needs ${missing.join(', ')}`
}
