import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage()

test('a group seen protected by its mode, by the bot’s own look or by a refusal alone stays so after a kill, whatever the service claims', async () => {
  const people = [await stage.friend()]
  const byMode = stage.group(people)
  expect((await stage.send(byMode, 'sealed')).status).toBe(201)
  const byLook = stage.group(people)
  await stage.sidecar.call('GET', `/chats/${byLook.id}`)
  const byRefusal = stage.openGroup({ people })
  expect((await stage.send(byRefusal, 'readable')).status).toBe(201)
  byRefusal.mode = 'protected'
  expect((await stage.send(byRefusal, 'by an answer that is fresh')).status).toBe(201)
  expect(stage.double.world.written.at(-1)?.body).toHaveProperty('armored')

  await stage.sidecar.kill()
  await stage.restart()
  for (const chat of [byMode, byLook, byRefusal]) {
    Object.assign(chat, { mode: 'open', historyVisible: true })
    const words = canary()
    for (const answer of [
      await stage.send(chat, words),
      await stage.edit(chat, 7, { text: words }),
    ]) {
      expect([answer.status, answer.json.error.code]).toEqual([409, 'postern_downgrade_refused'])
    }
    stage.expectNowhere(words)
  }
})

test('the bot sees a latched group as a readable one, and the truth beside it', async () => {
  const chat = stage.group([await stage.friend()])
  await stage.sidecar.call('GET', `/chats/${chat.id}`)
  Object.assign(chat, { mode: 'open', historyVisible: true })
  const shown = await stage.sidecar.call('GET', `/chats/${chat.id}`)
  expect(shown.json.result.mode).toBe('open')
  expect(shown.json.result.postern).toEqual({ mode: 'open', latched: true })
})

test('the look of a body latches nothing: an open group that carries armor takes readable text', async () => {
  const chat = stage.openGroup()
  const armored = '-----BEGIN PGP MESSAGE-----\n\nAAAA\n-----END PGP MESSAGE-----\n'
  const someone = stage.double.world.addUser(null)
  await stage.deliver([stage.double.world.message(chat, someone, { armored })])
  expect((await stage.send(chat, 'readable')).status).toBe(201)
  expect(stage.double.world.written.at(-1)?.body.text).toBe('readable')
})
