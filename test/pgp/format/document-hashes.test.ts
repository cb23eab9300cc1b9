import { expect, test } from 'vitest'
import { LineEnds } from '../../../src/pgp/format/document-hashes.ts'
import { canonicalText } from '../../../src/pgp/format/signature-claim.ts'
import { runs } from '../../support/chance.ts'
import { fc } from '../../support/property.ts'

const signs = fc.array(fc.constantFrom('\r', '\n', 'x'), { maxLength: 40 })
const cuts = fc.array(fc.nat({ max: 40 }), { maxLength: 6 })

test('however a text is cut, its line ends are those of the whole', () => {
  fc.assert(
    fc.property(signs, cuts, (text, at) => {
      const whole = Buffer.from(text.join(''))
      const ends = [...at, whole.length]
        .map((cut) => Math.min(cut, whole.length))
        .toSorted((a, b) => a - b)
      const lines = new LineEnds()
      const pieces = ends.map((end, index) =>
        lines.update(whole.subarray(ends[index - 1] ?? 0, end)),
      )
      const given = Buffer.concat([...pieces, lines.end()])
      expect(given.toString()).toBe(Buffer.from(canonicalText(whole)).toString())
    }),
    { numRuns: runs(2000) },
  )
})
