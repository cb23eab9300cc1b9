import { isDeepStrictEqual } from 'node:util'
import { PosternError } from '../../errors.ts'
import { ControlError } from '../api-error.ts'
import type { Control } from '../control/table.ts'
import type { ScreenMessage } from '../phone/screen.ts'
import { replaceReferences, type FoundReference } from '../seed/walk.ts'
import { readSeed } from '../seed/read.ts'
import type { Seed, SeedInput } from '../seed/schema.ts'
import { ScenarioStep } from './step.ts'

/** How a scenario is played. */
export interface PlayOptions {
  /** How long a step waits for the bot, in ms of real time; 15,000 by default. */
  withinMs?: number
}

/** The bot did not do what a step expects. */
export class ScenarioError extends PosternError {
  readonly code = 'scenario_differs'
  /** Which step, counted from 1. */
  readonly step: number
  /** Its action, such as `expect`. */
  readonly action: string

  constructor(at: { step: number; action: string }, problem: string) {
    super(`step ${at.step} (${at.action}): ${problem}`)
    this.step = at.step
    this.action = at.action
  }
}

/** The phone and chat of a step, by their ids. */
type InChat = Record<'userId' | 'chatId', number>

const WITHIN_MS = 15_000
/** The longest wait of a step for the limits of the service, in ms. */
const LONGEST_MS = 300_000
/** The longest wait of one call of `inbox`, in ms. */
const LONGEST_WAIT_MS = 60_000
/** As `after` of `inbox`: no entry yet. */
const NEWEST = Number.MAX_SAFE_INTEGER

/**
 * Plays the `steps` of a seed in a sandbox while the bot runs: people write and press buttons, and
 * their phones have to show the expected messages of the bot. A step waits for its message or
 * button, and as long as the service delays a bot by 429. Its faults end with the scenario.
 * @param control `sandbox.control`, or `createControlClient(controlUrl)`
 * @throws SeedError with all problems of the file; ScenarioError for the first step that differs;
 *   ControlError if a person, bot or chat is missing
 */
export async function playScenario(
  control: Control,
  input: SeedInput,
  { withinMs = WITHIN_MS }: PlayOptions = {},
): Promise<void> {
  const { steps, ...world } = readSeed(input)
  const player = createPlayer(control, withinMs)
  await player.prepare(world)
  try {
    for (const [index, { as, ...only }] of steps.entries()) {
      const [[action, given = {}] = ['']] = Object.entries(only)
      await player.perform({ step: index + 1, action }, given, as)
    }
  } finally {
    await player.endFaults()
  }
}

