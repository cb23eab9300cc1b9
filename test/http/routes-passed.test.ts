import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { ok } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()

interface Pass {
  method: string
  path: string
  query?: string
  body?: unknown
}

async function chats(): Promise<[kind: string, chat: DoubleChat][]> {
  return [
    ['a readable chat', stage.openGroup()],
    ['a protected chat', stage.group([await stage.friend()])],
  ]
}

const WORDY: Pass[] = [
  { method: 'POST', path: '/chats/{chat}/typing', body: { typing: true, words: 'x' } },
  { method: 'POST', path: '/callbacks/1/answer', body: { text: 'a', words: 'x' } },
  { method: 'DELETE', path: '/messages/7', body: { chatId: 0, words: 'x' } },
]
for (const { method, path, body } of WORDY) {
  test(`the call ${method} ${path} with text in an unknown field passes into a readable chat only`, async () => {
    for (const [kind, { id }] of await chats()) {
      const target = path.replace('{chat}', String(id))
      const given = Object.assign({}, body, method === 'DELETE' ? { chatId: id } : {})
      using _answer = stage.double.script(method, target, ok({}))
      const since = stage.double.mark()
      const called = await stage.sidecar.call(method, target, given)
      const left = stage.double.calls(method, target, since).map(({ json }) => json)
      if (kind === 'a readable chat' && !path.startsWith('/callbacks')) {
        expect([called.status, left]).toEqual([200, [given]])
        continue
      }
      expect([called.status, called.json.error.code, left]).toEqual([400, 'bad_request', []])
      expect(called.json.error.message).toContain('words')
    }
  })
}
