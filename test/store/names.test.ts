import { expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { Names } from '../../src/store/names.ts'
import { open, temporary } from './support.ts'

async function scene() {
  const store = await open(temporary())
  return { store, names: new Names(store), noted: vi.spyOn(store, 'note') }
}

test('a person is shown by the last handle, across restarts', async () => {
  const { store, names } = await scene()
  await names.saw([
    { userId: 5, username: 'alice' },
    { userId: 6, username: 'bob' },
  ])
  await names.saw([{ userId: 5, username: 'alice_2' }])
  const expected = new Map([
    [5, 'alice_2'],
    [6, 'bob'],
  ])
  expect(await names.all()).toEqual(expected)
  expect(await new Names(store).all()).toEqual(expected)
})

test('what is known already is not written again', async () => {
  const { names, noted } = await scene()
  for (let n = 0; n < 3; n++) await names.saw([{ userId: 5, username: 'alice' }])
  expect(noted).toHaveBeenCalledTimes(1)
})

test.each(['', 'ab', 'two words', 'x'.repeat(33), 'a\u001b[2J', 'näme'])(
  '%j is no handle, and is not remembered',
  async (username) => {
    const { names, noted } = await scene()
    await names.saw([{ userId: 5, username }])
    expect(noted).not.toHaveBeenCalled()
  },
)

test('what could not be written is written when it is seen again', async () => {
  const { names, noted } = await scene()
  noted.mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  await expect(names.saw([{ userId: 5, username: 'alice' }])).rejects.toThrow(Refusal)
  await names.saw([{ userId: 5, username: 'alice' }])
  expect([...(await names.all()).values()]).toEqual(['alice'])
})
