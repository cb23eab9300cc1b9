import { expect, test } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { isFile, open, put, temporary } from './support.ts'

/** A store, and a class that has observed something until it is written. */
async function scene() {
  const store = await open(temporary())
  const steps: string[] = []
  const observed = { isDue: true, fails: false }
  store.writeFirst({
    isDue: () => observed.isDue,
    save: () => {
      steps.push('save')
      if (observed.fails) return Promise.reject(new Error('no room'))
      return Promise.resolve(() => {
        steps.push('saved')
        observed.isDue = false
      })
    },
  })
  return { store, steps, observed }
}

type Change = (store: Store, step: () => Promise<void>) => Promise<unknown>

const CHANGES: [string, Change][] = [
  ['a write', (store, step) => store.write(step)],
  ['a note', (store, step) => store.note(step)],
  ['a note in the order of writes', (store, step) => store.note(step, { isOrdered: true })],
]

test.each(CHANGES)('observations are saved once before %s', async (_what, change) => {
  const { store, steps } = await scene()
  const step = (): Promise<void> => Promise.resolve(void steps.push('step'))
  await change(store, step)
  await change(store, step)
  expect(steps).toEqual(['save', 'saved', 'step', 'step'])
})

test.each(CHANGES)(
  'observations that cannot be saved refuse %s, until a save succeeds',
  async (_what, change) => {
    const { store, steps, observed } = await scene()
    observed.fails = true
    const step = (): Promise<void> => Promise.resolve(void steps.push('step'))
    await expect(change(store, step)).rejects.toThrow('no room')
    // on PostgreSQL it runs on a guess first, and then again
    expect(steps.splice(0)).toEqual(isFile ? ['save'] : ['save', 'save'])
    observed.fails = false
    await change(store, step)
    expect(steps).toEqual(['save', 'saved', 'step'])
  },
)

test('observations are saved when the store closes', async () => {
  const { store, steps } = await scene()
  await store[Symbol.asyncDispose]()
  expect(steps).toEqual(['save', 'saved'])
})

test('a store without observations saves nothing', async () => {
  const { store, steps, observed } = await scene()
  observed.isDue = false
  await put(store, 'one', '1')
  await store[Symbol.asyncDispose]()
  expect(steps).toEqual([])
})
