import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  circles,
  codeLines,
  exportedNames,
  longFunctions,
  measurePaths,
  measureSource,
  testCode,
} from './support/kernel.ts'

const measure = measureSource()
const { send, update } = measurePaths()
const sizeOf = (name: string): { files: number; lines: number; code: number } =>
  measure.folders.find(({ folder }) => folder === name) ?? { files: 0, lines: 0, code: 0 }
const codeOf = (name: string): number => sizeOf(name).code

/**
 * Upper bounds of `npm run kernel`. A bound is only ever lowered: whoever makes a number smaller
 * lowers its bound in the same commit. `goal` is where it ends.
 */
const LIMITS: { what: string; is: number; limit: number; goal: number; advice: string }[] = [
  {
    what: 'lines of code in src',
    is: measure.code,
    limit: 54_722,
    goal: 44_000,
    advice: 'Delete what the change makes dead, and simplify or merge what does the same nearby.',
  },
  {
    what: 'lines of code in test',
    is: testCode(),
    limit: 107_400,
    goal: 90_000,
    advice:
      'Delete a test whose behaviour another layer shows as well; make one table of many tests.',
  },
  {
    what: 'lines of code in src/sandbox',
    is: codeOf('sandbox'),
    limit: 7_439,
    goal: 9_000,
    advice: 'Derive it from the tables of operations, routes and faults.',
  },
  {
    what: 'lines of code in src/cli',
    is: codeOf('cli'),
    limit: 4_791,
    goal: 5_000,
    advice: 'Commands are thin: what decides belongs to the folder that knows it.',
  },
  {
    what: 'lines in src/kernel, comments included',
    is: sizeOf('kernel').lines,
    limit: 6_439,
    goal: 6_500,
    advice: 'The kernel decides, and does not act: move what acts to its driver.',
  },
  {
    what: 'files that one reads of a send into a prepared group',
    is: send.files,
    limit: 20,
    goal: 20,
    advice: '`node test/support/path-read.ts` lists them with the functions that run.',
  },
  {
    what: 'lines that one reads of a send into a prepared group',
    is: send.lines,
    limit: 2_862,
    goal: 3_000,
    advice: 'Move what a send does not need out of the files that it reads.',
  },
  // parsing hostile packets, verifying, the audience and the memory against replays are all on this path
  {
    what: 'files that one reads of an update with a sealed message',
    is: update.files,
    limit: 56,
    goal: 20,
    advice: '`node test/support/path-read.ts` lists them with the functions that run.',
  },
  {
    what: 'lines that one reads of an update with a sealed message',
    is: update.lines,
    limit: 7_389,
    goal: 3_000,
    advice: 'Move what an opening does not need out of the files that it reads.',
  },
  {
    what: 'names that src/openpgp exports',
    is: exportedNames('openpgp'),
    limit: 60,
    goal: 60,
    advice: 'What only one neighbour needs may be its own.',
  },
  {
    what: 'files of src/wiring, beside its parts reports and several',
    is: globSync('src/wiring/*.ts').length,
    limit: 10,
    goal: 10,
    advice: 'What decides belongs to the folder that knows it.',
  },
  {
    what: 'functions of src/wiring with more than 60 lines',
    is: longFunctions(60).length,
    limit: 0,
    goal: 0,
    advice: 'A part is made by a function of its own; the list of parts is read in a sitting.',
  },
  {
    what: 'circles of imports',
    is: measure.circles.length,
    limit: 0,
    goal: 0,
    advice: 'Move what both files need into the one that is lower, or into a third.',
  },
  {
    what: 'type names that more than one file declares',
    is: measure.sharedTypeNames.length,
    limit: 0,
    goal: 0,
    advice: 'Give each meaning a name of its own, or import the one type.',
  },
  {
    what: 'files of more than 300 lines',
    is: measure.long.length,
    limit: 0,
    goal: 0,
    advice: 'Divide it by concept; or find what it does twice.',
  },
  {
    what: 'files of fewer than 30 lines',
    is: measure.short.length,
    limit: 14,
    goal: 30,
    advice: 'Put it into the file that uses it, or beside what it is about.',
  },
]

describe('the size of the source', () => {
  it.each(LIMITS)('the number of $what is at most $limit', ({ what, is, limit, goal, advice }) => {
    const bound = `at most ${limit}, and ${goal} in the end`
    const found = `${is} ${what}, ${bound} (npm run kernel lists them). ${advice}`
    expect(is, found).toBeLessThanOrEqual(limit)
  })
})

describe('what is measured', () => {
  it('`codeLines` counts neither comments nor blank lines', () => {
    const text = '/**\n * What.\n */\nconst a = 1 // why\n\n// why\n/* one line */\nconst b = 2\n'
    expect(codeLines(text)).toBe(2)
  })

  it('`circles` finds each circle of imports once, and no chain', () => {
    const imports = new Map([
      ['a', ['b']],
      ['b', ['c', 'elsewhere']],
      ['c', ['b', 'd']],
      ['d', ['e']],
      ['e', ['d']],
      ['f', ['a']],
    ])
    expect(circles(imports)).toEqual([
      ['d', 'e'],
      ['b', 'c'],
    ])
  })
})
