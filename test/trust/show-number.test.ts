/** How a number is shown: as digits, as words, and as a QR code that is the same in every form. */
import { expect, test } from 'vitest'
import {
  pictureKind,
  qrFile,
  qrLines,
  digitLines,
  spokenLines,
} from '../../src/operators/trust/show-number.ts'

const DIGITS = '134104581908959507661597875767306370788232879049466118804177'
const TEXT = `POSTERN-NUMBER:1:${'9'.repeat(16)}:${'0A'.repeat(20)}:${'8'.repeat(16)}:${'F1'.repeat(20)}`
const MARGIN = 4

/** Which modules are dark, margin included, row by row. */
type Modules = boolean[][]

function modulesOfLines(lines: string[], isInverted: boolean): Modules {
  return lines.flatMap((line) => {
    const halves = [...line].map((char) => [' ▄▀█'.indexOf(char) >> 1, ' ▄▀█'.indexOf(char) & 1])
    return [0, 1].map((half) => halves.map((of) => (of[half] === 1) !== isInverted))
  })
}

/** Of the runs that `qrcode` draws: `M4 4.5h7m1 0h2M4 5.5…`. */
function modulesOfSvg(svg: string, size: number): Modules {
  const modules = Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  const path = /stroke="#000000" d="([^"]+)"/.exec(svg)?.[1] ?? ''
  for (const [, x, y, runs = ''] of path.matchAll(/M(\d+) (\d+)\.5([^M]+)/g)) {
    let at = Number(x)
    for (const [, move, count] of runs.matchAll(/(m|h)(\d+)/g)) {
      if (move === 'h') modules[Number(y)]!.fill(true, at, at + Number(count))
      at += Number(count)
    }
  }
  return modules
}

test('the QR code fits into 80 columns for the longest ids, with a light margin', async () => {
  const modules = modulesOfLines(await qrLines(TEXT, { isInverted: false }), false)
  expect(modules[0]!.length).toBeLessThanOrEqual(80)
  const size = modules[0]!.length
  for (const [y, row] of modules.entries()) {
    for (const [x, isDark] of row.entries()) {
      const isMargin = Math.min(x, y) < MARGIN || Math.max(x, y) >= size - MARGIN
      if (isMargin) expect(isDark, `${x} ${y}`).toBe(false)
    }
  }
  // the corner of a finder pattern
  expect(modules[MARGIN]!.slice(MARGIN, MARGIN + 8)).toEqual([...Array(7).fill(true), false])
})

test('the QR code is the same in the terminal, light or dark, and as SVG', async () => {
  const plain = modulesOfLines(await qrLines(TEXT, { isInverted: false }), false)
  const size = plain[0]!.length
  const square = (modules: Modules): Modules => modules.slice(0, size)
  expect(plain.flat().filter(Boolean).length).toBeGreaterThan(300)
  const inverted = modulesOfLines(await qrLines(TEXT, { isInverted: true }), true)
  expect(square(inverted)).toEqual(square(plain))
  const svg = (await qrFile(TEXT, 'svg')) as string
  expect(svg).toContain(`viewBox="0 0 ${size} ${size}"`)
  expect(modulesOfSvg(svg, size)).toEqual(square(plain))
})

test('the QR code changes with a digit of the text', async () => {
  const [one, other] = await Promise.all(
    [TEXT, TEXT.replace('F1', 'F2')].map((text) => qrLines(text, { isInverted: false })),
  )
  expect(one).not.toEqual(other)
  const pictures = [TEXT, TEXT.replace('F1', 'F2')].map((text) => qrFile(text, 'png'))
  const [png, another] = (await Promise.all(pictures)).map((file) => Buffer.from(file as Buffer))
  expect(png!.readUInt32BE(16) / [...one![0]!].length).toBe(8)
  expect(png!.equals(another!)).toBe(false)
})

test('the QR code is written as SVG or PNG by the name of the file, and refused otherwise', () => {
  expect([pictureKind('a/number.SVG'), pictureKind('number.png')]).toEqual(['svg', 'png'])
  for (const name of ['number', 'number.jpg', 'svg', 'png/number', 'number.svg.txt']) {
    expect(() => pictureKind(name)).toThrow(expect.objectContaining({ code: 'usage' }))
  }
})

test('the digits of a safety number are four lines of three groups', () => {
  expect(digitLines(DIGITS)).toEqual([
    '13410 45819 08959',
    '50766 15978 75767',
    '30637 07882 32879',
    '04946 61188 04177',
  ])
})

test('the spoken digits of a safety number are two groups a line, within 80 columns', () => {
  const lines = spokenLines(DIGITS)
  expect(lines[0]).toBe('one three four one zero, four five eight one nine')
  expect(lines).toHaveLength(6)
  expect(lines.join(' ').match(/[a-z]+/g)).toHaveLength(60)
  const longest = spokenLines('7'.repeat(60))
  expect(Math.max(...longest.map(({ length }) => length))).toBeLessThanOrEqual(76)
})
