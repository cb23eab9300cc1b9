import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

/** A fifth of half a minute, once for all of them. */
const stage = useStage({ env: { TESTS_PATIENCE: '0.2' } })
const TOGETHER = { concurrent: true }

async function expectRefused(chat: DoubleChat): Promise<void> {
  const words = canary()
  const sent = await stage.send(chat, words)
  expect([sent.status, sent.json.error.code]).toEqual([504, 'postern_upstream_timeout'])
  stage.expectNowhere(words)
}

test.concurrent.each(['chat', 'key'])(
  'a send whose %s look-up hangs ends with 504, and its text does not leave',
  async (what) => {
    const isChat = what === 'chat'
    const chat = isChat ? stage.openGroup() : stage.group([await stage.friend()])
    stage.double.script('GET', `/chats/${chat.id}${isChat ? '' : '/keys'}`, 'hang')
    await expectRefused(chat)
  },
)

test('a hanging call of the bot is answered with 504', TOGETHER, async () => {
  stage.double.script('GET', '/resolve/nobody', 'hang')
  const called = await stage.sidecar.call('GET', '/resolve/nobody')
  expect([called.status, called.json.error.code]).toEqual([504, 'postern_upstream_timeout'])
})

test(
  'a hanging sealed send is repeated once with the same bytes, and then answered with 504',
  TOGETHER,
  async () => {
    const chat = stage.privateChat(await stage.friend())
    await stage.send(chat, 'the keys are known')
    stage.double.script('POST', '/messages', ({ json }) =>
      json.chatId === chat.id ? 'hang' : undefined,
    )
    const since = stage.double.mark()
    await expectRefused(chat)
    const attempts = stage.double
      .calls('POST', '/messages', since)
      .filter(({ json }) => json.chatId === chat.id)
    expect(attempts.length).toBe(2)
    expect(attempts[1]?.body).toBe(attempts[0]?.body)
  },
)

test(
  'a hanging look-up of a sender’s key delays only the updates behind the message',
  TOGETHER,
  async () => {
    const person = await stage.friend()
    const known = stage.privateChat(person)
    const other = await stage.person()
    const unknown = stage.privateChat(other)
    stage.double.script('GET', `/chats/${unknown.id}/keys`, 'hang')
    const { world } = stage.double
    const seal = (text: string) => person.phone.seal(text, [stage.botCertificate])
    const messages = [
      world.message(known, person, { armored: await seal('before') }),
      world.message(unknown, other, { armored: await seal('whose?') }),
      world.message(known, person, { armored: await seal('after') }),
    ]
    const ids = messages.map((message) => world.push({ kind: 'message', message }))
    const texts: unknown[] = []
    for (let offset = ids[0] ?? 0; texts.length < 3;) {
      const { json } = await stage.sidecar.call('GET', `/updates?offset=${offset}`)
      for (const update of json.result) texts.push(update.message.text)
      offset = json.result.at(-1)?.updateId + 1 || offset
    }
    expect(texts).toEqual(['before', undefined, 'after'])
  },
)
