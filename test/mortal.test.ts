import { spawn } from './support/programs.ts'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { mortal } from './support/mortal.ts'

const SCRIPT = `
  import { spawn } from 'node:child_process'
  import { mortal } from ${JSON.stringify(pathToFileURL('test/support/mortal.ts').href)}
  console.log(spawn(...mortal('sleep', ['60']), { stdio: 'ignore' }).pid)`

const isSetprivHere = existsSync('/usr/bin/setpriv')

test.runIf(isSetprivHere)(
  'a child of `mortal` ends with its parent, after SIGKILL too',
  async () => {
    const parent = spawn(...mortal(process.execPath, ['--input-type=module', '-e', SCRIPT]), {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const child = Number(line.toString())
    const isThere = () => existsSync(`/proc/${child}`)
    expect(isThere()).toBe(true)
    parent.kill('SIGKILL')
    await expect.poll(isThere).toBe(false)
  },
)
