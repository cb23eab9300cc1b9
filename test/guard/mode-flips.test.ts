import { expect, test } from 'vitest'
import { expectSealed, shownChat } from '../support/double-sends.ts'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage({ env: { POSTERN_CACHE_CHAT_SECONDS: '0' } })

test('a group that became protected since the last send receives sealed texts and edits', async () => {
  const person = await stage.friend()
  const chat = stage.openGroup({ people: [person] })
  const { status, json } = await stage.send(chat, 'everybody may read this')
  expect(status).toBe(201)
  chat.historyVisible = false
  const words = canary()
  const since = stage.double.mark()
  expect((await stage.edit(chat, json.result.id, { text: words })).status).toBe(200)
  const [body] = stage.bodies(since)
  expect((await person.phone.open(body.armored, stage.botCertificate)).text).toBe(words)
  stage.expectNowhere(words)

  const other = stage.openGroup({ people: [person] })
  expect((await stage.send(other, 'everybody may read this')).status).toBe(201)
  other.historyVisible = false
  await expectSealed(stage, other, [person])
})

test('a send whose response was lost is repeated with the same sealed bytes', async () => {
  const chat = stage.group([await stage.friend()])
  const words = canary()
  const since = stage.double.mark()
  const claimOpen = () => {
    chat.historyVisible = true
    return 'cut' as const
  }
  stage.double.script('POST', '/messages', claimOpen, 1)
  const sent = await stage.send(chat, words)
  expect(sent.json.error.code).toBe('postern_downgrade_refused')
  const [first, second] = stage.double.calls('POST', '/messages', since)
  expect(second?.body).toBe(first?.body)
  expect(first?.json.armored).toContain('BEGIN PGP MESSAGE')
  stage.expectNowhere(words)
})

test('an edit whose response was lost is not repeated', async () => {
  const chat = await shownChat(stage, await stage.friend())
  const words = canary()
  const since = stage.double.mark()
  stage.double.script('PATCH', '/messages/7', 'cut', 1)
  const edited = await stage.edit(chat, 7, { text: words })
  expect([edited.status, edited.json.error.code]).toEqual([502, 'postern_upstream_unreachable'])
  expect(stage.double.calls('PATCH', undefined, since).length).toBe(1)
  stage.expectNowhere(words)
})
