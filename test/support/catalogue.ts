/** Tables that say where something is tested, and whether it is still there. */
import { existsSync, readFileSync } from 'node:fs'

/** A file below `test/`, without `.test.ts`, and words of the titles in it; or a reason. */
export type Row = [file: string, ...titles: string[]][] | { why: string }

/** Vectors of `test/vectors`, by the names of their files: each states its one outcome. */
export const vector = (...names: string[]): [string, ...string[]] => ['vectors', ...names]

const below = new URL('../', import.meta.url)

/** What is missing of a row, in words. */
export function missing(row: Row): string[] {
  if ('why' in row) return row.why === '' ? ['a reason'] : []
  return row.flatMap(([file, ...titles]) => {
    if (file === 'vectors') return titles.filter((name) => vectorText(name) === null)
    const path = new URL(`${file}.test.ts`, below)
    if (!existsSync(path)) return [`${file}.test.ts`]
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
