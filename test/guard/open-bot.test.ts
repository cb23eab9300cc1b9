import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'

/** A sidecar that manages no key and never had one. */
const stage = useStage({ env: { POSTERN_KEY_PUBLISH: 'false' }, before: () => {} })

test('a sidecar without a key passes any armor, with fields outside the specification', async () => {
  const chat = stage.group([await stage.friend()])
  for (const armored of ['no armor at all', '-----BEGIN PGP MESSAGE-----\n\nodd']) {
    const since = stage.double.mark()
    const body = { chatId: chat.id, armored, caption: { later: 'version' } }
    await stage.sidecar.call('POST', '/messages', body)
    await stage.sidecar.call('PATCH', '/messages/7', body)
    expect(stage.bodies(since)).toMatchObject([body, body])
  }
})

test('an edit without a change is refused with the field that the chat accepts', async () => {
  for (const [chat, expected] of [
    [stage.group([await stage.friend()]), 'armored'],
    [stage.openGroup(), 'text'],
  ] as const) {
    const since = stage.double.mark()
    const { status, json } = await stage.sidecar.call('PATCH', '/messages/7', { chatId: chat.id })
    expect([status, json.error.code, json.error.expected]).toEqual([400, 'bad_request', expected])
    expect(stage.bodies(since)).toEqual([])
  }
})
