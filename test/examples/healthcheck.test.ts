/** The image's health check, against sidecars in every state. The image itself: test/container. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { postern, silentService, start } from '../cli/support.ts'
import { dataFolder } from '../control/support.ts'
import { isInstalled, run } from '../support/openpgp-run.ts'

const isHere = process.platform === 'linux' && isInstalled('perl')
const check = (dataDir: string, ...args: string[]) =>
  run('perl', ['config/healthcheck.pl', ...args], { env: { POSTERN_DATA_DIR: dataDir } })

async function startSidecar(dataDir: string) {
  const env = { ...(await silentService()), POSTERN_DATA_DIR: dataDir }
  const sidecar = start(['run'], { cwd: dataDir, env })
  await sidecar.waitForStderr(/"msg":"listening"/)
  onTestFinished(() => void sidecar.process.kill('SIGKILL'))
  return sidecar
}

test.skipIf(!isHere)('passes while the sidecar answers, and fails once it is gone', async () => {
  const dataDir = dataFolder()
  expect(await check(dataDir)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing listens'),
  })
  const sidecar = await startSidecar(dataDir)
  expect(await check(dataDir)).toMatchObject({ code: 0, stderr: '' })
  sidecar.process.kill('SIGKILL')
  await sidecar.ended
  expect(await check(dataDir)).toMatchObject({ code: 1 })
})

test.skipIf(!isHere)('with --ready it agrees with `postern status --ready`', async () => {
  const dataDir = dataFolder()
  await startSidecar(dataDir)
  const asked = await postern(['status', '--ready'], {
    cwd: dataDir,
    env: { POSTERN_DATA_DIR: dataDir },
  })
  const codes = /not ready: (.*)/.exec(asked.stderr)?.[1]
  expect([asked.code, codes]).toEqual([1, expect.stringContaining('starting')])
  expect(await check(dataDir, '--ready')).toMatchObject({
    code: 1,
    stderr: `not ready: ${codes}\n`,
  })
})

test.skipIf(!isHere)('fails when the sidecar hangs', async () => {
  const dataDir = dataFolder()
  const sidecar = await startSidecar(dataDir)
  sidecar.process.kill('SIGSTOP')
  expect(await check(dataDir)).toMatchObject({ code: 1, stderr: 'no answer within 5 s\n' })
})

test.skipIf(!isHere)('finds the socket of a data directory with a long path', async () => {
  const dataDir = dataFolder(2)
  await startSidecar(dataDir)
  expect(await check(dataDir)).toMatchObject({ code: 0, stderr: '' })
  writeFileSync(join(dataDir, 'control.path'), '')
  expect(await check(dataDir)).toMatchObject({ code: 1 })
  rmSync(join(dataDir, 'control.path'))
  expect(await check(dataDir)).toMatchObject({ code: 1 })
})

test.skipIf(!isHere)('says that it needs the data directory', async () => {
  const { code, stderr } = await run('perl', ['config/healthcheck.pl'], { env: {} })
  expect([code, stderr]).toEqual([1, 'POSTERN_DATA_DIR is not set\n'])
})