function createPlayer(control: Control, withinMs: number) {
  /** By kind and name. */
  const ids = new Map<string, number>()
  /** `chatId:messageId` of messages from before the scenario. */
  const before = new Set<string>()
  /** The same of messages that met an expectation. */
  const met = new Set<string>()
  const faults: number[] = []

  /** Finds people, bots and chats. @throws ControlError if one is missing */
  async function prepare({ people, bots, chats }: Omit<Seed, 'steps'>): Promise<void> {
    const accounts = [...(await control.people()), ...(await control.bots())]
    const rooms = await control.chats()
    for (const handle of [...Object.keys(people), ...Object.keys(bots)]) {
      const account = accounts.find(({ username }) => username === handle)
      ids.set(`account ${handle}`, account?.id ?? notHere(`@${handle}`))
    }
    for (const [name, chat] of Object.entries(chats)) {
      const isPrivate = chat.kind === 'private'
      const pair = isPrivate ? [chat.person, chat.bot].map((one) => idOf('account', one)) : []
      const title = isPrivate ? null : chat.title
      const { id } =
        rooms.find((one) => one.name === name) ??
        rooms.find((one) =>
          isPrivate
            ? one.kind === 'private' && pair.every((member) => one.members.includes(member))
            : one.title === title,
        ) ??
        notHere(`chat ${name}`)
      ids.set(`chat ${name}`, id)
      for (const message of await control.messages({ chatId: id })) {
        before.add(keyOf(id, message.id))
      }
    }
  }

  /** @param as a name for its message */
  async function perform(
    at: { step: number; action: string },
    given: object,
    as: string | undefined,
  ): Promise<void> {
    const schema = ScenarioStep.shape[at.action as keyof typeof ScenarioStep.shape]
    const input = replaceReferences(schema, given as never, (found) => replace(found))
    try {
      const messageId = await run(at.action, input)
      if (as !== undefined && messageId !== undefined) ids.set(`step ${as}`, messageId)
    } catch (error) {
      const isAbout = error instanceof Difference || error instanceof ControlError
      throw isAbout ? new ScenarioError(at, error.message) : error
    }
  }

  async function endFaults(): Promise<void> {
    for (const id of faults) await control.clearFaults({ id })
  }

  function idOf(kind: string, name: string): number {
    return ids.get(`${kind} ${name}`) ?? Number.NaN
  }

  function replace({ kind, name }: FoundReference): number | string {
    if (kind === 'scope') return name.replace(/^chat:(.*)/, (_, of) => `chat:${idOf('chat', of)}`)
    return idOf(kind === 'chat' || kind === 'step' ? kind : 'account', name)
  }

  /** @returns the id of its message; undefined for an action without one */
  async function run(action: string, input: Record<string, unknown>): Promise<number | undefined> {
    if (action === 'expect') return await expect(input as never)
    if (action === 'press') return await press(input as never)
    if (action === 'fault') return await fault(input)
    const operation = control[action as keyof Control] as (given: object) => Promise<unknown>
    return ((await operation(input)) as { messageId?: number }).messageId
  }

  async function fault({ certificateOf, ...kind }: Record<string, unknown>): Promise<undefined> {
    const of = certificateOf as number | undefined
    const certificate = of === undefined ? {} : await control.certificate({ userId: of })
    faults.push((await control.fault({ ...kind, ...certificate } as never)).id)
  }

  async function expect(input: InChat & { fromId: number; text?: string }): Promise<number> {
    const { userId, chatId, fromId, ...wanted } = input
    let closest: string[] = []
    const found = await until(userId, async () => {
      const candidates = (await shown(userId, chatId))
        .filter((one) => one.fromId === fromId && !met.has(keyOf(chatId, one.messageId)))
        .map((message) => ({ message, differences: differencesOf(wanted, message) }))
      const [best] = candidates.toSorted((a, b) => a.differences.length - b.differences.length)
      closest = best?.differences ?? []
      return best !== undefined && closest.length === 0 ? best.message : null
    })
    if (found === null) {
      throw new Difference(closest.join('; ') || `no message came, expected ${json(wanted.text)}`)
    }
    met.add(keyOf(chatId, found.messageId))
    return found.messageId
  }

  async function press(input: InChat & { data: string; messageId?: number; answer?: string }) {
    const { userId, chatId, data, messageId: below, answer } = input
    let there: (string | undefined)[] = []
    const dataOf = (message: ScreenMessage) =>
      (message.markup?.inlineKeyboard ?? []).flat().map(({ callbackData }) => callbackData)
    const found = await until(userId, async () => {
      const messages = (await shown(userId, chatId)).filter(
        ({ messageId }) => below === undefined || messageId === below,
      )
      there = messages.flatMap(dataOf)
      return messages.findLast((message) => dataOf(message).includes(data)) ?? null
    })
    if (found === null) throw new Difference(`data: expected ${json(data)}, got ${json(there)}`)
    const { messageId } = found
    const { last } = await control.inbox({ userId, after: NEWEST })
    const { callbackId } = await control.press({ userId, chatId, messageId, data })
    if (answer === undefined) return messageId
    const given = await until(userId, async () => {
      const { answers } = await control.inbox({ userId, kinds: ['answer'], after: last })
      return answers.find((one) => one.callbackId === callbackId) ?? null
    })
    if (given?.text === answer) return messageId
    throw new Difference(`answer: expected ${json(answer)}, got ${json(given?.text)}`)
  }

  /** Messages of this scenario that the phone shows in a chat, oldest first. */
  async function shown(userId: number, chatId: number): Promise<ScreenMessage[]> {
    const { messages } = await control.screen({ userId, chatId })
    return messages.filter((one) => !before.has(keyOf(chatId, one.messageId)))
  }

  /** Calls `look` after each change of the phone. @returns its first result, or null after the wait */
  async function until<T>(userId: number, look: () => Promise<T | null>): Promise<T | null> {
    const latest = Date.now() + LONGEST_MS
    for (let end = Date.now() + withinMs; ;) {
      const { last } = await control.inbox({ userId, after: NEWEST })
      const found = await look()
      if (found !== null) return found
      if (Date.now() >= end) end = Math.min(Date.now() + (await leftOfLimits()), latest)
      const wait = Math.min(end - Date.now(), LONGEST_WAIT_MS)
      if (wait <= 0) return null
      await control.inbox({ userId, after: last, wait })
    }
  }

  /** The extension of a step's wait, in ms, because of 429 to a bot. */
  async function leftOfLimits(): Promise<number> {
    const { now, mode } = await control.now()
    const limited = (await control.search({ words: '"retryAfter"' })).flatMap((call) =>
      call.status === 429 ? call.at + retryAfterMs(call.answer) - now : [],
    )
    const held = Math.max(-withinMs, ...limited)
    if (mode === 'still' && held > 0) await control.advance({ ms: held })
    return Math.max(0, held + withinMs)
  }

  return { prepare, perform, endFaults }
}

function notHere(what: string): never {
  throw new ControlError(
    `${what} is not in this sandbox; \`--seed\` or \`addWorld\` makes a world of the file`,
  )
}

/** The difference between a step and the phone. */
class Difference extends Error {}

const json = (value: unknown): string => JSON.stringify(value ?? null)
const keyOf = (chatId: number, messageId: number): string => `${chatId}:${messageId}`

/** The fields of a message that differ from an expectation. */
function differencesOf(wanted: object, message: ScreenMessage): string[] {
  const rows = message.markup?.inlineKeyboard ?? []
  const shown = { ...message, buttons: rows.map((row) => row.map(({ text }) => text)) }
  return Object.entries(wanted).flatMap(([field, value]) => {
    const got: unknown = shown[field as keyof typeof shown]
    if (isDeepStrictEqual(got, value)) return []
    return `${field}: expected ${json(value)}, got ${json(got)}`
  })
}

/** The `retryAfter` of an answer; 0 if it has none. */
const retryAfterMs = (answer: string): number =>
  Number(/"retryAfter":(\d+)/.exec(answer)?.[1] ?? 0) * 1000
