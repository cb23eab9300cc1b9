import type { MediaPlace } from '../../src/kernel/index.ts'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Capability } from '../../src/attachments/capability.ts'
import { fc } from '../support/property.ts'

const key = randomBytes(32)
const capability = new Capability(key)

const place = fc.record<MediaPlace>({
  mediaId: fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/),
  chatId: fc.maxSafeInteger(),
  userId: fc.option(fc.maxSafeInteger()),
})

const parts = (path: string): [id: string, query: string] => {
  const [front = '', query = ''] = path.split('?')
  return [front.slice('/media/'.length), query]
}

test('`Capability.read` returns the place of a media url that it made', () => {
  fc.assert(
    fc.property(place, (made) => {
      expect(capability.read(...parts(capability.pathOf(made)))).toEqual(made)
    }),
  )
})

test('`Capability` makes a different media url for each place', () => {
  fc.assert(
    fc.property(place, place, (one, other) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other)
      expect(capability.pathOf(one) === capability.pathOf(other)).toBe(isSame)
    }),
  )
})

test('`Capability.read` returns null for a media url made with another key', () => {
  const other = new Capability(randomBytes(32))
  fc.assert(
    fc.property(place, (made) => {
      expect(other.read(...parts(capability.pathOf(made)))).toBeNull()
    }),
  )
})

test('`Capability.read` returns null for any other id and query', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (id, query) => {
      expect(capability.read(id, query)).toBeNull()
    }),
  )
})
