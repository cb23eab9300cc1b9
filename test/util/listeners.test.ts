import { expect, test } from 'vitest'
import { Listeners } from '../../src/util/listeners.ts'

test('listeners are called in order until they are removed', () => {
  const listeners = new Listeners<number>()
  const heard: string[] = []
  const remove = listeners.add((event) => heard.push(`first ${event}`))
  listeners.add((event) => heard.push(`second ${event}`))
  listeners.emit(1)
  remove()
  remove()
  listeners.emit(2)
  expect(heard).toEqual(['first 1', 'second 1', 'second 2'])
})

test('a listener added or removed during an event affects the next event only', () => {
  const listeners = new Listeners()
  const heard: string[] = []
  const remove = listeners.add(() => {
    heard.push('first')
    remove()
    listeners.add(() => heard.push('third'))
  })
  listeners.add(() => heard.push('second'))
  listeners.emit()
  expect(heard).toEqual(['first', 'second'])
  listeners.emit()
  expect(heard).toEqual(['first', 'second', 'second', 'third'])
})
