/** Which files of the project import which, by the words of their import statements. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const SPECIFIER = /(?:\bfrom |\bimport\(|\bimport )'(\.[^']+)'/g

/** Files below the root of the project, each with the files that it names in an import. */
export class Imports {
  readonly texts: ReadonlyMap<string, string>
  readonly #imported: Map<string, string[]>
  readonly #importers = new Map<string, string[]>()

  /** @param patterns globs of the files, from the root */
  constructor(...patterns: string[]) {
    const files = globSync(patterns, { cwd: ROOT }).toSorted()
    this.texts = new Map(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
    this.#imported = new Map([...this.texts].map(([file, text]) => [file, importedIn(file, text)]))
    for (const [file, targets] of this.#imported) {
      for (const target of targets) {
        const importers = this.#importers.get(target)
        if (importers === undefined) this.#importers.set(target, [file])
        else importers.push(file)
      }
    }
  }

  /** What a file names, whether it is there or not. */
  importedBy(file: string): readonly string[] {
    return this.#imported.get(file) ?? []
  }

  /** Who names a file. */
  importersOf(file: string): readonly string[] {
    return this.#importers.get(file) ?? []
  }
}

/**
 * All that is reached from some files, step by step, and these.
 * @param next where one step leads
 * @returns each with the number of steps to it, nearest first
 */
export function reached(
  from: Iterable<string>,
  next: (file: string) => readonly string[],
): Map<string, number> {
  const steps = new Map<string, number>()
  for (const file of from) steps.set(file, 0)
  // what is added meanwhile is visited, too
  for (const [file, count] of steps) {
    for (const target of next(file)) if (!steps.has(target)) steps.set(target, count + 1)
  }
  return steps
}

function importedIn(file: string, text: string): string[] {
  const found = text.matchAll(SPECIFIER)
  return [...found].map(([, specifier = '']) => join(dirname(file), specifier))
}
