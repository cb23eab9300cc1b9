import { describe, expect, test, vi } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import type { DriverParts } from '../../src/keys/driver.ts'
import { Publication } from '../../src/keys/publication.ts'
import {
  keyOf,
  NEW,
  OLD,
  passing,
  pendingKey,
  published,
  publishing,
  Scene,
  started,
  useLookTimes,
} from './publication-scene.ts'
import { serviceError } from './support.ts'

useLookTimes()

const SETTLED = { keys: [OLD], shown: 'old' }
const INTERRUPTED = { keys: [pendingKey('new', { createdAtMs: 77 }), OLD], shown: 'old' }

describe('a rotation', () => {
  test('a `rotate` call during a rotation joins it, and its next attempt is made now', async () => {
    const { publication, scene } = publishing({ ...INTERRUPTED, puts: [serviceError(403)] })
    await passing(publication.compareNow())
    expect(publication.rotation?.phase).toBe('waiting')
    const joined = await publication.rotate()
    expect(joined).toMatchObject({ to: 'new', phase: 'made', detail: 'it is tried again' })
    await vi.advanceTimersByTimeAsync(0)
    expect(publication.rotation?.phase).toBe('done')
    expect(scene.steps.filter((step) => step.startsWith('make'))).toEqual([])
  })

  test.each([
    ['theirs', 'conflict'],
    [null, 'unprotected'],
  ])(
    '`rotate` and `adoptRetired` end the publication of our key at once while %s is shown',
    async (shown, state) => {
      const { publication, scene } = await started(SETTLED)
      scene.shown = shown
      for (const command of [
        () => publication.rotate(),
        () => publication.adoptRetired(async () => {}),
      ]) {
        await command().catch(() => undefined)
        await vi.advanceTimersByTimeAsync(0)
        expect(publication.state).toBe(state)
        scene.shown = 'old'
        await publication.compareNow()
        expect(publication.state).toBe('published')
        scene.shown = shown
      }
    },
  )
})

describe('the abandonment of a rotation', () => {
  test('`abandon` ends a rotation at once while it waits for sends, and `/me` is read again', async () => {
    const { publication, scene, outcomes } = publishing(SETTLED)
    await publication.compareNow()
    await publication.enter(async () => {})
    await publication.adopt(async () => {
      scene.keys = INTERRUPTED.keys
    })
    const comparing = publication.compareNow()
    await vi.advanceTimersByTimeAsync(100)
    expect(publication.rotation?.phase).toBe('holding')
    expect(await publication.abandon()).toMatchObject({ to: 'new', phase: 'abandoned' })
    await comparing
    const before = scene.steps.length
    await vi.advanceTimersByTimeAsync(0)
    expect([scene.steps.slice(before), outcomes]).toEqual([['me'], ['abandoned']])
    expect(publication.state).toBe('published')
  })

  test('`abandon` does not interrupt an attempt whose key the service may have', async () => {
    const { publication, scene } = publishing(SETTLED)
    await publication.compareNow()
    const { leave } = await publication.enter(async () => {})
    await publication.adopt(async () => {
      scene.keys = [pendingKey('new', { offeredAtMs: 5 }), OLD]
    })
    const comparing = publication.compareNow()
    await vi.advanceTimersByTimeAsync(0)
    const abandoning = publication.abandon()
    abandoning.catch(() => {})
    await vi.advanceTimersByTimeAsync(100)
    expect(publication.rotation?.phase).toBe('holding')
    leave()
    await passing(comparing)
    expect(publication.rotation?.phase).toBe('done')
    await expect(abandoning).rejects.toMatchObject({ code: 'refused' })
  })

  test('an `abandon` that fails because another sidecar has the turn leaves later attempts alone', async () => {
    const scene = new Scene(INTERRUPTED)
    const turn = {
      step: () => Promise.reject(new Refusal('postern_busy')),
      tryStep: async (step: () => Promise<unknown>) => ({ result: await step() }),
      requireHeld: () => {},
    }
    const closed = { [Symbol.asyncDispose]: async () => {} }
    const fence = { onClosed: () => {}, isRaised: false, close: async () => closed }
    const shared = { turn, fence, fresh: async () => {} }
    const publication = new Publication({
      ...scene.parts,
      shared: shared as unknown as NonNullable<DriverParts['shared']>,
    })
    await expect(publication.abandon()).rejects.toMatchObject({ code: 'postern_busy' })
    await passing(publication.compareNow())
    expect(publication.rotation?.phase).toBe('done')
  })
})

describe('an imported key', () => {
  const imported = async (o: { isStarted: boolean }) => {
    const { publication, scene } = o.isStarted ? await started(SETTLED) : publishing(SETTLED)
    const taken = await publication.adopt(async () => {
      scene.keys = [NEW, OLD]
      return 'taken'
    })
    return { publication, scene, taken }
  }

  test('an imported key begins a rotation, and a running sidecar completes it at once', async () => {
    const { publication, taken } = await imported({ isStarted: true })
    expect(taken).toBe('taken')
    expect(publication.rotation).toMatchObject({ to: 'new', detail: 'an imported key is on disk' })
    await vi.advanceTimersByTimeAsync(0)
    expect(publication.rotation?.phase).toBe('done')
  })

  test('an imported key stays pending where the publication was not started', async () => {
    const { publication, scene } = await imported({ isStarted: false })
    await vi.advanceTimersByTimeAsync(10_000)
    expect([publication.rotation?.phase, scene.steps]).toEqual(['made', []])
  })

  test('a failed import begins no rotation', async () => {
    const { publication } = publishing({ keys: [keyOf('old')], shown: 'old' })
    const failing = publication.adopt(() => Promise.reject(new Error('unfit')))
    await expect(failing).rejects.toThrow('unfit')
    expect(publication.rotation).toBeNull()
  })
})

test('the commands `makeFirst` and `publish` run one after the other', async () => {
  const { publication, scene } = publishing({})
  const both = Promise.all([publication.makeFirst(), publication.publish({ replace: false })])
  const [made, done] = await passing(both)
  expect([made.fingerprint, done.fingerprint]).toEqual(['made1', 'made1'])
  expect(scene.steps).toEqual([
    'me',
    'make made1 for mybot',
    'me',
    'mark made1 offered',
    ...published('made1'),
  ])
})
