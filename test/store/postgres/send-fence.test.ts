/** Sends of two sidecars, while one of them replaces the key; and steps with the key, one at a time. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  KeyTurn,
  STEP_WAIT_MS,
  SendFence,
  WAIT_MAX_MS,
} from '../../../src/store/postgres/send-fence.ts'
import { flags, open, put, temporary } from '../support.ts'
import { passing } from '../../support/fake-time.ts'
import { PlayedSidecars } from './played-sidecars.ts'

const UNWRITABLE = expect.objectContaining({
  code: 'postern_store_unwritable',
  detail: 'the database is out of reach',
}) as Error
const SIGNAL = new AbortController().signal

/** Whether it goes on while everything that is ready has its turn. */
async function waits(work: Promise<unknown>): Promise<boolean> {
  const ended = work.then(
    () => false,
    () => false,
  )
  return await Promise.race([ended, new Promise<boolean>((end) => setTimeout(end, 5, true))])
}

describe('`SendFence`', () => {
  async function scene() {
    const store = await open(temporary())
    const sidecars = new PlayedSidecars(store)
    const [one, two] = [sidecars.join(), sidecars.join()]
    const [here, there] = [await SendFence.load(one), await SendFence.load(two)]
    onTestFinished(() => here[Symbol.asyncDispose]())
    onTestFinished(() => there[Symbol.asyncDispose]())
    const isRaised = async () => 'key_publishing' in (await flags(store))
    return { store, sidecars, one, two, here, there, isRaised }
  }

  test('`SendFence` admits sends of two sidecars at the same time', async () => {
    const { here, there, sidecars } = await scene()
    const passes = [await here.enter(), await here.enter(), await there.enter()]
    for (const { requireHeld } of passes) expect(requireHeld()).toBeUndefined()
    expect([here, there].map(({ isClosed, isRaised }) => [isClosed, isRaised])).toEqual([
      [false, false],
      [false, false],
    ])
    expect(sidecars.given).toHaveLength(2)
    await here[Symbol.asyncDispose]()
    await there[Symbol.asyncDispose]()
    expect(sidecars.isHeld('sends')).toBe(false)
  })

  test('`SendFence.close` resolves once every send of the other sidecar is over, and disposal opens the fence', async () => {
    const { here, there, two, sidecars, isRaised } = await scene()
    const closed = vi.fn()
    there.onClosed(closed)
    const passes = [await there.enter(), await there.enter()]
    const closing = here.close(SIGNAL)
    await expect.poll(isRaised).toBe(true)
    expect(closed).not.toHaveBeenCalled()
    await two.fresh()
    expect(closed).toHaveBeenCalledOnce()
    await two.fresh()
    const seen = [here, there].map((fence) => [fence.isClosed, fence.isRaised])
    expect([seen, closed.mock.calls.length]).toEqual([
      [
        [false, true],
        [true, true],
      ],
      1,
    ])
    passes[0]?.leave()
    passes[0]?.leave()
    expect(passes[1]?.requireHeld()).toBeUndefined()
    expect([sidecars.isHeld('sends'), await waits(closing)]).toEqual([true, true])
    passes[1]?.leave()
    const fence = await closing
    await fence[Symbol.asyncDispose]()
    const raised = [await isRaised(), here.isRaised, sidecars.isHeld('sends')]
    expect(raised).toEqual([false, false, false])
    const pass = await there.enter()
    expect(pass.requireHeld()).toBeUndefined()
  })

  test('`SendFence.enter` waits for a closed fence for 20 s and is then refused', async () => {
    const { here, there, two, sidecars } = await scene()
    await using _fence = await here.close(SIGNAL)
    await two.fresh()
    const pass = passing()
    const entering = there.enter()
    pass(WAIT_MAX_MS - 1000)
    expect(await waits(entering)).toBe(true)
    pass(1001)
    await expect(entering).rejects.toMatchObject({ code: 'postern_key_unpublished' })
    there.expect()
    expect([sidecars.given.length, WAIT_MAX_MS]).toEqual([1, 20_000])
  })

  test('`SendFence.enter` returns a send lock that was acquired while the fence was closed', async () => {
    const { store, there, sidecars } = await scene()
    await put(store, 'key_publishing', 'another')
    const pass = passing()
    const entering = there.enter()
    await expect.poll(() => sidecars.given.length).toBe(1)
    await expect.poll(() => sidecars.isHeld('sends')).toBe(false)
    pass(WAIT_MAX_MS + 1)
    await expect(entering).rejects.toMatchObject({ code: 'postern_key_unpublished' })
  })

  test('`SendFence` opens, or replaces a lost lock, only after the old lock was released', async () => {
    const { here, there, sidecars } = await scene()
    const slowly = () => {
      const given = Promise.withResolvers<void>()
      const lock = sidecars.given.at(-1)
      const giveBack = lock?.[Symbol.asyncDispose]
      if (lock) lock[Symbol.asyncDispose] = () => given.promise.then(giveBack)
      return { lock, give: () => given.resolve() }
    }
    const fence = await here.close(SIGNAL)
    const closing = slowly()
    const opening = fence[Symbol.asyncDispose]()
    expect(await waits(Promise.resolve(opening))).toBe(true)
    closing.give()
    await opening
    await there.enter()
    const { lock, give } = slowly()
    if (lock) lock.isHeld = false
    const entering = there.enter()
    expect(await waits(entering)).toBe(true)
    give()
    expect((await entering).requireHeld()).toBeUndefined()
  })

  test('`SendFence` refuses a send whose lock was lost, and the next send has a new lock', async () => {
    const { here, sidecars } = await scene()
    const pass = await here.enter()
    for (const lock of sidecars.given) lock.isHeld = false
    expect(pass.requireHeld).toThrow(UNWRITABLE)
    expect((await here.enter()).requireHeld()).toBeUndefined()
    expect(sidecars.given).toHaveLength(2)
    await here[Symbol.asyncDispose]()
    expect(sidecars.isHeld('sends')).toBe(false)
  })

  test('`SendFence` removes its flag where closing was aborted, and not the flag of another sidecar', async () => {
    const { here, there, isRaised } = await scene()
    const pass = await there.enter()
    const stop = new AbortController()
    const closing = here.close(stop.signal)
    await expect.poll(isRaised).toBe(true)
    stop.abort()
    await expect(closing).rejects.toThrow('aborted')
    expect([await isRaised(), here.isRaised]).toEqual([false, false])
    await expect(here.close(stop.signal)).rejects.toThrow('aborted')
    pass.leave()
    await using _fence = await there.close(SIGNAL)
    await here.lower()
    expect(await isRaised()).toBe(true)
  })

  test('`SendFence` leaves its flag for the next step where its lock was lost', async () => {
    const { here, isRaised, sidecars } = await scene()
    const fence = await here.close(SIGNAL)
    for (const lock of sidecars.given) lock.isHeld = false
    await fence[Symbol.asyncDispose]()
    expect([await isRaised(), sidecars.isHeld('sends')]).toEqual([true, false])
  })

  test('`SendFence.lower` removes the flag of a dead sidecar', async () => {
    const { store, one, isRaised } = await scene()
    await put(store, 'key_publishing', 'dead')
    const late = await SendFence.load(one)
    expect([late.isClosed, late.isRaised]).toEqual([true, true])
    await late.lower()
    expect([late.isRaised, await isRaised()]).toEqual([false, false])
  })

  test('`SendFence` keeps the send lock for a busy bot and releases it a second after the last send', async () => {
    const { here, sidecars } = await scene()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    here.expect()
    const passes = [await here.enter(), await here.enter()]
    vi.advanceTimersByTime(5000)
    passes[0]?.leave()
    vi.advanceTimersByTime(5000)
    expect(passes[1]?.requireHeld()).toBeUndefined()
    passes[1]?.leave()
    vi.advanceTimersByTime(500)
    ;(await here.enter()).leave()
    vi.advanceTimersByTime(999)
    expect([sidecars.given.length, sidecars.isHeld('sends')]).toEqual([1, true])
    vi.advanceTimersByTime(1)
    expect(sidecars.isHeld('sends')).toBe(false)
    here.expect()
    await new Promise(setImmediate)
    expect([sidecars.given.length, sidecars.isHeld('sends')]).toEqual([2, true])
    vi.advanceTimersByTime(1000)
    expect(sidecars.isHeld('sends')).toBe(false)
  })
})

