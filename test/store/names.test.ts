import { expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { Names } from '../../src/store/names.ts'
import { open, temporary } from './support.ts'

async function scene() {
  const store = await open(temporary())
  return { store, names: new Names(store), noted: vi.spyOn(store, 'note') }
}

test('a person is listed by the latest username, also after a restart', async () => {
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

test('a known username is not written again', async () => {
  const { names, noted } = await scene()
  for (let n = 0; n < 3; n++) await names.saw([{ userId: 5, username: 'alice' }])
  expect(noted).toHaveBeenCalledTimes(1)
})

test.each(['', 'ab', 'two words', 'x'.repeat(33), 'a\u001b[2J', 'näme'])(
  'a username %j is invalid and not stored',
  async (username) => {
    const { names, noted } = await scene()
    await names.saw([{ userId: 5, username }])
    expect(noted).not.toHaveBeenCalled()
  },
)

test('a username that could not be written is written at the next sighting', async () => {
  const { names, noted } = await scene()
  noted.mockRejectedValueOnce(new Refusal('postern_store_unwritable'))
  await expect(names.saw([{ userId: 5, username: 'alice' }])).rejects.toThrow(Refusal)
  await names.saw([{ userId: 5, username: 'alice' }])
  expect([...(await names.all()).values()]).toEqual(['alice'])
})
