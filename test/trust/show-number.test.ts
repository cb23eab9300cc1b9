/** How a number is shown: as digits, as words, and as a QR code that is the same in every form. */
import { inflateSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  pictureKind,
  qrFile,
  qrLines,
  digitLines,
  spokenLines,
} from '../../src/trust/show-number.ts'

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

/** Of a PNG with 8-bit RGBA, unfiltered by the rules of its specification (9.2). */
function modulesOfPng(png: Buffer, size: number): Modules {
  const width = png.readUInt32BE(16)
  const data: Buffer[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') {
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
    }
  }
  const [bits, colour] = [png[24], png[25]]
  expect([bits, colour]).toEqual([8, 6])
  const raw = inflateSync(Buffer.concat(data))
  const stride = width * 4
  let above = Buffer.alloc(stride)
  const rows: Buffer[] = []
  for (let y = 0; y < width; y++) {
    const start = y * (stride + 1)
    const row = Buffer.from(raw.subarray(start + 1, start + 1 + stride))
    for (let x = 0; x < stride; x++) {
      const [left, up, corner] = [x < 4 ? 0 : row[x - 4]!, above[x]!, x < 4 ? 0 : above[x - 4]!]
      row[x]! += predicted(raw[start]!, left, up, corner)
    }
    rows.push(row)
    above = row
  }
  const scale = width / size
  const middle = (at: number): number => Math.floor((at + 0.5) * scale)
  return Array.from({ length: size }, (_, y) =>
    Array.from({ length: size }, (__, x) => rows[middle(y)]![middle(x) * 4]! < 128),
  )
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 4) {
    const sum = left + up - corner
    const [a, b, c] = [Math.abs(sum - left), Math.abs(sum - up), Math.abs(sum - corner)]
    return a <= b && a <= c ? left : b <= c ? up : corner
  }
  return [0, left, up, (left + up) >> 1][filter] ?? 0
}

describe('the QR code', () => {
  test('fits into 80 columns for the longest ids, with a light margin all around', async () => {
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

  test('is the same in the terminal, on either ground, as SVG and as PNG', async () => {
    const plain = modulesOfLines(await qrLines(TEXT, { isInverted: false }), false)
    const size = plain[0]!.length
    const square = (modules: Modules): Modules => modules.slice(0, size)
    expect(plain.flat().filter(Boolean).length).toBeGreaterThan(300)
    const inverted = modulesOfLines(await qrLines(TEXT, { isInverted: true }), true)
    expect(square(inverted)).toEqual(square(plain))
    const svg = (await qrFile(TEXT, 'svg')) as string
    expect(svg).toContain(`viewBox="0 0 ${size} ${size}"`)
    expect(modulesOfSvg(svg, size)).toEqual(square(plain))
    expect(modulesOfPng(Buffer.from((await qrFile(TEXT, 'png')) as Uint8Array), size)).toEqual(
      square(plain),
    )
  })

  test('is of another text where a digit of the text is another', async () => {
    const [one, other] = await Promise.all(
      [TEXT, TEXT.replace('F1', 'F2')].map((text) => qrLines(text, { isInverted: false })),
    )
    expect(one).not.toEqual(other)
  })

  test('is written as what the file’s name ends in, and as nothing else', () => {
    expect([pictureKind('a/number.SVG'), pictureKind('number.png')]).toEqual(['svg', 'png'])
    for (const name of ['number', 'number.jpg', 'svg', 'png/number', 'number.svg.txt']) {
      expect(() => pictureKind(name)).toThrow(expect.objectContaining({ code: 'usage' }))
    }
  })
})

describe('the digits', () => {
  test('are four lines of three groups', () => {
    expect(digitLines(DIGITS)).toEqual([
      '13410 45819 08959',
      '50766 15978 75767',
      '30637 07882 32879',
      '04946 61188 04177',
    ])
  })

  test('are spoken digit by digit, two groups a line, within 80 columns', () => {
    const lines = spokenLines(DIGITS)
    expect(lines[0]).toBe('one three four one zero, four five eight one nine')
    expect(lines).toHaveLength(6)
    expect(lines.join(' ').match(/[a-z]+/g)).toHaveLength(60)
    const longest = spokenLines('7'.repeat(60))
    expect(Math.max(...longest.map(({ length }) => length))).toBeLessThanOrEqual(76)
  })
})
