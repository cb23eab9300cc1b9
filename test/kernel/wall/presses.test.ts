import { expect, test } from 'vitest'
import { Presses } from '../../../src/kernel/wall/presses.ts'
import { isFile, open, temporary } from '../../store/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const press = (id: unknown) => ({ updateId: 1, kind: 'callback_query', callbackQuery: { id } })
const fresh = async () => {
  const store = await open(temporary())
  return { store, presses: new Presses(memoryOf(store)) }
}

test('a press is found by its id, text or number, under any name in the update', async () => {
  const { presses } = await fresh()
  const odd = { updateId: 2, kind: 'callback_query', press: { id: 5 } }
  await presses.saw([
    { update: press('p-1'), chatId: 7 },
    { update: odd, chatId: 8 },
  ])
  expect([await presses.chatsOf('p-1'), await presses.chatsOf('5')]).toEqual([[7], [8]])
})

test('a press without a chat, or in more than 16 chats, has none', async () => {
  const { presses } = await fresh()
  await presses.saw([{ update: press('p-1'), chatId: 7 }])
  await presses.saw([{ update: press('p-1'), chatId: null }])
  const everywhere = Array.from({ length: 40 }, (_, at) => ({
    update: press('p-2'),
    chatId: at + 1,
  }))
  await presses.saw(everywhere)
  expect([await presses.chatsOf('p-1'), await presses.chatsOf('p-2')]).toEqual([[], []])
})

test('an update that is no press, or has no usable id, is not stored', async () => {
  const { presses } = await fresh()
  const updates = [
    { ...press('p-2'), kind: 'message' },
    { kind: 'callback_query', message: { id: 'p-3' } },
    press({ id: 'p-4' }),
    'p-5',
  ]
  await presses.saw(updates.map((update) => ({ update, chatId: 7 })))
  const ids = ['p-2', 'p-3', 'p-4', 'p-5']
  expect(await Promise.all(ids.map((id) => presses.chatsOf(id)))).toEqual([[], [], [], []])
})

test.skipIf(isFile)('a press has the chats of two sidecars', async () => {
  const { store, presses } = await fresh()
  const other = new Presses(memoryOf(store))
  await presses.saw([{ update: press('p-1'), chatId: 7 }])
  await other.saw([{ update: press('p-1'), chatId: 8 }])
  for (const one of [presses, other]) {
    expect((await one.chatsOf('p-1')).toSorted()).toEqual([7, 8])
  }
})
