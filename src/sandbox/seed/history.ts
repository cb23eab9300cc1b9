import { requireChat, type ControlContext } from '../control/operation.ts'
import type { Control } from '../control/table.ts'
import { post } from '../rules/post.ts'
import { trueMode } from '../rules/mode.ts'
import { parseDurationMs } from './duration.ts'
import type { Names } from './ids.ts'
import type { Seed, SeedMessage } from './schema.ts'

/** Ids of a chat's history, in its order. */
type Written = number[]

/**
 * Writes what was said in every chat before the beginning, each message in its time: bots hear of
 * it as of any message.
 */
export async function writeHistory(
  on: ControlContext,
  control: Control,
  { seed, names, beginsMs }: { seed: Seed; names: Names; beginsMs: number },
): Promise<void> {
  const said = Object.entries(seed.chats).flatMap(([name, { history }]) => {
    const written: Written = []
    return history.map((words) => ({ chatId: names.chat(name), words, written }))
  })
  for (const { chatId, words, written } of said.toSorted(
    (a, b) => parseDurationMs(b.words.ago) - parseDurationMs(a.words.ago),
  )) {
    const atMs = beginsMs - parseDurationMs(words.ago)
    on.world.advance(Math.max(atMs - on.world.clock.now(), 0))
    const fromId = names.account(words.from)
    written.push(await write(on, control, { chatId, fromId, words, written }))
  }
}

async function write(
  on: ControlContext,
  control: Control,
  o: { chatId: number; fromId: number; words: SeedMessage; written: Written },
): Promise<number> {
  const { chatId, fromId, words } = o
  const { text, markup } = words
  const replyTo = words.replyTo === undefined ? undefined : o.written[words.replyTo - 1]
  const chat = requireChat(on, chatId)
  if (on.world.bots.has(fromId)) {
    return post(on.world, { chat, fromId, text, replyTo, markup: markup ?? null }).id
  }
  const place = { userId: fromId, chatId, text, replyTo }
  const isSealed = trueMode(on.world, chat) === 'protected'
  return (await (isSealed ? control.write(place) : control.post(place))).messageId
}
