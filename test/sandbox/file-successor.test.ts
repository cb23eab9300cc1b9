import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openWorldFile } from '../../src/sandbox/persistence/file.ts'
import { Persistence } from '../../src/sandbox/persistence/persistence.ts'
import { temporaryFolder } from './world-file.ts'

function persistenceIn(path: string): Persistence {
  const { file, rows } = openWorldFile(path)
  return new Persistence(rows, file)
}

const letters = (persistence: Persistence) => persistence.map<string, string>('letter')

async function opened() {
  const file = join(temporaryFolder(), 'a.world')
  const first = persistenceIn(file)
  const map = letters(first)
  await first.start()
  map.set('a', 'of then')
  await first.flush()
  return { file, first, map, rows: first.rows() }
}

/** What the file holds once nobody has it open. */
async function held(file: string): Promise<[string, string][]> {
  await using again = persistenceIn(file)
  return [...letters(again)]
}

test('a replaced `Persistence` writes its changes neither to the file nor to its successor', async () => {
  const { file, first, map, rows } = await opened()
  map.set('b', 'not written yet')
  const next = first.successor(rows)
  const own = letters(next)
  await next.start()
  map.set('c', 'too late')
  map.delete('a')
  await first.flush()
  expect([...own]).toEqual([['a', 'of then']])
  await first[Symbol.asyncDispose]()
  own.set('d', 'of now')
  await next[Symbol.asyncDispose]()
  expect(await held(file)).toEqual([
    ['a', 'of then'],
    ['d', 'of now'],
  ])
})

test('a successor `Persistence` keeps records whose map was never opened', async () => {
  const { file, first, rows } = await opened()
  const next = first.successor(rows)
  await next.start()
  const last = next.successor(next.rows())
  await last.start()
  await last[Symbol.asyncDispose]()
  expect(await held(file)).toEqual([['a', 'of then']])
})
