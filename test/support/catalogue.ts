/** Tables that say where something is tested, and whether it is still there. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

/** A file below `test/`, without its endings or a script, and words of its titles; or a reason. */
export type Row = [file: string, ...titles: string[]][] | { why: string }

/** Vectors of `test/vectors`, by the names of their files: each states its one outcome. */
export const vector = (...names: string[]): [string, ...string[]] => ['vectors', ...names]

const below = new URL('../', import.meta.url)

/** What is missing of a row, in words. */
export function missing(row: Row): string[] {
  if ('why' in row) return row.why === '' ? ['a reason'] : []
  return row.flatMap(([file, ...titles]) => {
    if (file === 'vectors') return titles.filter((name) => vectorText(name) === null)
    const endings = /\.(?:txt|ts|yaml)$/.test(file)
      ? ['']
      : ['.test.ts', '.system.test.ts', '.long.test.ts']
    const paths = endings.map((ending) => new URL(file + ending, below))
    const path = paths.find((one) => existsSync(one))
    if (path === undefined) return [file]
    const text = readFileSync(path, 'utf8')
    return titles.filter((title) => !text.includes(title)).map((title) => `${file}: ${title}`)
  })
}

/** A vector as it stands in its file; null when there is none of that name. */
export function vectorText(name: string): string | null {
  const paths = ['messages', 'certificates', 'chats'].map(
    (folder) => new URL(`vectors/${folder}/${name}.txt`, below),
  )
  const path = paths.find((one) => existsSync(one))
  return path === undefined ? null : readFileSync(path, 'utf8')
}

/** A chapter of the catalogue: its heading, the letter and the number of its rows, and the rows. */
export type Chapter = [heading: string, letter: string, count: number, rows: Record<string, Row>]

/** Tests that each row of the chapters is named, and tested where it says so. */
export function testChapters(chapters: Chapter[]): void {
  describe.each(chapters)('%s', (_heading, letter, count, rows) => {
    const ids = Array.from({ length: count }, (_, index) => `${letter}${index + 1}`)

    test('the catalogue has exactly the rows of its chapter', () => {
      expect(Object.keys(rows).toSorted()).toEqual(ids.toSorted())
    })

    test.each(Object.entries(rows))(
      'the catalogue row %s names existing tests or a reason',
      (_id, row) => {
        expect(missing(row)).toEqual([])
      },
    )
  })
}
