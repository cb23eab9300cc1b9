import { expect, test } from 'vitest'
import { isOutbound, type Outbound } from '../../../src/kernel/wall/guard.ts'
import { markupPermit } from '../../support/permits.ts'

test('what only looks like a permit is none, a copy of a real one included', () => {
  const real: Outbound = markupPermit({ route: 'send', path: '/messages', isForSealed: false })
  expect(isOutbound(real)).toBe(true)
  const copies = [
    Object.assign({}, real),
    Object.create(real) as unknown,
    { route: 'send', path: '/messages', body: '{}' },
    null,
    'send',
  ]
  for (const copy of copies) expect(isOutbound(copy)).toBe(false)
})
