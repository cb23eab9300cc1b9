import { requireChat, type ControlContext } from '../control/operation.ts'
import { trueMode } from '../rules/mode.ts'
import { post } from '../rules/post.ts'
import { parseDurationMs } from './schema.ts'
import type { SeedIds } from './ids.ts'
import type { Seed, SeedMessage } from './schema.ts'

/** Posts the history of every chat, each message at its time. Bots get updates as usual. */
export async function writeHistory(
  context: ControlContext,
  { seed, ids, beginsMs }: { seed: Seed; ids: SeedIds; beginsMs: number },
): Promise<void> {
  const { world } = context
  const history = Object.entries(seed.chats).flatMap(([name, chat]) => {
    const earlierIds: number[] = []
    return chat.history.map((message) => ({ chatId: ids.chat(name), message, earlierIds }))
  })
  for (const { chatId, message, earlierIds } of history.toSorted(
    (a, b) => parseDurationMs(b.message.ago) - parseDurationMs(a.message.ago),
  )) {
    const atMs = beginsMs - parseDurationMs(message.ago)
    await world.advance(Math.max(atMs - world.clock.now(), 0))
    const fromId = ids.account(message.from)
    earlierIds.push(await write(context, { chatId, fromId, message, earlierIds }))
  }
}

/** @param o `earlierIds`: ids of the chat's history so far. Gives the message id. */
async function write(
  context: ControlContext,
  o: { chatId: number; fromId: number; message: SeedMessage; earlierIds: number[] },
): Promise<number> {
  const { chatId, fromId, message } = o
  const { text, markup } = message
  const replyTo = message.replyTo === undefined ? undefined : o.earlierIds[message.replyTo - 1]
  const chat = requireChat(context, chatId)
  if (context.world.bots.has(fromId)) {
    return post(context.world, { chat, fromId, text, replyTo, markup: markup ?? null }).id
  }
  if (trueMode(context.world, chat) === 'protected') {
    return await (await context.phones.of(fromId)).write(chatId, text, { replyTo })
  }
  return post(context.world, { chat, fromId, text, replyTo }).id
}
