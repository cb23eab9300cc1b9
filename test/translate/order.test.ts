import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'

// a process of its own leaves no update at the service (`changed-constants.ts`)
const stage = useStage({ inside: false })

/** A long poll that confirms all there is. */
const emptyPoll = () => `/updates?timeout=50&offset=${stage.double.world.id()}`

/** As deep as any JSON reader of a bot may go. */
function deep(levels: number): Json {
  let inner: Json = { armored: 'deep' }
  for (let level = 0; level < levels; level++) inner = { inner }
  return inner
}

test('malformed updates delay no other update: all are delivered in order, the valid ones opened', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const { world } = stage.double
  const carrying = (parts: Record<string, unknown>) => ({
    kind: 'message',
    message: world.message(chat, person, parts),
  })
  const good = async (text: string) =>
    carrying({ armored: await person.phone.seal(text, [stage.botCertificate]) })
  const updates: Json[] = [
    await good('first'),
    carrying({ armored: '' }),
    carrying({ armored: 'not armor at all' }),
    carrying({ armored: '-----BEGIN PGP MESSAGE-----\n\n!!!!\n-----END PGP MESSAGE-----' }),
    carrying({ armored: 'x'.repeat(200_000) }),
    carrying({ armored: 7, text: ['a'] }),
    carrying({ from: 'nobody', armored: 'x' }),
    carrying({ from: { id: 'seven' }, armored: 'x' }),
    carrying({ chat: null, armored: 'x' }),
    carrying({ date: 'yesterday', text: 'x' }),
    { kind: 'message', message: null },
    { kind: 'message', message: 'x' },
    { kind: 'message' },
    { kind: 'never_heard_of', payload: deep(60) },
    { kind: 'message', message: carrying({ text: '\ud800' }).message },
    await good('last'),
  ]
  const got = await stage.deliverUpdates(updates)
  expect(got.length).toBe(updates.length)
  expect(got.map(({ kind }) => kind)).toEqual(updates.map(({ kind }) => kind))
  expect(got[0].message.text).toBe('first')
  expect(got.at(-1)?.message.text).toBe('last')
  const ids = got.map(({ updateId }) => updateId)
  expect(ids).toEqual(ids.toSorted((a, b) => a - b))
})

test('an answer whose update ids do not grow is `postern_upstream_invalid`', async () => {
  const update = (updateId: unknown) => ({ updateId, kind: 'message', message: null })
  for (const updates of [[update(2), update(1)], [update(3), update(3)], [update('4')]]) {
    using _lie = stage.double.script('GET', '/updates', { json: { ok: true, result: updates } })
    const answer = await stage.sidecar.call('GET', '/updates')
    expect([answer.status, answer.json.error.code]).toEqual([502, 'postern_upstream_invalid'])
  }
})

test('a poll that the bot aborts ends at the service', async () => {
  const gone = new AbortController()
  const since = stage.double.mark()
  const poll = stage.sidecar.call('GET', emptyPoll(), undefined, { signal: gone.signal })
  await expect.poll(() => stage.double.calls('GET', '/updates', since).length).toBe(1)
  gone.abort()
  await expect(poll).rejects.toThrow()
  await expect.poll(() => stage.double.world.isPolled).toBe(false)
})
