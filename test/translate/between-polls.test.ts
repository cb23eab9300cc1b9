import { expect, test } from 'vitest'
import { postern } from '../support/double-sends.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import { until } from '../support/sidecar.ts'

const stage = useStage({ env: { POSTERN_TRUST_POLICY: 'first-use' } })

/**
 * A poll that ends while its first update waits for a certificate: what was examined of the others
 * is kept for the next poll.
 * @param meanwhile what happens between the two polls
 * @returns the Messages of the others, as the next poll gives them
 */
async function keptWhile(messages: Json[], meanwhile: () => Promise<void>): Promise<Json[]> {
  const slow = await stage.person()
  const chat = stage.privateChat(slow)
  const answer = Promise.withResolvers<undefined>()
  const asked = new RegExp(`/chats/${chat.id}/keys$`)
  using _ = stage.double.script('GET', asked, () => answer.promise)
  const since = stage.double.mark()
  const armored = await slow.phone.seal('slow', [stage.botCertificate])
  const first = stage.double.world.push({
    kind: 'message',
    message: stage.double.world.message(chat, slow, { armored }),
  })
  for (const message of messages) stage.double.world.push({ kind: 'message', message })
  const gone = new AbortController()
  const poll = stage.sidecar
    .call('GET', `/updates?offset=${first}&timeout=5`, undefined, { signal: gone.signal })
    .catch(() => null)
  await until(async () => stage.double.calls('GET', asked, since).length > 0, 'a key is asked for')
  await new Promise((resolve) => setTimeout(resolve, 1500))
  gone.abort()
  await poll
  await new Promise((resolve) => setTimeout(resolve, 300))
  answer.resolve(undefined)
  await meanwhile()
  const { json } = await stage.sidecar.call('GET', `/updates?offset=${first + 1}&timeout=5`)
  return json.result.map((update: Json) => update.message)
}

async function said(from: Person): Promise<Json> {
  const chat = stage.privateChat(from)
  await stage.send(chat, 'hello')
  const armored = await from.phone.seal('words', [stage.botCertificate])
  return stage.double.world.message(chat, from, { armored })
}

test('a text of a person blocked between two polls is withheld', async () => {
  const bob = await stage.person()
  const [one] = await keptWhile([await said(bob)], async () => {
    await postern(stage, 'trust', 'block', String(bob.id))
  })
  expect(one.postern).toMatchObject({ verdict: 'unknown-signer', reason: 'blocked' })
  expect(one).not.toHaveProperty('text')
})

test('a text in a private chat bound to another person between two polls is withheld', async () => {
  const [bob, alice] = [await stage.person(), await stage.person()]
  const message = await said(bob)
  const [one] = await keptWhile([message], async () => {
    const ids = [message.chat.id, alice.id].map(String)
    await postern(stage, 'chat', 'bind', ...ids)
  })
  expect(one.postern).toMatchObject({ verdict: 'bad-signature', reason: 'other-person' })
  expect(one).not.toHaveProperty('text')
})
