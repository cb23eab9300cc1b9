import { expect, test } from 'vitest'
import { isOutbound, type Outbound } from '../../../src/kernel/wall/guard.ts'
import { markupPermit } from '../../support/permits.ts'

test('`isOutbound` accepts a permit, and no copy or imitation of one', () => {
  const real: Outbound = markupPermit({ route: 'send', path: '/messages', later: null })
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
