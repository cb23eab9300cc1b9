import { expect, test } from 'vitest'
import { BackgroundWork } from '../../src/sandbox/background-work.ts'

test('it is settled when all work is done, also work that the first began', async () => {
  const background = new BackgroundWork()
  const done: string[] = []
  const work = async (name: string): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    done.push(name)
  }
  void background.run(() => work('first')).then(() => background.run(() => work('second')))
  void background.run(() => work('third'))
  await background.settled()
  expect(done.toSorted()).toEqual(['first', 'second', 'third'])
})

test('work that fails is done too, and its error goes to who began it', async () => {
  const background = new BackgroundWork()
  const failing = background.run(() => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  await background.settled()
})

test('work is waited for as long as its patience lasts', async () => {
  const background = new BackgroundWork()
  const { promise, resolve } = Promise.withResolvers<void>()
  let isDone = false
  const working = background.run(() => promise, 20).then(() => (isDone = true))
  await background.settled()
  expect(isDone).toBe(false)
  resolve()
  await working
})
