/** What becomes of a text that the bot sends, and of words that people send to it. */
import { expect } from 'vitest'
import { keyOf, type PersonPhone } from './double-phones.ts'
import { canary, newPhone, type Person, type Stage } from './double-stage.ts'
import type { Json } from './double-wire.ts'
import type { DoubleChat, ListedPerson } from './double-world.ts'

/**
 * A send and an edit are refused with this code, and nobody saw the words. Nothing leaves, but for
 * what is sealed where the service refuses a sealed body.
 * @returns the message of the refusal
 */
export async function expectRefused(
  stage: Stage,
  chat: DoubleChat,
  code: string,
  status = 409,
): Promise<string> {
  const words = canary()
  const since = stage.double.mark()
  const sent = await stage.send(chat, words)
  for (const answer of [sent, await stage.edit(chat, 7, { text: words })]) {
    expect([answer.status, answer.json.error.code]).toEqual([status, code])
  }
  const mayBeSealed = code === 'postern_downgrade_refused'
  const left = stage.bodies(since).filter((body) => !mayBeSealed || !('armored' in body))
  expect(left).toEqual([])
  stage.expectNowhere(words)
  return sent.json.error.message
}

/**
 * A send leaves sealed, and these people can read it.
 * @param skipped who the answer says was left out
 * @returns what the service got
 */
export async function expectSealed(
  stage: Stage,
  chat: DoubleChat,
  people: Person[],
  skipped: unknown[] = [],
): Promise<string> {
  const words = canary()
  const since = stage.double.mark()
  const sent = await stage.send(chat, words)
  expect(sent.status, sent.text).toBe(201)
  expect(sent.json.result.postern).toMatchObject({ sealed: true, skipped })
  const [{ armored, ...body }] = stage.bodies(since)
  expect(body).not.toHaveProperty('text')
  for (const { phone } of people) {
    expect((await phone.open(armored, stage.botCertificate)).text).toBe(words)
  }
  stage.expectNowhere(words)
  return armored
}

/** A send leaves as readable text. */
export async function expectReadable(stage: Stage, chat: DoubleChat): Promise<void> {
  expect((await stage.send(chat, 'for all to read')).status).toBe(201)
  expect(stage.double.world.written.at(-1)?.body.text).toBe('for all to read')
}

/** A person's private chat, which the sidecar has seen. */
export async function shownChat(stage: Stage, person: ListedPerson): Promise<DoubleChat> {
  const chat = stage.privateChat(person)
  await stage.show(chat)
  return chat
}

/** A person to whom the bot has written in their private chat. */
export async function known(stage: Stage): Promise<{ person: Person; chat: DoubleChat }> {
  const person = await stage.person()
  const chat = await shownChat(stage, person)
  expect((await stage.send(chat, canary())).status).toBe(201)
  return { person, chat }
}

/** The service lists another certificate for a person: a new phone, or a lie. @returns the former phone */
export async function swap(stage: Stage, person: Person): Promise<PersonPhone> {
  const { phone } = person
  const next = stage.use(await newPhone())
  Object.assign(person, { phone: next, key: keyOf(next) })
  return phone
}

/** An armored message arrives from a person. @returns the Message as the bot gets it */
export async function arrives(
  stage: Stage,
  chat: DoubleChat,
  from: ListedPerson | null,
  armored: string,
): Promise<Json> {
  return (await stage.deliver([stage.double.world.message(chat, from, { armored })]))[0]
}

/** A command that works. @returns its output */
export async function postern(stage: Stage, ...args: string[]): Promise<string> {
  const { code, stderr, stdout } = await stage.sidecar.postern(...args)
  expect(code, stderr).toBe(0)
  return stdout + stderr
}

/** What a command prints as one JSON object a line. */
export async function lines(stage: Stage, ...args: string[]): Promise<Json[]> {
  const output = (await postern(stage, ...args)).trim()
  return output.split('\n').map((line) => JSON.parse(line))
}
