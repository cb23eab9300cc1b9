/** What cases do again and again. */
import assert from 'node:assert/strict'
import type { Answer } from './client.ts'
import { at, fields, okFields, okList, type Fields } from './expect.ts'
import type { Stage } from './stage.ts'

/** Sends words into a chat. */
export const send = (stage: Stage, chatId: number, more: object = {}): Promise<Answer> =>
  stage.bot.post('/messages', { chatId, text: stage.words(), ...more })

/** The same for an accepted send; gives the message's id. */
export async function say(stage: Stage, chatId: number, more: object = {}): Promise<number> {
  return Number(okFields(await send(stage, chatId, more), 201)['id'])
}

/** Everything that is queued, nothing confirmed. */
export async function received(stage: Stage): Promise<Fields[]> {
  return okList(await stage.bot.get('/updates'))
}

/** The one update that is queued. */
export async function only(stage: Stage): Promise<Fields> {
  const updates = await received(stage)
  assert.equal(updates.length, 1, `one update, not ${updates.length}`)
  return fields(updates[0])
}

/** The message of the one update that is queued. */
export async function onlyMessage(stage: Stage): Promise<Fields> {
  return fields((await only(stage))['message'])
}

/** Words of every message that is queued. */
export async function receivedWords(stage: Stage): Promise<unknown[]> {
  return (await received(stage)).map((update) => at(update, 'message.text'))
}

/** The payload of a `callback_query` under any name: it has an id of the press. */
export function pressOf(update: Fields): Fields {
  assert.equal(update['kind'], 'callback_query')
  const payload = Object.values(update).find(
    (value) => typeof value === 'object' && value !== null && 'id' in value,
  )
  return fields(payload)
}

/** Alice writes so many messages into her private chat; gives their words. */
export async function written(stage: Stage, count: number): Promise<string[]> {
  const chatId = await stage.privateChat()
  const texts = Array.from({ length: count }, () => stage.words())
  for (const text of texts) await stage.alice.write(chatId, text)
  return texts
}

/** A keyboard of one button. */
export function button(more: object = { callbackData: 'go' }): { inlineKeyboard: object[][] } {
  return { inlineKeyboard: [[{ text: 'Go', ...more }]] }
}

/** Makes the same call so many times, a few at a time; gives the answers in order. */
export async function times(count: number, call: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  while (answers.length < count) {
    const some = Array.from({ length: Math.min(16, count - answers.length) }, call)
    answers.push(...(await Promise.all(some)))
  }
  return answers
}

/** Looks again and again, at first in quick succession, until something is so. */
export async function until<T>(look: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  const endMs = Date.now() + 20_000
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 1.5, 50)) {
    const found = await look()
    if (isSo(found)) return found
    assert.ok(Date.now() < endMs, 'it came to be in time')
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
