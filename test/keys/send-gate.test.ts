import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { SendGate } from '../../src/keys/send-gate.ts'

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(
    () => (settled = true),
    () => (settled = true),
  )
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

const forever = (): AbortSignal => new AbortController().signal

test('a send that finds the gate closed again waits again', async () => {
  const gate = new SendGate()
  gate.close()
  const entering = gate.enter()
  gate.open()
  gate.close()
  expect(await isSettled(entering)).toBe(false)
  gate.open()
  expect(await isSettled(entering)).toBe(true)
})

test('`empty` resolves when the last send has left, and removes its abort listeners', async () => {
  const gate = new SendGate()
  await gate.empty(forever())
  const [first, second] = [await gate.enter(), await gate.enter()].map(({ leave }) => leave)
  gate.close()
  const signal = forever()
  const waiting = [gate.empty(signal), gate.empty(signal)]
  expect(getEventListeners(signal, 'abort')).toHaveLength(2)
  first!()
  // who leaves twice counts once
  first!()
  expect(await isSettled(Promise.race(waiting))).toBe(false)
  second!()
  expect(await isSettled(Promise.all(waiting))).toBe(true)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('`empty` rejects with the reason of its signal', async () => {
  const gate = new SendGate()
  const { leave } = await gate.enter()
  const reason = new Error('stopped')
  const controller = new AbortController()
  const waiting = gate.empty(controller.signal)
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(gate.empty(AbortSignal.abort(reason))).rejects.toBe(reason)
  leave()
  // also where nobody is inside
  await expect(gate.empty(AbortSignal.abort(reason))).rejects.toBe(reason)
})