describe('`KeyTurn`', () => {
  /** A turn whose lock another sidecar has while `isFree` is false. */
  function scene({ isFree = true, hasFence = true } = {}) {
    const done: string[] = []
    const lock = {
      isHeld: true,
      signal: SIGNAL,
      asked: SIGNAL,
      [Symbol.asyncDispose]: async () => void done.push('released'),
    }
    const state = { isFree }
    const lower = async () => {
      await new Promise(setImmediate)
      done.push('lowered')
    }
    const turn = new KeyTurn({
      store: {
        tryLock: async (name) => {
          done.push(name)
          return state.isFree ? lock : null
        },
        fresh: async () => {
          await new Promise(setImmediate)
          done.push('fresh')
        },
      },
      fence: hasFence ? ({ lower } as SendFence) : null,
    })
    return { turn, done, lock, state, requireHeld: () => turn.requireHeld() }
  }

  test('`KeyTurn` reads the changes of others before a step and lowers the fence after the step', async () => {
    const { turn, done, requireHeld } = scene()
    const step = async () => {
      requireHeld()
      done.push('step')
      return 5
    }
    expect(requireHeld).toThrow(UNWRITABLE)
    expect(await turn.tryStep(step)).toEqual({ result: 5 })
    expect(done).toEqual(['rotation', 'fresh', 'step', 'lowered', 'released'])
    expect(requireHeld).toThrow(UNWRITABLE)
    expect(await scene({ hasFence: false }).turn.tryStep(async () => 6)).toEqual({ result: 6 })
  })

  test('`KeyTurn` does not lower the fence after a failed step or a lost lock', async () => {
    const { turn, done, lock, requireHeld } = scene()
    const fails = (): Promise<never> => Promise.reject(new Error('no'))
    await expect(turn.tryStep(fails)).rejects.toThrow('no')
    expect(requireHeld).toThrow(UNWRITABLE)
    await turn.step(async () => {
      lock.isHeld = false
      expect(requireHeld).toThrow(UNWRITABLE)
    })
    expect(done).not.toContain('lowered')
  })

  test('`KeyTurn` waits for the step of another sidecar and is refused after a minute', async () => {
    const { turn, done, state } = scene({ isFree: false })
    const step = vi.fn(async () => 'made')
    expect(await turn.tryStep(step)).toBeNull()
    const waiting = turn.step(step)
    await new Promise(setImmediate)
    state.isFree = true
    expect(await waiting).toBe('made')
    expect(done).toEqual(['rotation', 'rotation', 'rotation', 'fresh', 'lowered', 'released'])
    state.isFree = false
    const pass = passing()
    const vain = turn.step(step)
    pass(STEP_WAIT_MS + 1)
    await expect(vain).rejects.toMatchObject({ code: 'postern_busy' })
    expect([step.mock.calls.length, STEP_WAIT_MS]).toEqual([1, 60_000])
  })
})
