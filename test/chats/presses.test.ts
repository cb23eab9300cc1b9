import { expect, test } from 'vitest'
import { Presses } from '../../src/chats/presses.ts'

const press = (id: unknown) => ({ updateId: 1, kind: 'callback_query', callbackQuery: { id } })

test('a press is found by its id, a text or a number, under whatever name it came', () => {
  const presses = new Presses()
  presses.saw(press('p-1'), 7)
  presses.saw({ updateId: 2, kind: 'callback_query', press: { id: 5 } }, 8)
  expect([presses.chatOf('p-1'), presses.chatOf('5')]).toEqual([7, 8])
})

test('what is no press, and a press without a chat, are not remembered', () => {
  const presses = new Presses()
  presses.saw(press('p-1'), null)
  presses.saw({ ...press('p-2'), kind: 'message' }, 7)
  presses.saw({ kind: 'callback_query', message: { id: 'p-3' } }, 7)
  presses.saw(press({ id: 'p-4' }), 7)
  presses.saw('p-5', 7)
  const found = ['p-1', 'p-2', 'p-3', 'p-4', 'p-5'].map((id) => presses.chatOf(id))
  expect(found).toEqual([null, null, null, null, null])
})
